"""Request for a synthetic table: columns, cells and sets of tables. Read and refused without data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Literal, TypeAlias, TypedDict

from ..arithmetic.rational import whole
from ..data.unit import People
from ..errors import InvalidArgument, UnsupportedQuery
from ..frozen import frozen
from ..query.algebra.expression import Field
from ..query.algebra.tree import PerPerson, Relation, Scan, Select, Where
from ..query.bounds.fanout import person_rows
from ..query.bounds.relation_facts import (
    columns_of,
    multiplicity,
    neighbours_of,
    tables_of,
    unit_of,
)
from ..workloads import StrategyNorms
from .attribute import Attribute, attribute_of

KeySet: TypeAlias = tuple[int, ...]
WorkloadWords: TypeAlias = Literal["pairs", "ones"] | Sequence[Sequence[str]]


class SynthesisWords(TypedDict, total=False):
    """What may be said beside the table and the spend."""

    columns: Iterable[str] | None
    workload: WorkloadWords
    bins: Mapping[str, int] | None
    size: int | None


MAX_COLUMNS = 44
MAX_CELLS = 4_000_000
SIZE_SUPPOSED = 10_000
"""How many rows are supposed where neither the call nor the schema says; it decides only what is worth measuring."""


@frozen
class SyntheticRequest:
    """Rows, the cells of their columns, and what is asked: all pairs, single columns, or just some sets of them.

    `given`: the sets were said by name, and are measured as they are; else the planner chooses among the pairs.
    """

    rows: Relation
    attributes: tuple[Attribute, ...]
    sets: tuple[KeySet, ...]
    given: bool
    size: int
    change: StrategyNorms

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each column has."""
        return tuple(one.size for one in self.attributes)


def read_request(
    rows: Relation,
    columns: Iterable[str] | None = None,
    workload: WorkloadWords = "pairs",
    bins: Mapping[str, int] | None = None,
    size: int | None = None,
) -> SyntheticRequest:
    """Read what is asked about rows.

    Refuses unknown columns, free text, tables too large to release, and people of whom several rows would count.
    """
    change = _change(rows)
    attributes = _attributes(rows, columns, dict(bins or {}))
    names = [one.name for one in attributes]
    sets = _sets(workload, names)
    _refuse_large(attributes, sets)
    declared = [schema.size for schema in tables_of(rows)]
    public = declared[0] if len(declared) == 1 and declared[0] is not None else SIZE_SUPPOSED
    about = public if size is None else whole(size, "size", least=1)
    return SyntheticRequest(rows, attributes, sets, not isinstance(workload, str), about, change)


def _change(rows: Relation) -> StrategyNorms:
    """Return how much one unit moves any table of the rows."""
    unit = unit_of(rows)
    if not isinstance(unit, People):
        return StrategyNorms(multiplicity(rows), neighbours_of(rows))
    if person_rows(rows) > 1:
        raise UnsupportedQuery(
            f"synthetic records stand for people, and a person may have {person_rows(rows)} rows here; make one row a "
            f"person first, by COUNT(*) AS visits, MAX(age) AS age … GROUP BY {unit.id}, or declare max_rows=1"
        )
    return StrategyNorms(1, neighbours_of(rows))


def _attributes(
    rows: Relation, columns: Iterable[str] | None, bins: dict[str, int]
) -> tuple[Attribute, ...]:
    domains = columns_of(rows)
    wanted = _names(domains, columns)
    unknown = [name for name in (*wanted, *bins) if name not in domains]
    if unknown or len(set(wanted)) < len(wanted):
        raise InvalidArgument(
            f"columns are named once each, and are some of {', '.join(domains)}; got {', '.join(unknown or wanted)}"
        )
    if not 1 <= len(wanted) <= MAX_COLUMNS:
        raise InvalidArgument(
            f"1 to {MAX_COLUMNS} columns can be made together, not {len(wanted)}; name fewer"
        )
    counts = {
        name: whole(count, f"bins of {name}", least=1, most=1000) for name, count in bins.items()
    }
    return tuple(
        attribute_of(name, domains[name], nullable=_nullable(rows, name), bins=counts.get(name))
        for name in wanted
    )


def _names(domains: Mapping[str, object], columns: Iterable[str] | None) -> list[str]:
    if columns is None:
        return list(domains)
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InvalidArgument(
            f'columns is a list of names, such as ["age", "sex"]; got {columns!r}'
        )
    return [str(name) for name in columns]


def _nullable(rows: Relation, name: str) -> bool:
    """Return whether a column may be NULL; a declared default fills it in, and a number of rows never is."""
    match rows:
        case Scan(schema=schema):
            return schema.column(name)[1].default is None
        case Where(rows=inner):
            return _nullable(inner, name)
        case Select(rows=inner, columns=chosen):
            made = dict(chosen)[name]
            return _nullable(inner, made.name) if isinstance(made, Field) else True
        case PerPerson(totals=totals):
            return not any(total.what == "count" for own, total in totals if own == name)
        case _:
            return True


def _sets(workload: object, names: list[str]) -> tuple[KeySet, ...]:
    singles = [(place,) for place in range(len(names))]
    if workload == "pairs":
        return (*singles, *combinations(range(len(names)), 2))
    if workload == "ones":
        return tuple(singles)
    if isinstance(workload, str) or not isinstance(workload, Sequence):
        raise InvalidArgument(
            f'workload is "pairs", "ones" or a list of sets such as [("sex", "region")]; got {workload!r}'
        )
    found = {_set(one, names) for one in workload}
    if not found:
        raise InvalidArgument("workload names no set of columns; say at least one, or pairs")
    return tuple(sorted(found | set(singles), key=lambda one: (len(one), one)))


def _set(one: object, names: list[str]) -> KeySet:
    several = (one,) if isinstance(one, str) else one
    listed = list(several) if isinstance(several, Iterable) else []
    if (
        not 1 <= len(listed) <= 2
        or len(set(listed)) < len(listed)
        or any(name not in names for name in listed)
    ):
        raise InvalidArgument(
            f"a set of the workload is one or two of the columns {', '.join(names)}; got {one!r}"
        )
    return tuple(sorted(names.index(name) for name in listed))


def _refuse_large(attributes: Sequence[Attribute], sets: Sequence[KeySet]) -> None:
    cells = sum(math.prod(attributes[place].size for place in one) for one in sets)
    if cells > MAX_CELLS:
        widest = max(attributes, key=lambda one: one.size)
        raise InvalidArgument(
            f"the tables have {cells:,} cells in all, and at most {MAX_CELLS:,} are released; {widest.name} alone has "
            f"{widest.size:,}: use fewer columns, a coarser list, or wider bins of numbers"
        )
