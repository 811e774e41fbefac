"""Nested tables: counts of the levels of a hierarchy by further keys, such as counties by sex."""

from .estimate import NestedEstimate
from .strategy import NestedStrategy, best_nested
from .workload import NestedTables, nested_bound

__all__ = ["NestedEstimate", "NestedStrategy", "NestedTables", "best_nested", "nested_bound"]
