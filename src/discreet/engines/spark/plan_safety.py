"""Safety of a plan: a frame or view passes only if no row can make it fail.

A cast of text, a division or a sum inside a view raises on some rows, and so does a line of CSV
with too many commas. A question about one person would then tell that person's value by failing.
So a plan must be made of tables of typed columns, comparisons and the like. Spark Connect gives
only the text of a plan; there only plain columns of plain tables pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

# Operators of a plan that cannot fail by themselves.
_PLANS = frozenset({
    "Project", "Filter", "SubqueryAlias", "View", "Join", "Union", "Distinct", "LogicalRelation",
    "LogicalRelationWithTable", "LogicalRDD", "LocalRelation", "HiveTableRelation", "DataSourceV2Relation",
    "Range", "OneRowRelation", "Repartition", "Sort",
})  # fmt: skip
# Expressions that have a value on every row.
_EXPRESSIONS = frozenset({
    "AttributeReference", "Alias", "Literal", "EqualTo", "EqualNullSafe", "LessThan", "LessThanOrEqual",
    "GreaterThan", "GreaterThanOrEqual", "And", "Or", "Not", "IsNull", "IsNotNull", "IsNaN", "In", "InSet",
    "CaseWhen", "If", "Coalesce", "SortOrder",
})  # fmt: skip
_INTEGERS = ("tinyint", "smallint", "int", "bigint")
"""Integer types, from narrow to wide."""
_NAME = r"[^()\[\],#]+#\d+L?"
_TYPED = r"Relation .*\] (?:parquet|orc|delta)"
"""Files that hold types; CSV, JSON and other servers can fail on a row."""
# One line of a plan that names tables and columns only.
_LINE = re.compile(
    rf"[:+\-\s]*(?:SubqueryAlias .*|View .*|{_TYPED}|LogicalRDD .*|LocalRelation .*"
    rf"|Project \[{_NAME}(?: AS {_NAME})?(?:, {_NAME}(?: AS {_NAME})?)*\])"
)


def is_total(frame: Any) -> bool:  # noqa: ANN401
    """Return whether no row can make a frame fail; False as well if that cannot be decided.

    Law: tests/engines/test_spark.py::TestWhatCouldFail
    """
    try:
        if not hasattr(frame, "_jdf"):
            return _is_plain(frame._explain_string(extended=True))  # noqa: SLF001
        plan = frame._jdf.queryExecution().analyzed()  # noqa: SLF001 no other way
        return all(map(_is_safe_plan, _nodes(plan)))
    except Exception:  # noqa: BLE001 a plan that cannot be inspected is not known to be safe
        return False


def _is_plain(text: str) -> bool:
    r"""Return whether the text of a plan names tables and columns only.

    Its first line lists the types of the columns.

    >>> from discreet.engines.spark.plan_safety import _is_plain
    >>> plan = "== Analyzed Logical Plan ==\na: int\n{}\n\n== Optimized Logical Plan =="
    >>> [_is_plain(plan.format(node)) for node in ("Relation [a#1] parquet", "Project [(1 / a#1) AS a#2]")]
    [True, False]
    """
    _, _, after_heading = text.partition("== Analyzed Logical Plan ==\n")
    plan, _, _ = after_heading.partition("\n\n==")
    lines = plan.splitlines()[1:]
    return bool(lines) and all(_LINE.fullmatch(line) for line in lines)


def _nodes(tree: Any) -> Iterator[Any]:  # noqa: ANN401
    """List all nodes of a tree of Java objects."""
    yield tree
    for child in _items(tree.children()):
        yield from _nodes(child)


def _items(sequence: Any) -> Iterator[Any]:  # noqa: ANN401
    """List the items of a sequence of Scala, which Python cannot iterate."""
    for index in range(sequence.size()):
        yield sequence.apply(index)


def _is_safe_plan(plan: Any) -> bool:  # noqa: ANN401
    name = plan.getClass().getSimpleName()
    if name not in _PLANS:
        return False
    if name == "LogicalRelation" and not re.fullmatch(_TYPED, plan.toString().strip()):
        return False
    expressions = _items(plan.expressions())
    return all(_is_safe_tree(expression) for expression in expressions)


def _is_safe_tree(expression: Any) -> bool:  # noqa: ANN401
    return all(map(_is_safe, _nodes(expression)))


def _is_safe(expression: Any) -> bool:  # noqa: ANN401
    name = expression.getClass().getSimpleName()
    if name == "Cast":
        return _is_safe_cast(expression)
    return name in _EXPRESSIONS


def _is_safe_cast(cast: Any) -> bool:  # noqa: ANN401
    """Return whether a cast can fail on no value.

    It widens a number, or its mode is TRY or LEGACY, which raise no error for a value that does not
    fit.
    """
    target = cast.dataType().simpleString()
    source = cast.child().dataType().simpleString()
    if target in (source, "string", "double") and source in (*_INTEGERS, "float", target):
        return True
    if target in _INTEGERS and source in _INTEGERS[: _INTEGERS.index(target)]:
        return True
    return str(cast.evalMode().toString()) in ("TRY", "LEGACY")
