"""Reference engine: rows in memory, totals by the definition. It is slow, and easy to verify.

The other engines are tested against it. A tally asks for exact integer totals by key, with each
person's contribution bounded; here it is computed in plain Python, step by step as it is defined.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import ClassVar, TypeAlias

from ...data.schema import Schema
from ...errors import InvalidArgument, SchemaMismatch
from ...frozen import fill, frozen
from ...query.algebra.tally import (
    SHARE_FINENESS,
    Free,
    GroupRowShare,
    GroupShare,
    KeptKeys,
    RowShare,
    Tally,
    Totals,
)
from ...query.bounds.relation_facts import tables_of
from ...query.domains.domain import Scalar
from ...query.meaning.evaluate import meaning_of
from ..base import PeopleTotals, PublicKeys, id_text, in_order, require_columns, require_public
from ..column_pruning import fields_in
from ..sql.keys import hold, value_of
from ..tally_analysis import TallyFacts, TermFacts, understand
from .rows import StoredRows, check_matches, names_of, owned_rows, public_rows

GroupKey: TypeAlias = tuple[Scalar, ...]
PersonSums: TypeAlias = dict[tuple[Hashable, GroupKey], tuple[int, ...]]
"""Sums of each person in each key, one for each term."""


@frozen
class Contribution:
    """Contribution of one row, or of one person in one key, to each term.

    A value is None where the term is NULL or its condition does not hold. `listed` says whether the
    key was asked for. A row with another key adds nothing, but is one of its person's rows where a
    bound on rows counts them.
    """

    owner: Hashable
    key: GroupKey
    values: tuple[int | None, ...]
    listed: bool


def _as_mapping(row: object) -> Mapping[str, object]:
    """Return a row as it is, and an empty one for a row that is no mapping.

    One such row must not make the whole table fail.
    """
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

    A row that is no mapping has no cells.

    Refuses: tables none of whose rows is a mapping.

    Law: tests/engines/test_contribution_bounds.py::TestTheDefinitionByHand
    """

    rows_public: ClassVar[bool] = True
    """It holds every row it was given, so under "replace" neighbours its number of rows is public."""
    tables: StoredRows

    def __init__(self, tables: Mapping[str, Iterable[Mapping[str, object]]]) -> None:
        held = {}
        for name, given in tables.items():
            rows = tuple(given)
            if rows and not any(isinstance(row, Mapping) for row in rows):
                raise InvalidArgument(
                    'Memory takes rows as mappings, such as {"people": [{"age": 37}]}'
                )
            held[name] = tuple(map(_as_mapping, rows))
        fill(self, tables=held)

    def tally(self, tally: Tally) -> Totals:
        """Return the exact totals of every key that occurs."""
        facts = understand(tally)
        for schema in tables_of(tally.rows):
            self.columns(schema.name)
        entries = _entries(facts, self.tables)
        if tally.people:
            entries = _once_per_person(entries)
        totals: dict[GroupKey, list[int]] = {}
        # Without keys there is one total, even of no rows, as in SQL.
        if not tally.keys:
            totals[()] = [0] * len(tally.terms)
        for key, values in _bounded(facts, entries):
            sums = totals.setdefault(key, [0] * len(tally.terms))
            totals[key] = [total + value for total, value in zip(sums, values, strict=True)]
        return {key: tuple(sums) for key, sums in totals.items()}

    def tally_people(self, tally: Tally) -> PeopleTotals:
        """Return the exact bounded totals of every person and key that occurs."""
        facts = understand(tally)
        by_person: dict[Hashable, list[Contribution]] = defaultdict(list)
        for entry in _entries(facts, self.tables):
            by_person[entry.owner].append(entry)
        totals: PeopleTotals = {}
        for owner, entries in by_person.items():
            person = id_text(owner)
            for key, values in _bounded(facts, entries):
                known = totals.get((person, key), (0,) * len(values))
                sums = [old + new for old, new in zip(known, values, strict=True)]
                totals[person, key] = tuple(sums)
        return totals

    def explain(self, tally: Tally) -> str:
        """Describe the tally in words; there is no SQL."""
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
        """Check that a schema fits its table; a table without rows fits every schema.

        Refuses: a table or columns that are missing, and values of a public table that repeat more
        often than declared.
        """
        stored = self.columns(schema.name)
        if stored:
            require_columns(schema, stored)
        if schema.public:
            check_matches(schema, public_rows(schema, self.tables))

    def public_values(self, table: Schema, *columns: str) -> PublicKeys:
        """List the distinct values of a column of a public table, or tuples of several columns.

        They are in order; NULL is left out.
        """
        require_public(table, *columns)
        names = [table.column(column)[0] for column in columns]
        values = set()
        for row in public_rows(table, self.tables):
            values.add(tuple(row[name] for name in names))
        return in_order(row for row in values if None not in row)


