"""Contribution bounding as SQL: contributions are scaled by exact integer arithmetic, not sampled.

A person with n rows (or keys), of which at most k may count, has the share
s = ⌊2^20·k/max(n, k)⌋ in parts of 2^20. Each contribution c of that person becomes c·s/2^20,
rounded towards 0, as `query.algebra.tally` defines it. The number n comes from a stored column, a
window, or a join whose tests no query optimizer can run on one side alone. `GroupRowShare`
multiplies two such shares: of the group, and of all groups. Under `KeptKeys` nothing is scaled: of
each person's keys the k with the smallest hashes stay. The influence of one person on the totals is
proved in `query.bounds.sensitivity`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...query.algebra.tally import (
    SHARE_FINENESS,
    Free,
    GroupRowShare,
    GroupShare,
    KeptKeys,
    RowShare,
    Share,
)
from ...query.domains.domain import MAX_STEPS
from ..tally_analysis import TermFacts
from .contributions import BESIDE, Entries, EntryNumber, OpenKey
from .dialect import Dialect, bigint, case_sql, cast_sql
from .rows.join_barrier import JoinSide, join_sql
from .select import all_equal, group_by, named_cells, nested, none_null, numbered, select_sql


def bounded_sql(rows: Entries, share: Share, dialect: Dialect) -> str:
    """Write the totals of each key, keys first.

    Under Free, the total of a term that counts is a plain count: the caller multiplies it by the
    value of one count. Under the other shares it is complete.

    Guarantee: one person changes the totals by no more than `query.algebra.tally` states.

    Law: tests/engines/test_contribution_bounds.py::TestOnePersonsInfluence
    """
    match share:
        case Free():
            return _unbounded(rows, dialect)
        case RowShare(rows=max_rows):
            return _by_rows(rows, max_rows, dialect)
        case GroupRowShare():
            return _by_group_rows(rows, share, dialect)
        case GroupShare(groups=max_groups, rows=max_rows):
            return _by_groups(rows, max_groups, max_rows, dialect)
        case KeptKeys():
            return _by_kept_keys(rows, share, dialect)


def _unbounded(rows: Entries, dialect: Dialect) -> str:
    cells = [_unbounded_total(value, dialect) for value in rows.values]
    return _group(cells, rows, nested(rows.sql))


def _unbounded_total(value: EntryNumber, dialect: Dialect) -> str:
    if value.facts.counts:
        return _count(value)
    return _sum(value, dialect)


def _count(value: EntryNumber) -> str:
    count = f"count({value.column})"
    return count if value.factor > 0 else f"count(*) - {count}"


def _sum(value: EntryNumber, dialect: Dialect) -> str:
    """Write a sum of numbers, 0 if there are none."""
    total = _times(dialect.total(value.column, value.size), value.factor)
    if value.squares:
        squares = dialect.total(value.square, value.size**2)
        total = f"{total} + {_times(squares, value.squares)}"
    if value.offset:
        count = dialect.wide(f"count({value.column})")
        total = f"{total} - {count} * {bigint(value.offset)}"
    return f"COALESCE({total}, 0)"


def _times(total: str, factor: int) -> str:
    match factor:
        case 1:
            return total
        case -1:
            return f"-{total}"
        case _:
            return f"{total} * {bigint(factor)}"


def _max_size(facts: TermFacts) -> int:
    """Return the largest absolute value of one row's contribution."""
    return max(abs(facts.low), abs(facts.high))


def _totals(
    numbers: Iterable[tuple[str, int]], rows: Entries, source: str, dialect: Dialect
) -> str:
    """Write totals of bounded contributions, each with its largest absolute value."""
    cells = [dialect.total(sql, size) for sql, size in numbers]
    if rows.open is None:
        cells = [f"COALESCE({cell}, 0)" for cell in cells]
    return _group(cells, rows, source)


def _group(cells: Sequence[str], rows: Entries, source: str) -> str:
    """Write totals by key; keys are read from their codes here, once for each that occurs."""
    if rows.open is not None:
        return _in_lists(cells, rows, rows.open, source)
    by_codes = group_by(rows.keys)
    if rows.keys == rows.read_keys:
        return select_sql([*rows.keys, *cells], source, by_codes)
    names = numbered("x", len(cells))
    totals = named_cells(zip(names, cells, strict=True))
    sql = select_sql([*rows.keys, *totals], source, by_codes)
    # Several codes may be one key, so totals are added up again by the keys as read.
    read_names = numbered("y", len(rows.read_keys))
    read_keys = named_cells(zip(read_names, rows.read_keys, strict=True))
    read = select_sql([*read_keys, *names], nested(sql))
    sums = [f"sum({name})" for name in names]
    return select_sql([*read_names, *sums], nested(read), group_by(read_names))


