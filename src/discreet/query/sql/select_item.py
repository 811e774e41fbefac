"""Output column names of SELECT: given by AS, by the column, else by the kind of the item."""

from __future__ import annotations

from sqlglot import exp

from ..algebra.statistic import statistic_name
from .aggregate import statistic_of
from .scope import Scope
from .syntax import identifier, is_aggregate
from .window import is_result_window


def item_names(items: list[exp.Expr], scope: Scope) -> list[str]:
    """Name every item of SELECT; names that nobody gave are numbered where they would clash."""
    # Names given by AS are reserved first: a later AS must not rename an earlier item.
    taken = set()
    for item in items:
        if isinstance(item, exp.Alias):
            taken.add(identifier(item.args["alias"]).casefold())
    names: list[str] = []
    for position, item in enumerate(items, 1):
        if isinstance(item, exp.Alias):
            names.append(identifier(item.args["alias"]))
        else:
            name = _unused_name(_default_name(item, position, scope), taken)
            taken.add(name.casefold())
            names.append(name)
    return names


def _unused_name(name: str, taken: set[str]) -> str:
    numbered = name
    number = 2
    while numbered.casefold() in taken:
        numbered = f"{name}_{number}"
        number += 1
    return numbered


def _default_name(item: exp.Expr, position: int, scope: Scope) -> str:
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier):
        return identifier(item.this)
    if is_aggregate(item) and not is_result_window(item):
        return statistic_name(statistic_of(item, scope))
    return f"column_{position}"