def _entries(facts: TallyFacts, tables: StoredRows) -> list[Contribution]:
    """List the contributions of all rows but those whose keys `tally.matched` leaves out."""
    tally = facts.tally
    columns = facts.columns
    wanted = None if tally.only is None else set(tally.only)
    joined_list = tally.matched
    matched = set(joined_list or ())
    expressions = [term.expression for term in tally.terms]
    key_meanings = [meaning_of(key, columns) for key in tally.keys]
    term_meanings = [meaning_of(expression, columns) for expression in expressions]
    entries = []
    for owned in owned_rows(tally.rows, tables, fields_in((*tally.keys, *expressions))):
        key = []
        for meaning, domain in zip(key_meanings, facts.keys, strict=True):
            # Through the form of a store, so that equal keys of different types are one key.
            key.append(value_of(hold(meaning(owned.row), domain), domain))
        if joined_list is not None and tally.joined_values(tuple(key)) not in matched:
            continue
        listed = wanted is None or tuple(key[: tally.listed]) in wanted
        values = []
        for meaning, term in zip(term_meanings, facts.terms, strict=True):
            values.append(_contribution(meaning(owned.row), term))
        entries.append(Contribution(owned.owner, tuple(key), tuple(values), listed))
    return entries


def _contribution(value: Scalar, facts: TermFacts) -> int | None:
    if value is None or value is False:
        return None
    # A condition counts as 1 where it holds; a number counts in whole steps of its domain.
    steps = 1 if facts.counts else hold(value, facts.domain)
    weighted = int(steps or 0) * facts.term.weight
    return min(max(weighted, facts.term.low), facts.term.high)


def _once_per_person(entries: Iterable[Contribution]) -> list[Contribution]:
    """Let each person count once in a key, with the greatest of each contribution."""
    once = []
    for (owner, key), group in _by_person_and_key(entries).items():
        columns = zip(*(entry.values for entry in group), strict=True)
        greatest = tuple(map(_greatest, columns))
        once.append(Contribution(owner, key, greatest, group[0].listed))
    return once


def _by_person_and_key(
    entries: Iterable[Contribution],
) -> dict[tuple[Hashable, GroupKey], list[Contribution]]:
    groups: dict[tuple[Hashable, GroupKey], list[Contribution]] = defaultdict(list)
    for entry in entries:
        groups[entry.owner, entry.key].append(entry)
    return groups


