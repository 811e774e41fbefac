"""The reference: rows in memory, totals by the definition. Slow, and obviously right."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping
from typing import ClassVar

from ...data.schema import Schema
from ...errors import InvalidArgument, SchemaMismatch
from ...frozen import fill, frozen
from ...query.algebra.tally import FINE, Free, GroupShare, KeptKeys, RowShare, Tally, Totals
from ...query.bounds.relation_facts import tables_of
from ...query.domains.domain import Scalar
from ...query.meaning.evaluate import meaning_of
from ..base import PublicKeys, in_order, require_columns, require_public
from ..column_pruning import fields_in
from ..sql.key_codec import hold, value_of
from ..tally_analysis import TallyFacts, TermFacts, understand
from .rows import StoredRows, check_matches, names_of, owned_rows, public_rows

GroupKey = tuple[Scalar, ...]


@frozen
class Contribution:
    """What one row, or one person in one key, contributes: None where a term is NULL."""

    owner: Hashable
    key: GroupKey
    parts: tuple[int | None, ...]


def _as_mapping(row: object) -> Mapping[str, object]:
    """Return a row as it is; one that is no mapping is empty, so that it refuses no table of others."""
    return row if isinstance(row, Mapping) else {}


@frozen(init=False)
class Memory:
    """Answer from rows in memory: `Memory({"people": [{"age": 37}, …]})`, with rows as mappings of names to values.

    >>> import discreet as dp
    >>> from discreet.query.algebra.tally import Free, Tally
    >>> from discreet.data import Integer, Rows
    >>> from discreet.query.algebra.expression import Constant, Field
    >>> from discreet.query.algebra.tally import Term
    >>> from discreet.query.algebra.tree import Scan
    >>> people = dp.Schema("people", Rows(), {"age": Integer(0, 120)})
    >>> store = dp.Memory({"people": [{"age": 37}, {"age": 200}, {"age": None}]})
    >>> store.tally(Tally(Scan(people), (), (Term(Field("age"), 1, 0, 120), Term(Constant(True), 1, 1, 1)), Free()))
    {(): (157, 3)}

    A row that is no mapping has no cells; refuses tables none of whose rows is one.
    """

    rows_public: ClassVar[bool] = True
    """It holds every row it was given, so under "replace" neighbours its number of rows is public."""
    tables: StoredRows

    def __init__(self, tables: Mapping[str, Iterable[Mapping[str, object]]]) -> None:
        held = {name: tuple(rows) for name, rows in tables.items()}
        if any(
            rows and not any(isinstance(row, Mapping) for row in rows) for rows in held.values()
        ):
            raise InvalidArgument(
                'Memory takes rows as mappings, such as {"people": [{"age": 37}]}'
            )
        fill(self, tables={name: tuple(map(_as_mapping, rows)) for name, rows in held.items()})

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        facts = understand(tally)
        for schema in tables_of(tally.rows):
            self.columns(schema.name)
        entries = _entries(facts, self.tables)
        if tally.people:
            entries = _once(entries)
        totals: dict[GroupKey, list[int]] = {} if tally.keys else {(): [0] * len(tally.terms)}
        for key, values in _apply_share(facts, entries):
            sums = totals.setdefault(key, [0] * len(tally.terms))
            totals[key] = [a + b for a, b in zip(sums, values, strict=True)]
        return {key: tuple(sums) for key, sums in totals.items()}

    def explain(self, tally: Tally) -> str:
        """Return what would be done; there is no SQL."""
        facts = understand(tally)
        return f"totals of {len(facts.terms)} terms by {len(facts.keys)} keys in memory, share {tally.share}"

    def columns(self, table: str) -> dict[str, str]:
        """List the columns of a table; in memory any value has any type."""
        if table not in self.tables:
            raise SchemaMismatch(
                f"there is no table {table} in memory; there are {', '.join(self.tables) or 'none'}"
            )
        return names_of(self.tables[table])

    def check(self, schema: Schema) -> None:
        """Refuse a schema whose table or columns are not there, or whose values repeat more than it states.

        A table without rows has whatever columns it needs.
        """
        stored = self.columns(schema.name)
        if stored:
            require_columns(schema, stored)
        if schema.public:
            check_matches(schema, public_rows(schema, self.tables))

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the distinct values of a column of a public table, or tuples of several, in order, NULL left out."""
        require_public(table, *columns)
        names = [table.column(column)[0] for column in columns]
        found = {tuple(row[name] for name in names) for row in public_rows(table, self.tables)}
        return in_order(row for row in found if None not in row)


