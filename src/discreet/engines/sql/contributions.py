"""What each row contributes, as SQL: its owner, its keys, and a column for each number that is added up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...data.columns.keys import MOST_KEYS
from ...frozen import frozen, replace
from ...query.algebra.expression import Call, Constant, Expression, Field, Function, fields_of
from ...query.algebra.tally import Free, RowShare, Tally
from ...query.algebra.tree import Scan
from ...query.bounds.relation_facts import tables_of
from ...query.domains.domain import MOST_STEPS, Domain, Texts, Whole
from ...query.domains.domain_of import domain_of
from ..base import find_column
from ..tally_analysis import TallyFacts, TermFacts
from .deferred_keys import late_keys
from .expression import expression_sql
from .public_keys import only_sql
from .reading.number import clip_sql
from .rows.frame import Writer
from .rows.relation import COUNT, frame_of, scope_of
from .scope import SqlScope
from .select import named_cells, select_sql


@frozen
class EntryNumber:
    """What a row adds to one total: `sign`·`column` − `less`, and nothing where the column is NULL.

    A part that counts adds what one count is worth wherever the column is not NULL, or with the sign −1 wherever it is;
    "*" is never NULL.
    """

    part: TermFacts
    column: str
    sign: int = 1
    less: int = 0


@frozen
class Entries:
    """A SELECT of what each row, or each person in a key, contributes: the SQL names of its columns.

    Rows with a NULL in a `tested` key count nowhere, but stay in it, since nobody reads what they add up to: a test
    less for each row. `labels` lists the values of those keys that are text and can only be one of a few. `late` says
    how to read the keys that are still as they are stored; those that are `sure` are NULL only where that is.
    """

    sql: str
    owner: tuple[str, ...]
    keys: tuple[str, ...]
    values: tuple[EntryNumber, ...]
    tested: tuple[str, ...]
    labels: Mapping[str, Sequence[str]]
    late: Mapping[str, str]
    count: str = ""
    """The column that holds how many rows of their person count, if the store has it; or, if `shared`, their share."""
    shared: bool = False
    sure: frozenset[str] = frozenset()
    nobody: str = ""
    """A number that no owner has, if the store has one."""


def entries_of(facts: TallyFacts, writer: Writer) -> Entries:
    """Write one row for each row that counts."""
    tally = facts.tally
    names = tuple(writer.fresh("k") for _ in tally.keys)
    test, tested = ("TRUE", ()) if tally.only is None else _only_sql(facts, names, writer)
    late = {} if test != "TRUE" or tally.people else late_keys(tally, names, writer)
    needed = frozenset().union(
        *map(fields_of, (*tally.keys, *(term.expression for term in tally.terms)))
    )
    keyed = dict(zip(names, tally.keys, strict=True))
    count, shared = _stored_count(tally, keyed, tested, writer) if test == "TRUE" else ("", False)
    reader = replace(writer, late=frozenset(key.column for key in late.values()), count=count)
    frame = frame_of(tally.rows, needed, reader)
    scope = scope_of(frame, writer)
    keys = dict(zip(names, (expression_sql(key, scope) for key in tally.keys), strict=True))
    shifts = not isinstance(tally.share, RowShare)  # rows are rounded one by one there
    mirrors = (
        isinstance(tally.share, Free) and not tally.people
    )  # nobody asks for the greatest of them
    values = [(part, *_value(part, scope, shifts, mirrors)) for part in facts.parts]
    named = {
        sql: writer.fresh("v")
        for sql in dict.fromkeys(sql for _, sql, _, _ in values)
        if sql != "*"
    }
    cells = [*keys.items(), *((name, sql) for sql, name in named.items())]
    sql = select_sql(
        [*frame.owner, *([COUNT] if count else ()), *named_cells(cells)], f"({frame.sql}) AS t"
    )
    sql = sql if test == "TRUE" else select_sql(["*"], f"({sql}) AS t", f"WHERE {test}")
    columns = tuple(
        EntryNumber(part, named.get(sql, sql), sign, less) for part, sql, sign, less in values
    )
    readers = {name: key.sql for name, key in late.items()}
    labels, stored = _labels(names, facts.keys), COUNT if count else ""
    sure = frozenset(name for name, key in late.items() if key.sure)
    nobody = _nobody(tally, writer) if len(frame.owner) == 1 else ""
    return Entries(
        sql, frame.owner, names, columns, tested, labels, readers, stored, shared, sure, nobody
    )


def _nobody(tally: Tally, writer: Writer) -> str:
    """Return the number that no person of any table has; "" if there is none."""
    found = {writer.table(schema.name).nobody for schema in tables_of(tally.rows)}
    return found.pop() if len(found) == 1 else ""


def _stored_count(
    tally: Tally, keys: Mapping[str, Expression], tested: Sequence[str], writer: Writer
) -> tuple[str, bool]:
    """Find the stored number of each person's rows that count, or their share: of a whole table, by at most one key
    that may be NULL and is read as it was when the store took it in.
    """
    if (
        not isinstance(tally.rows, Scan)
        or not isinstance(tally.share, RowShare)
        or tally.people
        or len(tested) > 1
    ):
        return "", False
    schema, key = tally.rows.schema, keys[tested[0]] if tested else None
    table, name = writer.table(schema.name), ""
    if key is not None:
        found = find_column(key.name, table.columns) if isinstance(key, Field) else None
        if (
            not isinstance(key, Field)
            or found is None
            or table.columns[found].kept != schema.columns[key.name]
        ):
            return "", False
        name = found
    shared = table.share_rows == tally.share.rows and name in table.shares
    return (table.shares if shared else table.counts).get(name, ""), shared


def _only_sql(
    facts: TallyFacts, names: Sequence[str], writer: Writer
) -> tuple[str, tuple[str, ...]]:
    """Write the test of the keys that are listed; the others are free."""
    listed = facts.tally.listed
    return only_sql(facts.tally.only or (), names[:listed], facts.keys[:listed], writer.dialect)


def _labels(names: Sequence[str], domains: Sequence[Domain]) -> dict[str, list[str]]:
    return {
        name: [str(key) for key in domain.keys if key is not None]
        for name, domain in zip(names, domains, strict=True)
        if isinstance(domain, Texts) and domain.keys is not None and len(domain.keys) <= MOST_KEYS
    }


def _value(part: TermFacts, scope: SqlScope, shifts: bool, mirrors: bool) -> tuple[str, int, int]:
    """Write a number's contribution, its sign and what is to be taken from it, or something that is not NULL where a
    condition holds; * if it always does.
    """
    expression, term = part.term.expression, part.term
    if not isinstance(part.domain, Whole):
        return _condition(expression, scope, mirrors)
    inside = (
        term.low <= part.domain.low * term.weight and part.domain.high * term.weight <= term.high
    )
    x, sign, less = (
        _shift(expression, part.domain, term.weight, scope)
        if shifts and inside
        else (expression, 1, 0)
    )
    if sign < 0 and not mirrors:
        x, sign, less = expression, 1, 0
    sql = expression_sql(x, scope)
    weighted = sql if term.weight == 1 else f"({sql} * {term.weight})"
    return (
        weighted if inside else clip_sql(weighted, term.low, term.high, weighted),
        sign,
        less * term.weight,
    )


def _shift(
    expression: Expression, domain: Whole, weight: int, scope: SqlScope
) -> tuple[Expression, int, int]:
    """Take x − m apart, or m − x, in the same steps: Σ(x − m) = Σx − m·n, and a store may have Σx and n already."""
    match expression:
        case Call(function=Function.SUBTRACT, arguments=(x, Constant(value=m) as constant)) if (
            m is not None
        ):
            sign = 1
        case Call(function=Function.SUBTRACT, arguments=(Constant(value=m) as constant, x)) if (
            m is not None
        ):
            sign = -1
        case _:
            return expression, 1, 0
    whole, less = domain_of(x, scope.domains), domain_of(constant, scope.domains)
    if not isinstance(whole, Whole) or not isinstance(less, Whole) or whole.step != domain.step:
        return expression, 1, 0
    if max(abs(whole.low), abs(whole.high)) * weight > MOST_STEPS:
        return expression, 1, 0
    return x, sign, sign * int(less.low * less.step / domain.step)


def _condition(expression: Expression, scope: SqlScope, mirrors: bool) -> tuple[str, int, int]:
    """Write what a count counts, behind a veil: an optimizer that knows of no NULL need not look at the column."""
    match expression:
        case Constant(value=True):
            return "*", 1, 0
        case Call(function=Function.IS_NULL, arguments=(x,)) if mirrors and not isinstance(
            x, Constant
        ):
            return expression_sql(x, scope.veil()), -1, 0
    tested = _not_null(expression)
    if tested is not None:
        return expression_sql(tested, scope.veil()), 1, 0
    return f"CASE WHEN {expression_sql(expression, scope)} THEN 1 END", 1, 0


def _not_null(expression: Expression) -> Expression | None:
    """Find x if the condition is that x is not NULL: then COUNT(x) says it."""
    match expression:
        case Call(
            function=Function.NOT, arguments=(Call(function=Function.IS_NULL, arguments=(x,)),)
        ):
            return None if isinstance(x, Constant) else x
    return None


def once_sql(rows: Entries) -> Entries:
    """Let each person count once in a key, with the greatest of each contribution."""
    groups = [*rows.owner, *rows.keys]
    cells = {
        v.column: f"CASE WHEN count({v.column}) > 0 THEN 1 END"
        for v in rows.values
        if v.column != "*"
    }
    # A column that is counted and added up as well: its greatest value is NULL only where there is none to count.
    cells |= {v.column: f"max({v.column})" for v in rows.values if not v.part.counts}
    tail = f"GROUP BY {', '.join(groups)}"
    return replace(
        rows, sql=select_sql([*groups, *named_cells(cells.items())], f"({rows.sql}) AS t", tail)
    )