def _in_lists(totals: Sequence[str], rows: Entries, last: OpenKey, source: str) -> str:
    """Write one row for each value of the other keys: lists of groups of the last, and of totals.

    A group is of `BESIDE` values, each with totals of its own: so there are fewer groups, and often
    few enough for an array. All lists of a row are made from the same rows at the same time, so
    they are in one order.
    """
    *listed, name = rows.keys
    distance = f"({name} - {bigint(last.low)})"
    bits = BESIDE.bit_length() - 1
    # No value is beyond its domain; a cast that could fail would tell of a row.
    group = f"TRY_CAST({distance} >> {bits} AS {last.group_type})"
    place = f"TRY_CAST(COALESCE({distance} & {BESIDE - 1}, 0) AS UTINYINT)"
    placed = select_sql(["*", f"{group} AS kg", f"{place} AS kp"], source)
    aggregates = []
    for total in totals:
        for number in range(BESIDE):
            aggregates.append(f"{total} FILTER (WHERE kp = {number})")
    names = numbered("x", len(aggregates))
    cells = named_cells(zip(names, aggregates, strict=True))
    grouped = select_sql([*listed, "kg", *cells], nested(placed), group_by([*listed, "kg"]))
    read_names = numbered("y", len(listed))
    read_keys = named_cells(zip(read_names, rows.read_keys, strict=False))
    read = select_sql([*read_keys, "kg", *names], nested(grouped))
    lists = ["list(CAST(COALESCE(kg, -1) AS BIGINT)) AS z"]
    lists += [f"list(CAST(COALESCE({name}, 0) AS BIGINT)) AS z{name}" for name in names]
    return select_sql([*read_names, *lists], nested(read), group_by(read_names))


def _by_rows(rows: Entries, max_rows: int, dialect: Dialect) -> str:
    numbers = [(_row_share(value, dialect), _max_size(value.facts)) for value in rows.values]
    with_share = _with_heavy_share if dialect.heavy else _with_share
    source = with_share(rows, max_rows, dialect)
    return _totals(numbers, rows, source, dialect)


def _by_group_rows(rows: Entries, share: GroupRowShare, dialect: Dialect) -> str:
    """Write totals of rows that are scaled by the bound per group and by the bound of all groups.

    A person has n_j rows in group j; at most r rows of a group and K of all groups count. Windows
    count in place: no row is joined, so no side of a join can be left unread, and keys that are
    NULL are one group. T = Σ_j min(n_j, r) is counted as the number of rows whose number within
    their group is at most r; their order does not matter.
    """
    numbers = [(_row_share(value, dialect), _max_size(value.facts)) for value in rows.values]
    owner = ", ".join(rows.owner)
    group = list(rows.keys[: share.keys])
    if rows.group_test:
        # A test that is NULL is not true: all rows outside the list are one group.
        group = [case_sql(rows.group_test, key) for key in group]
        group.append(case_sql(rows.group_test, "1"))
    groups = f"PARTITION BY {', '.join([owner, *group])}"
    counted = f"count(*) OVER ({groups}) AS nj, row_number() OVER ({groups} ORDER BY 1) AS ij"
    by_group = select_sql(["*", counted], nested(rows.sql))
    group_rows = bigint(share.group_rows)
    within = case_sql(f"ij <= {group_rows}", "1")
    total = f"count({within}) OVER (PARTITION BY {owner}) AS nt"
    by_person = select_sql(["*", total], nested(by_group))
    in_group = dialect.divide(f"({bigint(SHARE_FINENESS)} * LEAST(nj, {group_rows}))", "nj")
    in_all = _share_sql("nt", share.rows, dialect)
    weight = dialect.divide(f"({in_group} * {in_all})", str(SHARE_FINENESS))
    weighed = replace(rows, sql=select_sql(["*", f"{weight} AS s"], nested(by_person)))
    return _totals(numbers, rows, nested(weighed.listed_sql, "r"), dialect)


