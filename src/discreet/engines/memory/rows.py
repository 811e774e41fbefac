"""Relations over rows in memory, written plainly: the reference for the answer of every store.

A relation is a table that was filtered, projected, joined, united or grouped by person. Each
function here returns the rows of one kind of relation, each with the person or row that it belongs
to.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import date, datetime
from fractions import Fraction
from functools import partial
from typing import TypeAlias

from ...data.blocks import SECONDS_PER_DAY
from ...data.columns.cell import to_python
from ...data.columns.column import Column, Temporal, Timestamp
from ...data.schema import Schema
from ...data.unit import People, window_start
from ...frozen import frozen
from ...intake.object_cells import total_reader
from ...query.algebra import tree
from ...query.algebra.expression import Constant, Expression
from ...query.algebra.tree import Relation
from ...query.bounds.fanout import find_cut, find_cuts
from ...query.bounds.relation_facts import columns_of
from ...query.domains.domain import Domain, Scalar
from ...query.meaning.evaluate import meaning_of
from ..base import find_column, require_matches, stored_columns
from ..column_pruning import ColumnNames, needed_below, needed_in_order

ReadRow: TypeAlias = Mapping[str, Scalar]
StoredRows: TypeAlias = Mapping[str, Sequence[Mapping[str, object]]]
Meaning: TypeAlias = Callable[[ReadRow], Scalar]


@frozen
class Owned:
    """One row, and the unit it belongs to: None if each row is its own unit."""

    owner: Hashable
    row: ReadRow


def owned_rows(relation: Relation, tables: StoredRows, needed: ColumnNames) -> list[Owned]:
    """Return the rows of a relation, each with its owner; only `needed` columns will be read."""
    match relation:
        case tree.BlockScan():
            return _scan_blocks(relation, tables)
        case tree.Scan(schema=schema):
            return _scan(schema, tables[schema.name])
        case tree.Where():
            return _where(relation, tables, needed)
        case tree.Select():
            return _select(relation, tables, needed)
        case tree.JoinPublic():
            return _join_public(relation, tables, needed)
        case tree.JoinPeople():
            return _join_people(relation, tables, needed)
        case tree.Union(parts=parts):
            rows = []
            for part in parts:
                rows += owned_rows(part, tables, needed)
            return rows
        case tree.PerPerson():
            return _per_person(relation, tables, needed)


def _where(relation: tree.Where, tables: StoredRows, needed: ColumnNames) -> list[Owned]:
    holds = meaning_of(relation.condition, columns_of(relation.rows))
    (below,) = needed_below(relation, needed)
    rows = owned_rows(relation.rows, tables, below)
    # NULL is not true: such a row is left out.
    return [owned for owned in rows if holds(owned.row) is True]


def _select(relation: tree.Select, tables: StoredRows, needed: ColumnNames) -> list[Owned]:
    """Return rows with the computed columns of a projection."""
    columns = columns_of(relation.rows)
    meanings = {name: meaning_of(expression, columns) for name, expression in relation.columns}
    (below,) = needed_below(relation, needed)
    rows = []
    for owned in owned_rows(relation.rows, tables, below):
        row = {name: meaning(owned.row) for name, meaning in meanings.items()}
        rows.append(Owned(owned.owner, row))
    return rows


def _truncated_rows(
    rows: Relation, max_rows: int | None, tables: StoredRows, needed: ColumnNames
) -> list[Owned]:
    """Return the rows of a relation, at most `max_rows` of each person (None: all).

    The rows that stay are evenly spread in the order of their columns. If rows are dropped,
    `needed` has all columns.
    """
    owned = owned_rows(rows, tables, needed)
    if max_rows is None:
        return owned
    order = needed_in_order(rows, needed)
    people: dict[Hashable, list[Owned]] = defaultdict(list)
    for each in owned:
        people[each.owner].append(each)
    kept = []
    for own in people.values():
        kept += _evenly_spread(own, max_rows, order)
    return kept


def _evenly_spread(rows: list[Owned], max_rows: int, order: Sequence[str]) -> list[Owned]:
    """Keep k = `max_rows` of the n rows of one person, evenly spread by the columns `order`.

    Row r (from 1) is kept if (r·k + ⌊n/2⌋) mod n < k, as in `sql.rows.relation`.
    """
    n = len(rows)
    if n <= max_rows:
        return rows

    def sort_key(owned: Owned) -> list[tuple[Scalar, ...]]:
        # An empty tuple is less than all others: NULL comes first.
        keys: list[tuple[Scalar, ...]] = []
        for name in order:
            value = owned.row[name]
            keys.append(() if value is None else (value,))
        return keys

    kept = []
    for rank, owned in enumerate(sorted(rows, key=sort_key), start=1):
        if (rank * max_rows + n // 2) % n < max_rows:
            kept.append(owned)
    return kept


def read_cell(column: Column, value: object) -> Scalar:
    """Read a stored value by its column: an exact number, text, truth, time or NULL.

    A time is the number of days or seconds since 1970.

    >>> from discreet.engines.memory.rows import read_cell
    >>> from discreet.data import Date, Real
    >>> read_cell(Real(0, 1, step=0.5), "0.6"), read_cell(Date("1970-01-01", "1970-12-31"), "1970-02-01")
    (Fraction(1, 2), 31)
    """
    if isinstance(column, Temporal):
        return column.steps(value)
    return column.read(value)


def _scan(schema: Schema, rows: Sequence[Mapping[str, object]]) -> list[Owned]:
    """Read all rows of a table by its schema, each with its owner.

    Where the unit is people, rows without an id, or without a time for its window, are left out.
    """
    stored_names = names_of(rows)
    names = {name: find_column(name, stored_names) or name for name in stored_columns(schema)}
    readers = {}
    for name, column in schema.declared:
        missing = read_cell(column, None)
        readers[name] = total_reader(partial(read_cell, column), missing)
    owner_of = total_reader(partial(_owner, schema), None)
    owned = []
    # Rows without an owner count nowhere, if the unit is a person.
    for stored in rows:
        cells = {name: stored.get(stored_name) for name, stored_name in names.items()}
        owner = owner_of(cells)
        if owner is None and isinstance(schema.unit, People):
            continue
        row = {name: read(cells[name]) for name, read in readers.items()}
        owned.append(Owned(owner, row))
    return owned


def _scan_blocks(scan: tree.BlockScan, tables: StoredRows) -> list[Owned]:
    """Return the rows of each person in the blocks of time that count: the first ones."""
    blocks = scan.blocks
    name, column = scan.schema.column(blocks.column)
    steps_per_day = SECONDS_PER_DAY if isinstance(column, Timestamp) else 1
    numbered: list[tuple[int, Owned]] = []
    people: dict[Hashable, set[int]] = defaultdict(set)
    for owned in _scan(scan.schema, tables[scan.schema.name]):
        time = owned.row[name]
        # Rows without a time are in no block, and count nowhere.
        if time is not None:
            number = blocks.number(int(time) // steps_per_day)
            numbered.append((number, owned))
            people[owned.owner].add(number)
    last = {owner: blocks.last_counted(numbers) for owner, numbers in people.items()}
    return [owned for number, owned in numbered if number <= last[owned.owner]]


def names_of(rows: Iterable[Mapping[str, object]]) -> dict[str, str]:
    """List the columns that occur in any row."""
    names: dict[str, str] = {}
    for row in rows:
        for name in row:
            names[name] = "any"
    return names


def _owner(schema: Schema, cells: Mapping[str, object]) -> Hashable:
    """Return the person's id, with the start of the window if there is one.

    It is None if the unit is rows. If the unit is people, None means that the row counts nowhere.
    """
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
    moment = datetime(*time.timetuple()[:6])
    return person, window_start(moment, per)


@frozen
class WrittenId:
    """An id that is no key in Python, such as a list: its type and its text, so it equals no text."""

    kind: str
    text: str


def _id(value: object) -> Hashable:
    """Read an id as it is stored; NULL, NaN and not-a-time are nobody."""
    plain = to_python(value)
    if plain is None or type(plain).__name__ in ("NAType", "NaTType"):
        return None
    try:
        if plain != plain:  # noqa: PLR0124
            return None
        hash(plain)
    except ArithmeticError:
        # A signalling NaN raises even in a comparison.
        return None
    except Exception:  # noqa: BLE001 the object's own code, of which nothing is known
        listed = plain.tolist() if hasattr(plain, "tolist") else plain
        return WrittenId(type(plain).__name__, repr(listed))
    return plain


def public_rows(schema: Schema, tables: StoredRows) -> list[ReadRow]:
    """Read the rows of a public table."""
    return [owned.row for owned in _scan(schema, tables[schema.name])]


def check_matches(schema: Schema, rows: Sequence[ReadRow]) -> None:
    """Refuse a public table whose values repeat more than it states; a NULL matches nothing."""

    def count_repeats(columns: tuple[str, ...]) -> int:
        counts: Counter[tuple[Scalar, ...]] = Counter()
        for row in rows:
            key = tuple(row[name] for name in columns)
            if None not in key:
                counts[key] += 1
        return max(counts.values(), default=0)

    require_matches(schema, count_repeats)


def _key_of(meanings: Iterable[Meaning], row: ReadRow) -> tuple[Scalar, ...]:
    return tuple(meaning(row) for meaning in meanings)


def _join_public(join: tree.JoinPublic, tables: StoredRows, needed: ColumnNames) -> list[Owned]:
    """Join rows with a public table: each row once for each partner.

    A row without a partner is dropped, or kept with NULLs (`join.keep`).
    """
    public = public_rows(join.table, tables)
    columns = columns_of(join.rows)
    check_matches(join.table, public)
    matches: dict[tuple[Scalar, ...], list[ReadRow]] = defaultdict(list)
    for row in public:
        key = tuple(row[name] for _, name in join.on)
        matches[key].append(row)
    key_meanings = [meaning_of(expression, columns) for expression, _ in join.on]
    (below,) = needed_below(join, needed)
    joined = []
    for owned in _truncated_rows(join.rows, find_cut(join), tables, below):
        key = _key_of(key_meanings, owned.row)
        partners: list[ReadRow] = []
        # NULL equals nothing, not even another NULL.
        if None not in key:
            partners = matches.get(key, [])
        if not partners and join.keep:
            partners = [dict.fromkeys(join.table.columns)]
        for partner in partners:
            added = {name: partner[column] for name, column in join.columns}
            joined.append(Owned(owned.owner, {**owned.row, **added}))
    return joined


def _join_people(join: tree.JoinPeople, tables: StoredRows, needed: ColumnNames) -> list[Owned]:
    """Join two private tables: rows match if their owners and their keys are equal.

    `join.outer` keeps rows without a match: those of the left side, or of both ("full").
    """
    left_columns = columns_of(join.left)
    right_columns = columns_of(join.right)
    left_max, right_max = find_cuts(join)
    left_needed, right_needed = needed_below(join, needed)
    left = _truncated_rows(join.left, left_max, tables, left_needed)
    right = _truncated_rows(join.right, right_max, tables, right_needed)
    left_key = [meaning_of(mine, left_columns) for mine, _ in join.on]
    right_key = [meaning_of(yours, right_columns) for _, yours in join.on]
    partners: dict[object, list[Owned]] = defaultdict(list)
    for owned in right:
        key = _key_of(right_key, owned.row)
        # NULL equals nothing, not even another NULL.
        if None not in key:
            partners[owned.owner, key].append(owned)
    # Rows of the right side that matched, by identity: equal rows are different rows.
    matched: set[int] = set()
    unmatched = [Owned(None, dict.fromkeys(right_columns))] if join.outer else []
    joined = []
    for owned in left:
        key = _key_of(left_key, owned.row)
        matches = partners.get((owned.owner, key), [])
        matched |= set(map(id, matches))
        for other in matches or unmatched:
            joined.append(Owned(owned.owner, {**owned.row, **other.row}))
    if join.outer == "full":
        for owned in right:
            if id(owned) not in matched:
                row = {**dict.fromkeys(left_columns), **owned.row}
                joined.append(Owned(owned.owner, row))
    return joined


def _per_person(relation: tree.PerPerson, tables: StoredRows, needed: ColumnNames) -> list[Owned]:
    """Return one row for each person and key, with that person's totals."""
    columns = columns_of(relation.rows)
    key_names = [name for name, _ in relation.keys]
    key_meanings = [meaning_of(expression, columns) for _, expression in relation.keys]
    (below,) = needed_below(relation, needed)
    groups: dict[tuple[Hashable, tuple[Scalar, ...]], list[ReadRow]] = defaultdict(list)
    for owned in owned_rows(relation.rows, tables, below):
        key = _key_of(key_meanings, owned.row)
        groups[owned.owner, key].append(owned.row)
    totals = []
    for (owner, key), rows in groups.items():
        row = dict(zip(key_names, key, strict=True))
        for name, total in relation.totals:
            row[name] = _total(total, rows, columns)
        totals.append(Owned(owner, row))
    return totals


def _total(total: tree.Total, rows: Iterable[ReadRow], columns: Mapping[str, Domain]) -> Scalar:
    """Compute one person's count, sum, least or greatest value, clipped to the declared range.

    It is a whole number of the total's steps, since these divide the steps of the expression. It is
    None if there is no value, except for a count.
    """
    expression: Expression = Constant(1)
    if total.expression is not None:
        expression = total.expression
    meaning = meaning_of(expression, columns)
    values = []
    for row in rows:
        value = meaning(row)
        if value is not None:
            values.append(Fraction(value))
    if not values and total.what != "count":
        return None
    match total.what:
        case "count":
            exact = Fraction(len(values))
        case "sum":
            exact = sum(values, Fraction(0))
        case "least":
            exact = min(values)
        case "greatest":
            exact = max(values)
    steps = int(exact / total.step)
    return min(max(steps, total.low), total.high) * total.step
