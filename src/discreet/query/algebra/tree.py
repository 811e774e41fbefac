"""Query tree: relations of rows, statistics of them, and post-processing of the noisy results.

    Question   rows (a relation), keys, statistics, and finish (post-processing)
    Relation   Scan  Where  Select  JoinPublic  JoinPeople  Union  PerPerson
    Statistic  the closed set in `algebra.statistic`

Guarantee: every row of a relation belongs to exactly one unit, the row itself (`Rows`) or a
person (`People`). Each node keeps that true. Hence private tables are joined on the person alone,
and there is no DISTINCT, no window over rows and no free sub-query.

Column names differ in more than upper and lower case, and every store can hold them.

Names of classes and fields are part of fingerprints: they never change.

Law: tests/query/test_relation_facts.py::TestUnits
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Literal, TypeAlias, TypeVar

from ...data.blocks import Blocks
from ...data.schema import Schema
from ...data.unit import read_name
from ...errors import InvalidArgument, UnsupportedQuery
from ...frozen import frozen, replace
from ..domains.domain import Values
from .expression import Expression, Field
from .refusal import refusal
from .statistic import Overall, Statistic

Named: TypeAlias = tuple[tuple[str, Expression], ...]
"""Expressions with their names, in order; names are unique."""
_T = TypeVar("_T")
_MAX_BASE_BYTES = 58
"""PostgreSQL cuts names after 63 bytes; five are left for a blank and a number."""
KeySets: TypeAlias = tuple[tuple[int, ...], ...]
"""Sets of keys (GROUPING SETS), each as positions of keys."""


def names_of(named: Iterable[tuple[str, object]]) -> list[str]:
    """List the names of anything that is named, in order."""
    return [name for name, _ in named]


def by_name(names: Mapping[_T, str]) -> tuple[tuple[str, _T], ...]:
    """Turn a mapping of things to names into pairs (name, thing)."""
    return tuple((name, thing) for thing, name in names.items())


def own_fields(names: Iterable[str]) -> tuple[tuple[str, Field], ...]:
    """Return each name with the field of that name: columns that are shown as they are."""
    return tuple((name, Field(name)) for name in names)


def unused_name(name: str, prefix: str, taken: Iterable[str]) -> str:
    """Return a column name that is none of `taken`, whatever their case.

    It is `name` itself, else `prefix.name`, else that with a number from 2 on. A `prefix.name` that
    would be too long for a store is replaced by "column".

    >>> from discreet.query.algebra.tree import unused_name
    >>> unused_name("city", "wards", ["ward"]), unused_name("ward", "wards", ["WARD", "wards.ward"])
    ('city', 'wards.ward 2')
    """
    used = {other.casefold() for other in taken}
    if name.casefold() not in used:
        return name
    base = f"{prefix}.{name}"
    if len(base.encode()) > _MAX_BASE_BYTES:
        base = "column"
    candidate = base
    number = 1
    while candidate.casefold() in used:
        number += 1
        candidate = f"{base} {number}"
    return candidate


def require_unique_names(names: list[str]) -> None:
    """Refuse names that no table can have, or that differ at most in case."""
    for name in names:
        try:
            read_name(name, "a column")
        except InvalidArgument as error:
            raise UnsupportedQuery(f"AS: {error}") from None
    folded = {name.casefold() for name in names}
    if len(folded) < len(names):
        raise refusal("AS", "two columns have the same name", "give each its own name")


@frozen
class Scan:
    """All rows of a private table, its columns read as the schema declares them."""

    schema: Schema


@frozen
class BlockScan(Scan):
    """The rows of a private table that lie in blocks of time in which their person counts.

    A person counts in a limited number of blocks (`data.blocks`). Only engines meet this node: it
    takes the place of a Scan after planning, and has no fingerprint. Rows without a time count
    nowhere.
    """

    blocks: Blocks


@frozen
class Where:
    """The rows for which a condition is true (not false, not NULL)."""

    rows: Relation
    condition: Expression


@frozen
class Select:
    """One row for each row, with just these columns."""

    rows: Relation
    columns: Named


@frozen
class JoinPublic:
    """Each row with the public rows that match it.

    `on` pairs an expression of the row with a public column. `columns` names the public columns:
    (name here, public column). A unit's rows may multiply, as much as the public table's schema
    allows (`Schema.max_matches`). `keep` keeps rows without a match, with NULLs (LEFT JOIN).
    """

    rows: Relation
    table: Schema
    on: tuple[tuple[Expression, str], ...]
    columns: tuple[tuple[str, str], ...]
    keep: bool = False


@frozen
class JoinPeople:
    """Pairs of rows of one person from two relations, for which the expressions in `on` are equal.

    Names of columns must not clash. `outer`: rows of the left side ("left"), or of both sides
    ("full"), that match nothing stay, with NULLs beside them. The result for one person depends
    on that person's rows alone.
    """

    left: Relation
    right: Relation
    on: tuple[tuple[Expression, Expression], ...] = ()
    outer: Literal["", "left", "full"] = ""


@frozen
class Union:
    """All rows of several relations with the same column names and domains (UNION ALL)."""

    parts: tuple[Relation, ...]


@frozen
class Total:
    """A total of one person's rows, clipped to `low`..`high` whole steps of `step`.

    `what` is the number of rows (`expression` None), or the sum, least or greatest of an
    expression; NULL if there is no value.
    """

    what: Literal["count", "sum", "least", "greatest"]
    expression: Expression | None
    step: Fraction
    low: int
    high: int


@frozen
class PerPerson:
    """One row for each person and key: GROUP BY the person (and more) in a sub-query."""

    rows: Relation
    keys: Named
    totals: tuple[tuple[str, Total], ...]


Relation: TypeAlias = Scan | Where | Select | JoinPublic | JoinPeople | Union | PerPerson


def inputs_of(relation: Relation) -> tuple[Relation, ...]:
    """Return the relations that a relation reads directly, in order; none for a table.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import Scan, Union, inputs_of
    >>> votes = Scan(dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()}))
    >>> inputs_of(votes), len(inputs_of(Union((votes, votes))))
    ((), 2)
    """
    match relation:
        case Scan():
            return ()
        case JoinPeople(left=left, right=right):
            return left, right
        case Union(parts=parts):
            return parts
        case _:
            return (relation.rows,)


def relations_in(relation: Relation) -> Iterator[Relation]:
    """List a relation and all relations below it, each before those below it."""
    yield relation
    for below in inputs_of(relation):
        yield from relations_in(below)


def with_inputs(relation: Relation, change: Callable[[Relation], Relation]) -> Relation:
    """Return a relation in which the relations that it reads directly are changed.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import Scan, Union, with_inputs
    >>> votes = Scan(dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()}))
    >>> with_inputs(Union((votes,)), lambda rows: Union((rows, rows))).parts[0].parts == (votes, votes)
    True
    """
    match relation:
        case Scan():
            return relation
        case JoinPeople(left=left, right=right):
            return replace(relation, left=change(left), right=change(right))
        case Union(parts=parts):
            return Union(tuple(map(change, parts)))
        case _:
            return replace(relation, rows=change(relation.rows))


@frozen
class Key:
    """A column of GROUP BY.

    `values` are its public keys, all of which appear in the answer. None: keys come from private
    partition selection.
    """

    name: str
    expression: Expression
    values: Values | None


@frozen
class Finish:
    """Post-processing of the noisy table: shown columns, HAVING, QUALIFY, ORDER BY, LIMIT, OFFSET.

    It costs no privacy. `columns` are expressions over the names of keys and statistics; `order`
    pairs an expression with True if it descends. HAVING chooses rows before windows read them,
    `qualify` after.
    """

    columns: Named
    having: Expression | None = None
    order: tuple[tuple[Expression, bool], ...] = ()
    limit: int | None = None
    offset: int = 0
    qualify: Expression | None = None


def expressions_of_finish(finish: Finish) -> list[Expression]:
    """List all expressions of post-processing: shown columns, order, HAVING and QUALIFY."""
    expressions = [expression for _, expression in finish.columns]
    expressions += [expression for expression, _ in finish.order]
    for condition in (finish.having, finish.qualify):
        if condition is not None:
            expressions.append(condition)
    return expressions


@frozen
class Nest:
    """Hierarchy of keys: bins within wider bins, or a list of chosen combinations of keys.

    `places` are the positions of its keys among the question's keys, the widest first. `rows` are
    all public combinations of their values, those of one wider value together. A private row with
    none of these combinations is in no cell.
    """

    places: tuple[int, ...]
    rows: tuple[Values, ...]


@frozen
class Question:
    """Statistics of the rows, for each key.

    | field | meaning |
    |---|---|
    | sets | GROUPING SETS, as positions of keys; a key that is summed over is NULL |
    | running | totals up to and with each value of the one key |
    | nested | keys that are in a hierarchy, and all combinations of them that there are |
    """

    rows: Relation
    keys: tuple[Key, ...]
    statistics: tuple[tuple[str, Statistic], ...]
    finish: Finish
    sets: KeySets | None = None
    running: bool = False
    nested: Nest | None = None


def relations_of(question: Question) -> tuple[Relation, ...]:
    """List all relations that a question reads: its rows, and those of its scalar sub-queries.

    Code that looks for the tables, versions or blocks of a question must go through all of them.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tree import relations_of
    >>> votes = {"votes": dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean()})}
    >>> sql = "SELECT COUNT(*) / (SELECT COUNT(*) FROM votes) AS share FROM votes WHERE yes"
    >>> len(relations_of(dp.parse_sql(sql, votes)))
    2
    """
    relations = [question.rows]
    for _, statistic in question.statistics:
        if isinstance(statistic, Overall):
            relations.append(statistic.rows)
    return tuple(relations)
