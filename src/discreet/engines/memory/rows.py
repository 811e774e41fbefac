"""Relations over rows in memory, as plainly as can be: the reference for what every store must return."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from ...data.columns.cell import native
from ...data.columns.column import Column, Date, Timestamp
from ...data.schema import Schema
from ...data.unit import People, window_start
from ...frozen import frozen
from ...intake.object_cells import total_reader
from ...query.algebra.expression import Constant, Expression
from ...query.algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Relation,
    Scan,
    Select,
    Total,
    Union,
    Where,
)
from ...query.bounds.fanout import find_cut, find_cuts
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Domain, Scalar
from ...query.meaning.evaluate import meaning_of
from ..base import find_column, require_matches
from ..column_pruning import ColumnNames, needed_below

ReadRow: TypeAlias = Mapping[str, Scalar]
StoredRows: TypeAlias = Mapping[str, Sequence[Mapping[str, object]]]


@frozen
class Owned:
    """One row, and the unit it belongs to: None if each row is its own unit."""

    owner: Hashable
    row: ReadRow


def owned_rows(relation: Relation, tables: StoredRows, needed: ColumnNames) -> list[Owned]:
    """Return the rows of a relation, each with its owner, of which these columns will be read."""
    match relation:
        case Scan(schema=schema):
            return _scan(schema, tables[schema.name])
        case Where(rows=rows, condition=condition):
            holds = meaning_of(condition, columns_of(rows))
            found = owned_rows(rows, tables, *needed_below(relation, needed))
            return [one for one in found if holds(one.row) is True]
        case Select(rows=rows, columns=chosen):
            columns = columns_of(rows)
            meanings = [(name, meaning_of(expression, columns)) for name, expression in chosen]
            return [
                Owned(one.owner, {name: meaning(one.row) for name, meaning in meanings})
                for one in owned_rows(rows, tables, *needed_below(relation, needed))
            ]
        case JoinPublic():
            return _join(relation, tables, needed)
        case JoinPeople():
            return _pair(relation, tables, needed)
        case Union(parts=parts):
            return [one for part in parts for one in owned_rows(part, tables, needed)]
        case PerPerson():
            return _per_person(relation, tables, needed)


def _cut_rows(
    rows: Relation, most: int | None, tables: StoredRows, needed: ColumnNames
) -> list[Owned]:
    """Return rows of which each person keeps at most so many, evenly spread in the order of what is read of them."""
    found = owned_rows(rows, tables, needed)
    if most is None:
        return found
    order = [name for name in columns_of(rows) if name in needed]
    people: dict[Hashable, list[Owned]] = defaultdict(list)
    for one in found:
        people[one.owner].append(one)
    return [one for mine in people.values() for one in _spread(mine, most, order)]


def _spread(rows: list[Owned], most: int, order: Sequence[str]) -> list[Owned]:
    n = len(rows)
    if n <= most:
        return rows
    placed = sorted(
        rows, key=lambda one: [() if one.row[name] is None else (one.row[name],) for name in order]
    )
    return [one for place, one in enumerate(placed, start=1) if (place * most + n // 2) % n < most]


def read_cell(column: Column, value: object) -> Scalar:
    """Read a stored value as its column says: an exact number, text, truth, days or seconds since 1970, or NULL.

    >>> from discreet.engines.memory.rows import read_cell
    >>> from discreet.data import Date, Real
    >>> read_cell(Real(0, 1, step=0.5), "0.6"), read_cell(Date("1970-01-01", "1970-12-31"), "1970-02-01")
    (Fraction(1, 2), 31)
    """
    return column.steps(value) if isinstance(column, Date | Timestamp) else column.read(value)


def _scan(schema: Schema, rows: Sequence[Mapping[str, object]]) -> list[Owned]:
    found = []
    stored_as = names_of(rows)
    places = {name: find_column(name, stored_as) or name for name in _read(schema)}
    read = {
        name: total_reader(partial(read_cell, column), read_cell(column, None))
        for name, column in schema.declared
    }
    owner_of = total_reader(partial(_owner, schema), None)
    for stored in rows:
        cells = {name: stored.get(place) for name, place in places.items()}
        owner = owner_of(cells)
        if owner is not None or not isinstance(schema.unit, People):
            row = {name: read[name](cells[name]) for name, _ in schema.declared}
            found.append(Owned(owner, row))
    return found


def names_of(rows: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """List the columns that occur in any row."""
    return dict.fromkeys((name for row in rows for name in row), "any")


def _read(schema: Schema) -> list[str]:
    names = [name for name, _ in schema.declared]
    return [*names, schema.unit.id] if isinstance(schema.unit, People) else names


def _owner(schema: Schema, cells: Mapping[str, object]) -> Hashable:
    """Return the person's id, with the start of the window if there is one; None: the row counts nowhere."""
    unit = schema.unit
    if not isinstance(unit, People):
        return None
    person = _id(cells[unit.id])
    if person is None or unit.window is None:
        return person
    column, per = unit.window
    time = schema.columns[column].read(cells[column])
    if not isinstance(time, date):
        return None
    return person, window_start(datetime(*time.timetuple()[:6]), per)


