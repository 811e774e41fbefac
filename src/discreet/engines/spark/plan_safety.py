"""Whether a frame or a view could fail on some row: its plan is read, and only what cannot fail passes.

A cast of text, a division or a sum inside a view raises on some rows, and so does a line of CSV with too many commas.
Whoever asks about one person then learns that person's value from whether the question fails. So a plan must be made of
tables of typed columns, comparisons and the like. Over Spark Connect only the plan's text can be had, and only plain
columns of plain tables pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

_PLANS = frozenset({
    "Project", "Filter", "SubqueryAlias", "View", "Join", "Union", "Distinct", "LogicalRelation",
    "LogicalRelationWithTable", "LogicalRDD", "LocalRelation", "HiveTableRelation", "DataSourceV2Relation",
    "Range", "OneRowRelation", "Repartition", "Sort",
})  # fmt: skip
_EXPRESSIONS = frozenset({
    "AttributeReference", "Alias", "Literal", "EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual",
    "GreaterThan", "GreaterThanOrEqual", "And", "Or", "Not", "IsNull", "IsNotNull", "IsNaN", "In", "InSet",
    "CaseWhen", "If", "Coalesce", "SortOrder",
})  # fmt: skip
_WIDENED = ("tinyint", "smallint", "int", "bigint")
_NAME = r"[^()\[\],#]+#\d+L?"
_TYPED = r"Relation .*\] (?:parquet|orc|delta)"
"""Files that hold types; CSV, JSON and other servers can fail on a row."""
_LINE = re.compile(
    rf"[:+\-\s]*(?:SubqueryAlias .*|View .*|{_TYPED}|LogicalRDD .*|LocalRelation .*"
    rf"|Project \[{_NAME}(?: AS {_NAME})?(?:, {_NAME}(?: AS {_NAME})?)*\])"
)


def is_total(frame: Any) -> bool:  # noqa: ANN401
    """Return whether no row can make a frame fail, as far as can be told; what cannot be told is False."""
    try:
        if hasattr(frame, "_jdf"):
            return all(map(_is_safe_plan, _nodes(frame._jdf.queryExecution().analyzed())))  # noqa: SLF001 no other way
        return _is_plain(frame._explain_string(extended=True))  # noqa: SLF001
    except Exception:  # noqa: BLE001 what cannot be looked into is not known to be safe
        return False


def _is_plain(text: str) -> bool:
    r"""Return whether the text of a plan names tables and columns only; its first line lists the types of the columns.

    >>> from discreet.engines.spark.plan_safety import _is_plain
    >>> plan = "== Analyzed Logical Plan ==\na: int\n{}\n\n== Optimized Logical Plan =="
    >>> [_is_plain(plan.format(node)) for node in ("Relation [a#1] parquet", "Project [(1 / a#1) AS a#2]")]
    [True, False]
    """
    _, _, rest = text.partition("== Analyzed Logical Plan ==\n")
    lines = rest.partition("\n\n==")[0].splitlines()[1:]
    return bool(lines) and all(_LINE.fullmatch(line) for line in lines)


def _nodes(tree: Any) -> Iterator[Any]:  # noqa: ANN401
    """Walk a tree of Java objects."""
    yield tree
    children = tree.children()
    for place in range(children.size()):
        yield from _nodes(children.apply(place))


def _is_safe_plan(plan: Any) -> bool:  # noqa: ANN401
    name = plan.getClass().getSimpleName()
    if name not in _PLANS or (
        name == "LogicalRelation" and not re.fullmatch(_TYPED, plan.toString().strip())
    ):
        return False
    expressions = plan.expressions()
    return all(
        _is_safe(node)
        for place in range(expressions.size())
        for node in _nodes(expressions.apply(place))
    )


def _is_safe(expression: Any) -> bool:  # noqa: ANN401
    name = expression.getClass().getSimpleName()
    return name in _EXPRESSIONS or (name == "Cast" and _is_safe_cast(expression))


def _is_safe_cast(cast: Any) -> bool:  # noqa: ANN401
    """Return whether a cast widens, or gives NULL for what does not fit."""
    into, given = cast.dataType().simpleString(), cast.child().dataType().simpleString()
    if into in (given, "string", "double") and given in (*_WIDENED, "float", into):
        return True
    if into in _WIDENED and given in _WIDENED[: _WIDENED.index(into)]:
        return True
    return str(cast.evalMode().toString()) in ("TRY", "LEGACY")