def _greatest(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _bounded(
    facts: TallyFacts, entries: list[Contribution]
) -> Iterable[tuple[GroupKey, tuple[int, ...]]]:
    """Bound the contributions of each person, exactly as `Tally` defines it; NULL adds nothing."""
    listed = [entry for entry in entries if entry.listed]
    match facts.tally.share:
        case Free():
            for entry in listed:
                yield entry.key, _without_null(entry.values)
        case RowShare(rows=max_rows):
            # All rows of a person, whatever their keys.
            rows = Counter(entry.owner for entry in entries)
            for entry in listed:
                values = _without_null(entry.values)
                yield entry.key, _scaled(values, max_rows, rows[entry.owner])
        case GroupRowShare() as share:
            shares = _group_shares(facts.tally, share, entries)
            for entry in listed:
                values = _without_null(entry.values)
                own_share = shares[entry.owner, entry.key[: share.keys]]
                yield entry.key, _times(values, own_share)
        case GroupShare(groups=max_groups, rows=max_rows):
            sums = _clipped_sums(facts, listed, max_rows)
            groups = Counter(owner for owner, _ in sums)
            for (owner, key), values in sums.items():
                yield key, _scaled(values, max_groups, groups[owner])
        case KeptKeys(groups=max_groups, rows=max_rows, salt=salt):
            sums = _clipped_sums(facts, listed, max_rows)
            kept = _kept_keys(sums, max_groups, salt)
            for (owner, key), values in sums.items():
                if key in kept[owner]:
                    yield key, values


def _group_shares(
    tally: Tally, share: GroupRowShare, entries: Iterable[Contribution]
) -> dict[tuple[Hashable, GroupKey | None], int]:
    """Return the share of a row of each person in each group, in parts of 2^20.

    All rows of a person that are in no listed group are one more group, None.
    """
    groups = tally.groups
    listed = None if groups is None else set(groups)
    rows: Counter[tuple[Hashable, GroupKey | None]] = Counter()
    for entry in entries:
        group = entry.key[: share.keys]
        in_list = listed is None or group in listed
        rows[entry.owner, group if in_list else None] += 1
    counted: Counter[Hashable] = Counter()
    for (owner, _), count in rows.items():
        counted[owner] += min(count, share.group_rows)
    shares = {}
    for (owner, any_group), count in rows.items():
        in_group = SHARE_FINENESS * min(count, share.group_rows) // count
        total = counted[owner]
        in_all = SHARE_FINENESS * min(total, share.rows) // total
        shares[owner, any_group] = in_group * in_all // SHARE_FINENESS
    return shares


def _without_null(values: Iterable[int | None]) -> tuple[int, ...]:
    return tuple(value or 0 for value in values)


def _kept_keys(
    sums: Iterable[tuple[Hashable, GroupKey]], max_groups: int, salt: str
) -> dict[Hashable, set[GroupKey]]:
    """Return for each person the `max_groups` keys with the smallest hash of salt, person and key.

    `sums` lists the pairs of a person and a key; their order does not matter.
    """
    keys: dict[Hashable, list[GroupKey]] = defaultdict(list)
    for owner, key in sums:
        keys[owner].append(key)
    kept = {}
    for owner, own_keys in keys.items():
        # Equal hashes go by the key.
        ranks = {key: (_hash(salt, owner, key), repr(key)) for key in own_keys}
        ordered = sorted(own_keys, key=ranks.__getitem__)
        kept[owner] = set(ordered[:max_groups])
    return kept


def _hash(salt: str, owner: Hashable, key: GroupKey) -> str:
    """Hash salt, person and key, as all stores do; it mixes, and protects nothing."""
    ids = owner if isinstance(owner, tuple) else (owner,)
    hashed = [salt]
    hashed += [f"{part}/" for part in ids]
    hashed += map(_key_text, key)
    return hashlib.md5("".join(hashed).encode(), usedforsecurity=False).hexdigest()


def _key_text(value: object) -> str:
    """Write a key's value as stores do; the first letter tells NULL from text."""
    if value is None:
        return "0"
    text = str(value)
    if isinstance(value, bool):
        text = text.lower()
    return f"1{text}"


def _scaled(values: Iterable[int], max_count: int, count: int) -> tuple[int, ...]:
    """Scale contributions by max_count/count if there are too many, in parts of 2^20.

    Both divisions round towards 0, so that no person contributes more than the bound.
    """
    if count <= max_count:
        return tuple(values)
    return _times(values, SHARE_FINENESS * max_count // count)


def _times(values: Iterable[int], share: int) -> tuple[int, ...]:
    """Scale contributions by a share in parts of 2^20, rounded towards 0."""
    scaled = []
    for value in values:
        size = abs(value) * share // SHARE_FINENESS
        scaled.append(size if value >= 0 else -size)
    return tuple(scaled)


def _clipped_sums(facts: TallyFacts, entries: Iterable[Contribution], max_rows: int) -> PersonSums:
    """Add up each person's contributions in each key; clip each sum to that of `max_rows` rows."""
    sums = {}
    for group, own in _by_person_and_key(entries).items():
        columns = zip(*(entry.values for entry in own), strict=True)
        clipped = []
        for values, term in zip(columns, facts.terms, strict=True):
            clipped.append(_clipped_sum(values, term, max_rows))
        sums[group] = tuple(clipped)
    return sums


def _clipped_sum(values: Sequence[int | None], facts: TermFacts, max_rows: int) -> int:
    # 0 is always within the bounds: a person without rows in a key adds nothing to it.
    low = min(0, max_rows * facts.term.low)
    high = max(0, max_rows * facts.term.high)
    total = sum(_without_null(values))
    return min(max(total, low), high)