def _row_share(value: EntryNumber, dialect: Dialect) -> str:
    """Write the bounded contribution of one row."""
    facts = value.facts
    if not facts.counts:
        return _scaled(value.column, (facts.low, facts.high), dialect)
    # A count that is worth 2^20 parts contributes exactly the share.
    share = "s"
    if facts.high != SHARE_FINENESS:
        share = _scaled(bigint(facts.high), (facts.high, facts.high), dialect)
    if value.column == "*":
        return share
    return case_sql(f"{value.column} IS NOT NULL", share)


def _scaled(value: str, ends: tuple[int, int], dialect: Dialect) -> str:
    """Write a value between two ends, scaled by the person's share s in parts of 2^20.

    Division rounds towards 0, so that no contribution grows by rounding. Where c·s could overflow,
    c = q·2^20 + r is split: q·s + r·s/2^20 is rounded alike, since q and r have the sign of c.
    """
    if max(map(abs, ends)) * SHARE_FINENESS > MAX_STEPS:
        quotient = dialect.divide(value, str(SHARE_FINENESS))
        remainder = dialect.divide(f"({value} % {SHARE_FINENESS} * s)", str(SHARE_FINENESS))
        return f"({quotient} * s + {remainder})"
    product = f"({value} * s)"
    # A shift rounds down, which is towards 0 only where nothing is negative.
    if ends[0] >= 0 and dialect.shift is not None:
        return dialect.shift(product, SHARE_FINENESS.bit_length() - 1)
    return dialect.divide(product, str(SHARE_FINENESS))


def _share_sql(count: str, max_count: int, dialect: Dialect) -> str:
    """Write s = ⌊2^20·k/max(n, k)⌋, rounded down so that n shares are at most k."""
    divisor = f"GREATEST({count}, {bigint(max_count)})"
    return cast_sql(dialect.divide(bigint(SHARE_FINENESS * max_count), divisor), "INTEGER")


def _with_share(
    rows: Entries, max_count: int, dialect: Dialect, count: str = "count(*)", first: str = ""
) -> str:
    """Write a source of the listed rows, each with the share s of its person.

    `count` is the SQL of what is compared with `max_count`, grouped by person. `first` is the name
    of a WITH clause that holds the rows, "" if there is none.
    """
    if rows.count:
        return _with_stored_share(rows, max_count, dialect)
    if dialect.joined is None:
        window = f"{count} OVER (PARTITION BY {', '.join(rows.owner)})"
        share = _share_sql(window, max_count, dialect)
        counted = replace(rows, sql=select_sql(["*", f"{share} AS s"], nested(rows.sql)))
        return nested(counted.listed_sql, "r")
    source = first or f"({rows.sql})"
    # The owner's columns have other names on the side of the counts.
    owners = numbered("h", len(rows.owner))
    pairs = list(zip(owners, rows.owner, strict=True))
    cells = named_cells([*pairs, ("h", _share_sql(count, max_count, dialect))])
    counts = select_sql(cells, f"{source} AS t", group_by(rows.owner))
    share = f"{dialect.joined('h')} AS s"
    if first:
        # The WITH clause is materialized, so neither side is read anew: a plain join will do.
        matched = all_equal(zip(rows.owner, owners, strict=True))
        joined = f"{source} AS r JOIN ({counts}) AS q ON {matched}"
        return nested(select_sql(["r.*", share], joined), "r")
    if rows.nobody:
        return _never_empty(rows, cells[-1], pairs[0], share)
    left = JoinSide(rows.listed_sql, "r", rows.owner, (), ["r.*"])
    right = JoinSide(counts, "q", owners, (), [share])
    return nested(join_sql(left, right, dialect), "r")


def _with_stored_share(rows: Entries, max_count: int, dialect: Dialect) -> str:
    """Write a source of the rows with s, from the stored share or number of rows."""
    stored = rows.count
    if not rows.is_share:
        stored = _share_sql(rows.count, max_count, dialect)
    share = f"CAST({stored} AS BIGINT) AS s"
    return nested(select_sql(["*", share], nested(rows.listed_sql)), "r")


