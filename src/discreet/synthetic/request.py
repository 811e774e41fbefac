"""Request for a synthetic table: columns, cells and sets of tables. Read and refused without data."""

from __future__ import annotations

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
from ..workloads.workload import KeySet, cells_of
from .attribute import Attribute, attribute_of

WorkloadWords: TypeAlias = Literal["pairs", "ones"] | Sequence[Sequence[str]]


class SynthesisWords(TypedDict, total=False):
    """Options of a synthesis beside the table and the spend."""

    columns: Iterable[str] | None
    workload: WorkloadWords
    bins: Mapping[str, int] | None
    size: int | None
    target: str | None


MAX_COLUMNS = 44
MAX_CELLS = 4_000_000
SIZE_SUPPOSED = 10_000
"""Rows of the plan that is shown where neither call nor schema says how many there are."""


@frozen
class SyntheticRequest:
    """Rows, the cells of their columns, and the sets of columns whose tables are asked.

    `given`: the sets were named by the caller and are all measured. Otherwise the planner chooses
    among the pairs. `change` is the most that one unit moves a table. `size_known`: the call or the
    schema says about how many rows there are; else `size` is SIZE_SUPPOSED. `kept` are the columns
    whose bins were asked for, `target` is the column whose pairs come first.
    """

    rows: Relation
    attributes: tuple[Attribute, ...]
    sets: tuple[KeySet, ...]
    given: bool
    size: int
    change: StrategyNorms
    size_known: bool = True
    kept: frozenset[int] = frozenset()
    target: int | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of each column."""
        return _sizes(self.attributes)

    @property
    def singles(self) -> list[KeySet]:
        """The sets of one column."""
        return [one for one in self.sets if len(one) == 1]

    @property
    def pairs(self) -> list[KeySet]:
        """The sets of two columns."""
        return [one for one in self.sets if len(one) == 2]


def _sizes(attributes: Sequence[Attribute]) -> tuple[int, ...]:
    return tuple(attribute.size for attribute in attributes)


def read_request(
    rows: Relation,
    columns: Iterable[str] | None = None,
    workload: WorkloadWords = "pairs",
    bins: Mapping[str, int] | None = None,
    *,
    size: int | None = None,
    target: str | None = None,
) -> SyntheticRequest:
    """Read a request about rows: which columns, how they are cut, and which tables are asked.

    | argument | meaning |
    |---|---|
    | `workload` | "pairs" (all pairs, of which a plan chooses), "ones", or a list of sets |
    | `bins` | number of bins of equal width, by column |
    | `size` | about how many rows there are, if the schema does not say |
    | `target` | the column whose pairs matter most |

    Refuses: unknown columns, free text, tables too large to release, a target that is no column,
        and people of whom several rows would count.
    Law: tests/synthetic/test_curator_synthesize.py::TestRefusedBeforeTheCharge
    """
    change = _change(rows)
    attributes = _attributes(rows, columns, dict(bins or {}))
    names = [attribute.name for attribute in attributes]
    sets = _sets(workload, names)
    _refuse_large(attributes, sets)
    given = not isinstance(workload, str)
    known = _size(rows, size)
    kept = frozenset(names.index(name) for name in bins or {} if name in names)
    return SyntheticRequest(
        rows,
        attributes,
        sets,
        given,
        known or SIZE_SUPPOSED,
        change,
        known is not None,
        kept,
        _target(target, workload, names),
    )


def _target(target: object, workload: object, names: list[str]) -> int | None:
    """Return the index of the target column; refuses names of no column, and other workloads."""
    if target is None:
        return None
    if target not in names:
        raise InvalidArgument(f"target is one of the columns {', '.join(names)}; got {target!r}")
    if workload != "pairs":
        raise InvalidArgument(
            'target= chooses among pairs, so that it needs workload="pairs"; leave one of them out'
        )
    return names.index(str(target))


def _size(rows: Relation, size: int | None) -> int | None:
    """Return about how many rows there are, by the call, else by the schema of a single table."""
    if size is not None:
        return whole(size, "size", least=1)
    declared = [schema.size for schema in tables_of(rows)]
    return declared[0] if len(declared) == 1 else None


def _change(rows: Relation) -> StrategyNorms:
    """Return the largest change of a table of the rows by one unit."""
    unit = unit_of(rows)
    if not isinstance(unit, People):
        return StrategyNorms(multiplicity(rows), neighbours_of(rows))
    max_rows = person_rows(rows)
    if max_rows > 1:
        raise UnsupportedQuery(
            "synthetic records stand for people, and a person may have "
            f"{max_rows} rows here; make one row a person first, "
            f"by COUNT(*) AS visits, MAX(age) AS age … GROUP BY {unit.id}, or declare max_rows=1"
        )
    return StrategyNorms(1, neighbours_of(rows))


def _attributes(
    rows: Relation, columns: Iterable[str] | None, bins: dict[str, int]
) -> tuple[Attribute, ...]:
    """Return the wanted columns cut into cells; `bins` are numbers of bins by name of the column.

    Refuses: unknown or repeated names, no column or more than 44, and bins outside 1 … 1,000.
    """
    domains = columns_of(rows)
    wanted = _names(domains, columns)
    unknown = [name for name in (*wanted, *bins) if name not in domains]
    if unknown or len(set(wanted)) < len(wanted):
        raise InvalidArgument(
            f"columns are named once each, and are some of {', '.join(domains)}; "
            f"got {', '.join(unknown or wanted)}"
        )
    if not 1 <= len(wanted) <= MAX_COLUMNS:
        raise InvalidArgument(
            f"1 to {MAX_COLUMNS} columns can be made together, not {len(wanted)}; name fewer"
        )
    counts = {}
    for name, count in bins.items():
        counts[name] = whole(count, f"bins of {name}", least=1, most=1000)
    attributes = []
    for name in wanted:
        nullable = _nullable(rows, name)
        own = attribute_of(name, domains[name], nullable=nullable, bins=counts.get(name))
        attributes.append(own)
    return tuple(attributes)


def _names(domains: Mapping[str, object], columns: Iterable[str] | None) -> list[str]:
    if columns is None:
        return list(domains)
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        raise InvalidArgument(
            f'columns is a list of names, such as ["age", "sex"]; got {columns!r}'
        )
    return list(map(str, columns))


def _nullable(rows: Relation, name: str) -> bool:
    """Return whether a column may be NULL; one with a default and a count of rows never are."""
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
    """Return the sets of columns of a workload, as indices: single columns first, then pairs.

    Refuses: other words, and a list without sets.
    """
    places = range(len(names))
    singles = [(place,) for place in places]
    if workload == "pairs":
        return (*singles, *combinations(places, 2))
    if workload == "ones":
        return tuple(singles)
    if isinstance(workload, str) or not isinstance(workload, Sequence):
        raise InvalidArgument(
            'workload is "pairs", "ones" or a list of sets such as [("sex", "region")]; '
            f"got {workload!r}"
        )
    found = {_set(one, names) for one in workload}
    if not found:
        raise InvalidArgument("workload names no set of columns; say at least one, or pairs")
    # Single columns are always measured: pairs are started from them.
    return tuple(sorted(found | set(singles), key=lambda one: (len(one), one)))


def _set(one: object, names: list[str]) -> KeySet:
    """Read one set of the workload: a name, or one or two different names."""
    several = (one,) if isinstance(one, str) else one
    listed = list(several) if isinstance(several, Iterable) else []
    distinct = len(set(listed)) == len(listed)
    if not 1 <= len(listed) <= 2 or not distinct or any(name not in names for name in listed):
        raise InvalidArgument(
            f"a set of the workload is one or two of the columns {', '.join(names)}; got {one!r}"
        )
    return tuple(sorted(names.index(name) for name in listed))


def _refuse_large(attributes: Sequence[Attribute], sets: Sequence[KeySet]) -> None:
    """Refuse tables with more cells in all than are released."""
    sizes = _sizes(attributes)
    cells = sum(cells_of(sizes, one) for one in sets)
    if cells > MAX_CELLS:
        widest = max(attributes, key=lambda attribute: attribute.size)
        raise InvalidArgument(
            f"the tables have {cells:,} cells in all, and at most {MAX_CELLS:,} are released; "
            f"{widest.name} alone has {widest.size:,}: "
            "use fewer columns, a coarser list, or wider bins of numbers"
        )
