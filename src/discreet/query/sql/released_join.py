"""JOIN of released tables on their keys, read as one aggregate of the statistics of both.

| left and right | read as |
|---|---|
| rows and keys are the same, joined on all keys | one question with the statistics of both |
| the right one has no keys, `CROSS JOIN` | its statistics beside every key (`Overall`) |

Every public key has a row in either table. So each row of the left table meets one of the right,
and what is shown, charged and stored is one question, of which equal statistics are asked once.

Refuses: with `UnsupportedQuery` tables of other rows or keys, keys that noise selects, and tables
with sets of keys, windows or LIMIT inside: the other table would drop rows that these have read.

Law: tests/query/test_released_tables.py::TestReleasedTables
"""

from __future__ import annotations

from sqlglot import exp

from ...frozen import replace
from ..algebra.chain import chain
from ..algebra.expression import Call, Expression, Field, Function
from ..algebra.refusal import refusal
from ..algebra.statistic import Overall, Statistic
from ..algebra.tree import Named, Question, names_of, unused_name
from .expression import Names, read
from .released_rows import ReleasedRows, column_names, read_or_none
from .syntax import conjuncts, identifier, only

_INSTEAD = "ask for each table by itself, and join the answers"


def join_released(left: ReleasedRows, right: ReleasedRows, join: exp.Join) -> ReleasedRows:
    """Read one JOIN of released rows."""
    only(join, "this", "on", "using", "side", "kind")
    if join.kind not in ("", "INNER", "OUTER", "CROSS"):
        raise refusal(f"{join.kind} JOIN of a released table", "it is not read", _INSTEAD)
    for rows in (left, right):
        question = rows.question
        parts = (question.sets, question.running, question.nested)
        if rows.kept or rows.has_windows() or rows.limit is not None or rows.offset or any(parts):
            raise refusal("JOIN of a released table", "it has windows, LIMIT or sets", _INSTEAD)
    beside = _beside(left, right)
    question, new_names = beside or _together(left.question, right.question)
    columns = _renamed_columns(right.columns, new_names)
    shared = {identifier(name).casefold() for name in join.args.get("using") or ()}
    own = [(name, one) for name, one in columns if name.casefold() not in shared]
    both = replace(
        left,
        question=question,
        columns=(*left.columns, *own),
        tables=(*left.tables, (right.tables[0][0], columns)),
        order=(),
    )
    equated, others = _conditions(join, left, both, shared)
    keys = {key.name for key in question.keys}
    if beside is not None:
        # A table without keys is joined on none.
        keys = set()
    if equated != keys:
        raise refusal("JOIN of a released table", "it is not on all keys of both", _INSTEAD)
    having = [one for one in (left.having, _renamed(right.having, new_names), *others) if one]
    nullable = any(None in (key.values or ()) for key in question.keys)
    if (join.side and (having or nullable)) or (nullable and beside is None):
        raise refusal("JOIN of a released table", "some rows may meet none", _INSTEAD)
    if not having:
        return both
    return replace(both, having=chain(Function.AND, having))


def _together(left: Question, right: Question) -> tuple[Question, dict[str, str]]:
    """Return the question about the statistics of both, and new names for those of the right."""
    by_expression = {key.expression: key for key in left.keys}
    new_names = {}
    for key in right.keys:
        same = by_expression.get(key.expression)
        alike = same is not None and same.values is not None and key.values is not None
        if same is None or not alike or set(same.values or ()) != set(key.values or ()):
            raise refusal("JOIN of a released table", "the keys of both are not the same", _INSTEAD)
        new_names[key.name] = same.name
    if left.rows != right.rows or len(left.keys) != len(right.keys):
        raise refusal("JOIN of a released table", "both are of other rows or keys", _INSTEAD)
    return _with_statistics(left, right.statistics, new_names)


def _beside(left: ReleasedRows, right: ReleasedRows) -> tuple[Question, dict[str, str]] | None:
    """Return the left question with the numbers of a right table without keys beside its keys.

    None if the right table has keys or HAVING, or the left has no keys.
    """
    question = right.question
    if question.keys or not left.question.keys or right.having is not None:
        return None
    statistics = [(name, Overall(question.rows, one)) for name, one in question.statistics]
    return _with_statistics(left.question, tuple(statistics), {})


def _with_statistics(
    question: Question, added: tuple[tuple[str, Statistic], ...], new_names: dict[str, str]
) -> tuple[Question, dict[str, str]]:
    """Add statistics to a question: one that it has already is not asked again."""
    statistics = list(question.statistics)
    known = {statistic: name for name, statistic in statistics}
    keys = [key.name for key in question.keys]
    for name, statistic in added:
        if statistic not in known:
            known[statistic] = unused_name(name, "statistic", [*keys, *names_of(statistics)])
            statistics.append((known[statistic], statistic))
        new_names[name] = known[statistic]
    return replace(question, statistics=tuple(statistics)), new_names


def _conditions(
    join: exp.Join, left: ReleasedRows, both: ReleasedRows, shared: set[str]
) -> tuple[set[str], list[Expression]]:
    """Return the keys on which a JOIN is, and its other conditions."""
    right = replace(both, tables=both.tables[-1:])
    sides = (column_names(left), column_names(right))
    keys = {key.name for key in both.question.keys}
    equated: set[str] = set()
    others: list[Expression] = []
    for name in shared:
        column = exp.column(name)
        key = _equated(column, column, sides)
        if key not in keys:
            raise refusal(f"USING ({name})", "it is no key of both", _INSTEAD)
        equated.add(key)
    on = join.args.get("on")
    if on is None:
        return equated, others
    for part in conjuncts(on.unnest()):
        key = ""
        if isinstance(part, exp.EQ):
            one, other = part.this, part.expression
            key = _equated(one, other, sides) or _equated(other, one, sides)
        if key in keys:
            equated.add(key)
        else:
            others.append(read(part, column_names(both)))
    return equated, others


def _equated(one: exp.Expr, other: exp.Expr, sides: tuple[Names, Names]) -> str:
    """Return the field that the left table has as `one` and the right table as `other`; else ""."""
    left, right = read_or_none(one, sides[0]), read_or_none(other, sides[1])
    if isinstance(left, Field) and left == right:
        return left.name
    return ""


def _renamed_columns(columns: Named, new_names: dict[str, str]) -> Named:
    return tuple((name, _renamed(expression, new_names)) for name, expression in columns)  # type: ignore[misc]


def _renamed(expression: Expression | None, new_names: dict[str, str]) -> Expression | None:
    """Return an expression that reads other fields."""
    match expression:
        case Field(name=name):
            return Field(new_names[name])
        case Call(function=function, arguments=arguments):
            renamed = [_renamed(argument, new_names) for argument in arguments]
            return Call(function, tuple(renamed))  # type: ignore[arg-type]
    return expression
