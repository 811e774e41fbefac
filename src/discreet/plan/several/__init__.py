"""Several questions: workloads under one charge, and trade-offs of equal questions in a budget.

Loaded on first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from . import shared_table as shared_table
    from . import tradeoff as tradeoff
    from . import workload as workload

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__, {"tradeoff": "", "shared_table": "", "workload": ""}
    )