@frozen
class WrittenId:
    """An id that is no key in Python, such as a list: by its type and how it is written, so that it meets no text."""

    kind: str
    text: str


def _id(value: object) -> Hashable:
    """Read an id as it is stored; NULL, NaN and not-a-time are nobody."""
    plain = native(value)
    if plain is None or type(plain).__name__ in ("NAType", "NaTType"):
        return None
    try:
        if plain != plain:  # noqa: PLR0124
            return None
        hash(plain)
    except ArithmeticError:
        return None  # a signalling NaN
    except Exception:  # noqa: BLE001 the object's own code, of which nothing is known
        listed = plain.tolist() if hasattr(plain, "tolist") else plain
        return WrittenId(type(plain).__name__, repr(listed))
    return plain


def public_rows(schema: Schema, tables: StoredRows) -> list[ReadRow]:
    """Read the rows of a public table."""
    return [one.row for one in _scan(schema, tables[schema.name])]


def check_matches(schema: Schema, rows: Sequence[ReadRow]) -> None:
    """Refuse a public table whose values repeat more than it states; a NULL matches nothing."""

    def count(columns: tuple[str, ...]) -> int:
        keys = (tuple(row[name] for name in columns) for row in rows)
        return max(Counter(key for key in keys if None not in key).values(), default=0)

    require_matches(schema, count)


def _join(join: JoinPublic, tables: StoredRows, needed: ColumnNames) -> list[Owned]:
    public, columns = public_rows(join.table, tables), columns_of(join.rows)
    check_matches(join.table, public)
    matches: dict[tuple[Scalar, ...], list[ReadRow]] = defaultdict(list)
    for row in public:
        matches[tuple(row[name] for _, name in join.on)].append(row)
    found, on = [], [meaning_of(expression, columns) for expression, _ in join.on]
    for one in _cut_rows(join.rows, find_cut(join), tables, *needed_below(join, needed)):
        key = tuple(meaning(one.row) for meaning in on)
        partners: list[ReadRow] = [] if None in key else matches.get(key, [])
        if not partners and join.keep:
            partners = [dict.fromkeys(join.table.columns)]
        found += [
            Owned(
                one.owner, {**one.row, **{name: partner[column] for name, column in join.columns}}
            )
            for partner in partners
        ]
    return found


def _pair(join: JoinPeople, tables: StoredRows, needed: ColumnNames) -> list[Owned]:
    left, right = columns_of(join.left), columns_of(join.right)
    sides = zip((join.left, join.right), find_cuts(join), needed_below(join, needed), strict=True)
    mine, yours = (_cut_rows(side, most, tables, below) for side, most, below in sides)
    partners: dict[object, list[Owned]] = defaultdict(list)
    on = [(meaning_of(one, left), meaning_of(other, right)) for one, other in join.on]
    for one in yours:
        key = tuple(meaning(one.row) for _, meaning in on)
        if None not in key:
            partners[one.owner, key].append(one)
    found, met, nothing = [], set(), [Owned(None, dict.fromkeys(right))]
    for one in mine:
        key = tuple(meaning(one.row) for meaning, _ in on)
        matches = partners.get((one.owner, key), [])
        met |= set(map(id, matches))
        found += [
            Owned(one.owner, {**one.row, **other.row})
            for other in matches or (nothing if join.outer else [])
        ]
    if join.outer == "full":
        found += [
            Owned(one.owner, {**dict.fromkeys(left), **one.row})
            for one in yours
            if id(one) not in met
        ]
    return found


def _per_person(relation: PerPerson, tables: StoredRows, needed: ColumnNames) -> list[Owned]:
    columns = columns_of(relation.rows)
    keys = [meaning_of(expression, columns) for _, expression in relation.keys]
    groups: dict[tuple[Hashable, tuple[Scalar, ...]], list[ReadRow]] = defaultdict(list)
    for one in owned_rows(relation.rows, tables, *needed_below(relation, needed)):
        groups[one.owner, tuple(meaning(one.row) for meaning in keys)].append(one.row)
    return [
        Owned(
            owner,
            dict(zip((name for name, _ in relation.keys), key, strict=True))
            | {name: _total(total, rows, columns) for name, total in relation.totals},
        )
        for (owner, key), rows in groups.items()
    ]


def _total(total: Total, rows: Iterable[ReadRow], columns: Mapping[str, Domain]) -> Scalar:
    """Work out one person's total, clipped; the steps are whole since the step divides that of the expression."""
    expression: Expression = Constant(1) if total.expression is None else total.expression
    meaning = meaning_of(expression, columns)
    values = [Fraction(v) for row in rows if (v := meaning(row)) is not None]
    if not values and total.what != "count":
        return None
    match total.what:
        case "count":
            found = Fraction(len(values))
        case "sum":
            found = sum(values, Fraction(0))
        case "least":
            found = min(values)
        case "greatest":
            found = max(values)
    return min(max(int(found / total.step), total.low), total.high) * total.step
