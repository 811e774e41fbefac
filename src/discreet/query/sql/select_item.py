"""Names for the items of SELECT: by AS, by their column, else by what they are."""

from __future__ import annotations

from sqlglot import exp

from ..algebra.statistic import statistic_name
from .aggregate import statistic_of
from .scope import Scope
from .syntax import identifier, is_aggregate
from .window import is_result_window


def item_names(items: list[exp.Expr], scope: Scope) -> list[str]:
    """Name every item of SELECT; names that nobody gave are numbered where they would clash."""
    given = {
        identifier(item.args["alias"]).casefold() for item in items if isinstance(item, exp.Alias)
    }
    names: list[str] = []
    for place, item in enumerate(items, 1):
        if isinstance(item, exp.Alias):
            names.append(identifier(item.args["alias"]))
            continue
        name = _own_name(item, place, scope)
        taken = given | {other.casefold() for other in names}
        options = (name, *(f"{name}_{i}" for i in range(2, len(items) + 3)))
        names.append(next(option for option in options if option.casefold() not in taken))
    return names


def _own_name(item: exp.Expr, place: int, scope: Scope) -> str:
    if isinstance(item, exp.Column) and isinstance(item.this, exp.Identifier):
        return identifier(item.this)
    named = is_aggregate(item) and not is_result_window(item)
    return statistic_name(statistic_of(item, scope)) if named else f"column_{place}"