def _entries(facts: TallyFacts, tables: StoredRows) -> list[Contribution]:
    tally, columns = facts.tally, facts.columns
    only, listed = None if tally.only is None else set(tally.only), tally.listed
    found = []
    needed = fields_in((*tally.keys, *(term.expression for term in tally.terms)))
    keys = [
        (meaning_of(key, columns), domain)
        for key, domain in zip(tally.keys, facts.keys, strict=True)
    ]
    parts = [(meaning_of(part.term.expression, columns), part) for part in facts.terms]
    for one in owned_rows(tally.rows, tables, needed):
        key = tuple(value_of(hold(meaning(one.row), domain), domain) for meaning, domain in keys)
        if only is None or key[:listed] in only:
            added = tuple(_contribution(meaning(one.row), part) for meaning, part in parts)
            found.append(Contribution(one.owner, key, added))
    return found


def _contribution(value: Scalar, part: TermFacts) -> int | None:
    if value is None or value is False:
        return None
    steps = 1 if part.counts else hold(value, part.domain)
    return min(max(int(steps or 0) * part.term.weight, part.term.low), part.term.high)


def _once(entries: Iterable[Contribution]) -> list[Contribution]:
    """Let each person count once in a key, with the greatest of each contribution."""
    groups: dict[tuple[Hashable, GroupKey], list[Contribution]] = defaultdict(list)
    for entry in entries:
        groups[entry.owner, entry.key].append(entry)
    return [
        Contribution(
            owner,
            key,
            tuple(_greatest(parts) for parts in zip(*(e.parts for e in group), strict=True)),
        )
        for (owner, key), group in groups.items()
    ]


def _greatest(parts: Iterable[int | None]) -> int | None:
    return max((part for part in parts if part is not None), default=None)


def _apply_share(
    facts: TallyFacts, entries: list[Contribution]
) -> Iterable[tuple[GroupKey, tuple[int, ...]]]:
    """Apply the share, exactly as `tally` defines it; NULL adds nothing."""
    match facts.tally.share:
        case Free():
            return [(e.key, tuple(part or 0 for part in e.parts)) for e in entries]
        case RowShare(rows=k):
            counts = Counter(e.owner for e in entries)
            return [
                (e.key, tuple(_share(part or 0, k, counts[e.owner]) for part in e.parts))
                for e in entries
            ]
        case GroupShare(groups=groups, rows=rows):
            sums = _clip(facts, entries, rows)
            keys = Counter(owner for owner, _ in sums)
            return [
                (key, tuple(_share(t, groups, keys[owner]) for t in ts))
                for (owner, key), ts in sums.items()
            ]
        case KeptKeys(groups=groups, rows=rows, salt=salt):
            sums = _clip(facts, entries, rows)
            kept = _kept_keys(sums, groups, salt)
            return [(key, ts) for (owner, key), ts in sums.items() if key in kept[owner]]


def _kept_keys(
    found: Iterable[tuple[Hashable, GroupKey]], groups: int, salt: str
) -> dict[Hashable, set[GroupKey]]:
    """Keep of each person's keys those with the smallest hash; the order of rows has no say in it."""
    keys: dict[Hashable, list[GroupKey]] = defaultdict(list)
    for owner, key in found:
        keys[owner].append(key)

    def order(owner: Hashable, key: GroupKey) -> tuple[str, str]:
        parts = owner if isinstance(owner, tuple) else (owner,)
        words = [
            *(f"{part}/" for part in parts),
            *("0" if value is None else f"1{_word(value)}" for value in key),
        ]
        mixed = f"{salt}{''.join(words)}".encode()
        return hashlib.md5(mixed, usedforsecurity=False).hexdigest(), repr(key)

    return {
        owner: set(sorted(own, key=lambda key: order(owner, key))[:groups])
        for owner, own in keys.items()
    }


def _word(value: object) -> str:
    """Write a key's value as stores do."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _share(c: int, most: int, found: int) -> int:
    """Scale a contribution by most/found if there are too many, in parts of 2^20, rounding towards 0."""
    scaled = abs(c) * (FINE * most // found) // FINE if found > most else abs(c)
    return scaled if c >= 0 else -scaled


def _clip(
    facts: TallyFacts, entries: Iterable[Contribution], rows: int
) -> dict[tuple[Hashable, GroupKey], tuple[int, ...]]:
    """Add up each person's contributions in each key, and clip the sums."""
    groups: dict[tuple[Hashable, GroupKey], list[tuple[int | None, ...]]] = defaultdict(list)
    for entry in entries:
        groups[entry.owner, entry.key].append(entry.parts)
    ends = [(min(0, rows * part.term.low), max(0, rows * part.term.high)) for part in facts.terms]
    return {
        group: tuple(
            min(max(sum(value or 0 for value in column), low), high)
            for column, (low, high) in zip(zip(*parts, strict=True), ends, strict=True)
        )
        for group, parts in groups.items()
    }