def _never_empty(rows: Entries, counted: str, pair: tuple[str, str], share: str) -> str:
    """Write the join of rows and counts, with one added row on each side; the added rows match.

    `counted` is the share of a person as SQL, `pair` the names of the owner on both sides, `share`
    the SQL of the share in the result.

    The added rows belong to `rows.nobody`, a number that no person has. So neither side is ever
    empty, and DuckDB always reads the other side. An added row on one side only would match
    nothing, and an optimizer could leave it out.
    """
    other, name = pair
    guard = f"UNION ALL BY NAME SELECT {rows.nobody} AS {name}"
    # Keys are tested before the row is added: it has none, and would be left out by their test.
    left = f"{rows.listed_sql} {guard}"
    share_of_group = counted.removesuffix(" AS h")
    marked = f"CASE WHEN {name} = {rows.nobody} THEN -1 ELSE {share_of_group} END AS h"
    cells = [f"{name} AS {other}", marked]
    right = select_sql(cells, nested(f"{rows.sql} {guard}"), group_by(rows.owner))
    joined = f"({left}) AS r JOIN ({right}) AS q ON {name} = {other}"
    # The test reads both sides, so that no optimizer can run it on one of them alone.
    test = f"WHERE CAST({name} AS BIGINT) + h >= 0"
    return nested(select_sql(["r.*", share], joined, test), "r")


def _with_heavy_share(rows: Entries, max_rows: int, dialect: Dialect) -> str:
    """Write a source of the rows with s, where rows are not moved between machines.

    Each person's rows are counted in place, and the counts are exchanged. Only the counts of people
    with more rows than may count come back.
    """
    count = "count(*)"
    share = cast_sql(dialect.divide(bigint(SHARE_FINENESS * max_rows), count), "INTEGER")
    owners = numbered("h", len(rows.owner))
    heavy_cells = named_cells([*zip(owners, rows.owner, strict=True), ("h", share)])
    tail = f"{group_by(rows.owner)} HAVING {count} > {bigint(max_rows)}"
    heavy = select_sql(heavy_cells, nested(rows.sql), tail)
    # People who are not heavy have no partner, and count in full.
    cells = ["r.*", f"COALESCE(h, {SHARE_FINENESS}) AS s"]
    matched = all_equal(zip(rows.owner, owners, strict=True))
    joined = f"({rows.listed_sql}) AS r LEFT JOIN ({heavy}) AS q ON {matched}"
    return nested(select_sql(cells, joined), "r")


def _listed_groups(rows: Entries) -> str:
    """Write the count of a person's keys, without those that have a NULL where none is listed."""
    if not rows.tested:
        return "count(*)"
    if len(rows.tested) == 1:
        return f"count({rows.tested[0]})"
    return f"count({case_sql(none_null(rows.tested), '1')})"


def _sums_sql(rows: Entries, max_rows: int, dialect: Dialect) -> tuple[str, list[str], list[int]]:
    """Write each person's clipped sums in each key, with their names and largest absolute values."""
    names = numbered("t", len(rows.values))
    groups = [*rows.owner, *rows.keys]
    if rows.once and all(value.facts.counts for value in rows.values):
        # Rows are grouped by person and key already, so there is nothing left to add up.
        cells = named_cells(zip(names, map(_once, rows.values), strict=True))
        sql = select_sql([*groups, *cells], nested(rows.sql))
    else:
        sums = [_clipped_sum(value, max_rows, dialect) for value in rows.values]
        cells = named_cells(zip(names, sums, strict=True))
        sql = select_sql([*groups, *cells], nested(_compact(rows, dialect)), group_by(groups))
    sizes = []
    for value in rows.values:
        term = value.facts.term
        largest = max(abs(term.low), abs(term.high))
        sizes.append(max_rows * largest)
    return sql, names, sizes


def _once(value: EntryNumber) -> str:
    """Write the contribution of a person who counts once in a key: one row's contribution."""
    count = bigint(value.facts.high)
    if value.column == "*":
        return count
    return case_sql(f"{value.column} IS NOT NULL", count, "0")


def _by_kept_keys(rows: Entries, share: KeptKeys, dialect: Dialect) -> str:
    """Write totals in which each person counts in the first `share.groups` keys only.

    A person's keys are in the order of the hash of salt, person and key, then of the key itself.
    """
    sql, names, sizes = _sums_sql(rows, share.rows, dialect)
    numbers = list(zip(names, sizes, strict=True))
    if not rows.keys:
        # Without keys everybody is in one group, of which nothing is dropped.
        return _totals(numbers, rows, nested(sql), dialect)
    # Keys that count nowhere must not take the rank of one that does.
    wanted = f"WHERE {none_null(rows.tested)}" if rows.tested else ""
    counted = select_sql(["*"], nested(sql), wanted)
    if dialect.joined is None:
        source = _first_keys(nested(counted), rows, share, dialect)
        return _totals(numbers, rows, source, dialect)
    # Sorting costs most: only people with more keys than may count are sorted.
    matched = all_equal((f"r.{name}", f"q.{name}") for name in rows.owner)
    keys_of_person = select_sql([*rows.owner, "count(*) AS m"], "w", group_by(rows.owner))
    joined = select_sql(["r.*", "q.m"], f"w AS r JOIN ({keys_of_person}) AS q ON {matched}")
    few = select_sql([*rows.keys, *names], "j", f"WHERE m <= {share.groups}")
    many = nested(select_sql(["*"], "j", f"WHERE m > {share.groups}"))
    first = select_sql([*rows.keys, *names], _first_keys(many, rows, share, dialect))
    text = _totals(numbers, rows, nested(f"{few} UNION ALL {first}", "r"), dialect)
    return f"WITH w AS MATERIALIZED ({counted}), j AS MATERIALIZED ({joined}) {text}"


def _first_keys(source: str, rows: Entries, share: KeptKeys, dialect: Dialect) -> str:
    """Write a source of the keys of each person that come first in the order of their hashes."""
    hashed = [dialect.literal(share.salt)]
    hashed += [f"{dialect.as_text(name)} || '/'" for name in rows.owner]
    hashed += [_hashed_key(key, dialect) for key in rows.keys]
    order = [f"md5({' || '.join(hashed)})"]
    order += [f"{key} NULLS FIRST" for key in rows.keys]
    window = f"PARTITION BY {', '.join(rows.owner)} ORDER BY {', '.join(order)}"
    ranked = select_sql(["*", f"row_number() OVER ({window}) AS s"], source)
    return f"({ranked}) AS r WHERE s <= {share.groups}"


def _hashed_key(key: str, dialect: Dialect) -> str:
    """Write a key as text; the first letter tells NULL from text."""
    return case_sql(f"{key} IS NULL", "'0'", f"'1' || {dialect.as_text(key)}")


def _by_groups(rows: Entries, max_groups: int, max_rows: int, dialect: Dialect) -> str:
    """Write totals under `GroupShare`: clipped sums, scaled if their person is in many keys."""
    sql, names, sizes = _sums_sql(rows, max_rows, dialect)
    if not rows.keys:
        # Without keys everybody is in one group: the sums are clipped, and nothing is scaled.
        return _totals(zip(names, sizes, strict=True), rows, nested(sql), dialect)
    numbers = []
    for value, name, size in zip(rows.values, names, sizes, strict=True):
        # Sums of positive contributions are never negative, which saves a test in the scaling.
        can_be_negative = min(value.facts.low, value.facts.high) < 0
        low = -size if can_be_negative else 0
        numbers.append((_scaled(name, (low, size), dialect), size))
    people = replace(rows, sql=sql)
    count = _listed_groups(rows)
    if dialect.joined is None:
        source = _with_share(people, max_groups, dialect, count)
        return _totals(numbers, people, source, dialect)
    # Materialized: the sums are needed for the counts and for the totals, and are made once.
    source = _with_share(people, max_groups, dialect, count, "w")
    text = _totals(numbers, people, source, dialect)
    return f"WITH w AS MATERIALIZED ({sql}) {text}"


def _compact(rows: Entries, dialect: Dialect) -> str:
    """Write the rows with their keys in a form and an order that is grouped faster."""
    order = dialect.in_order([*rows.owner, *rows.keys])
    enums = {}
    if dialect.listed is not None:
        for key, labels in rows.labels.items():
            enums[key] = dialect.listed(key, labels)
    if not enums:
        return rows.sql + order
    keys = [(key, enums.get(key, key)) for key in rows.keys]
    columns = dict.fromkeys(value.column for value in rows.values if value.column != "*")
    cells = [*rows.owner, *named_cells(keys), *columns]
    return select_sql(cells, nested(rows.sql)) + order


def _clipped_sum(value: EntryNumber, max_rows: int, dialect: Dialect) -> str:
    """Write one person's sum in one key, clipped; it is 0 if there is nothing to add."""
    facts = value.facts
    if facts.counts and facts.high == facts.term.high > 0:
        return f"LEAST(count({value.column}), {bigint(max_rows)}) * {facts.high}"
    total = f"{dialect.wide(f'count({value.column})')} * {facts.high}"
    if not facts.counts:
        total = _sum(value, dialect)
    # 0 is always within the bounds: a person without rows in a key adds nothing to it.
    low = min(0, max_rows * facts.term.low)
    high = max(0, max_rows * facts.term.high)
    if min(facts.low, facts.high) < 0:
        total = f"GREATEST({total}, {bigint(low)})"
    return f"CAST(LEAST({total}, {bigint(high)}) AS BIGINT)"
