"""Shares as SQL: a person's contributions are scaled by exact integer arithmetic, never sampled.

Each person's rows (or keys) are counted once, and s = ⌊2^20·k/max(n, k)⌋ is that person's share in parts of 2^20: both
cases of `query.tally` in one. A row then costs one product and one division by a constant; a count is s itself. The
counts come by a join, or by a window where that is faster; the proof of what one person can change is in
`query.sensitivity`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ...query.algebra.tally import FINE, Free, GroupShare, KeptKeys, RowShare, Share
from ...query.domains.domain import MOST_STEPS
from ..tally_analysis import TermFacts
from .contributions import Entries, EntryNumber
from .dialect import Dialect, bigint
from .rows.join_barrier import JoinSide, join_sql
from .select import named_cells, select_sql


def shared_sql(rows: Entries, share: Share, dialect: Dialect) -> str:
    """Write the totals of each key, keys first; a part that counts is to be multiplied by what one count is worth
    under Free, and is complete under the other shares.
    """
    match share:
        case Free():
            cells = [
                _count(value) if value.part.counts else _sum(value, dialect)
                for value in rows.values
            ]
            return _group(cells, rows, f"({rows.sql}) AS t")
        case RowShare(rows=most):
            return _by_rows(rows, most, dialect)
        case GroupShare(groups=groups, rows=most):
            return _by_groups(rows, groups, most, dialect)
        case KeptKeys():
            return _by_kept(rows, share, dialect)


def _group_by(names: Sequence[str]) -> str:
    return f"GROUP BY {', '.join(names)}" if names else ""


def _count(value: EntryNumber) -> str:
    return f"count({value.column})" if value.sign > 0 else f"count(*) - count({value.column})"


def _sum(value: EntryNumber, dialect: Dialect) -> str:
    """Write a sum of numbers, 0 if there are none."""
    column = value.column if dialect.hide is None else dialect.hide(value.column, "Whole")
    less = f" - {dialect.wide(f'count({column})')} * {bigint(value.less)}" if value.less else ""
    total = dialect.total(value.column, _reach(value.part) + abs(value.less))
    return f"COALESCE({'-' * (value.sign < 0)}{total}{less}, 0)"


def _reach(part: TermFacts) -> int:
    """Return how far from 0 one row's contribution can be."""
    return max(abs(part.low), abs(part.high))


def _totals(shares: Iterable[tuple[str, int]], rows: Entries, source: str, dialect: Dialect) -> str:
    """Write totals of shares, each with its reach."""
    return _group(
        [f"COALESCE({dialect.total(share, reach)}, 0)" for share, reach in shares], rows, source
    )


def _group(cells: Sequence[str], rows: Entries, source: str) -> str:
    """Write totals by key. Keys that are still as they are stored are read only now, once for each that occurs."""
    if not rows.late:
        return select_sql([*rows.keys, *cells], source, _group_by(rows.keys))
    names = [f"x{place}" for place in range(len(cells))]
    sql = select_sql(
        [*rows.keys, *named_cells(zip(names, cells, strict=True))], source, _group_by(rows.keys)
    )
    by = [f"y{place}" for place in range(len(rows.keys))]
    keys = named_cells(zip(by, (rows.late.get(key, key) for key in rows.keys), strict=True))
    read = select_sql([*keys, *names], f"({sql}) AS t")
    return select_sql([*by, *(f"sum({name})" for name in names)], f"({read}) AS t", _group_by(by))


def _by_rows(rows: Entries, most: int, dialect: Dialect) -> str:
    shares = [(_row_share(value, dialect), _reach(value.part)) for value in rows.values]
    source = (
        _with_heavy_share(rows, most, dialect)
        if dialect.heavy
        else _with_share(rows, most, dialect)
    )
    return _totals(shares, rows, source, dialect)


def _row_share(value: EntryNumber, dialect: Dialect) -> str:
    part, column = value.part, value.column
    if not part.counts:
        return _share(column, (part.low, part.high), dialect)
    share = "s" if part.high == FINE else _share(bigint(part.high), (part.high, part.high), dialect)
    return share if column == "*" else f"CASE WHEN {column} IS NOT NULL THEN {share} END"


def _share(value: str, ends: tuple[int, int], dialect: Dialect) -> str:
    """Write the share of a value between two ends: division rounds towards 0. Where c·s could overflow, c = q·2^20 + r
    is split, and q·s + r·s/2^20 is rounded alike, since q and r have the sign of c.
    """
    if max(map(abs, ends)) * FINE > MOST_STEPS:
        return f"({dialect.divide(value, str(FINE))} * s + {dialect.divide(f'({value} % {FINE} * s)', str(FINE))})"
    if ends[0] >= 0 and dialect.shift is not None:
        return dialect.shift(f"({value} * s)", FINE.bit_length() - 1)
    return dialect.divide(f"({value} * s)", str(FINE))


def _with_share(rows: Entries, most: int, dialect: Dialect, first: str = "") -> str:
    """Write a source of the rows with s; `first` names them if they are written before and read twice."""
    share = (
        f"CAST({dialect.divide(bigint(FINE * most), f'GREATEST({{}}, {bigint(most)})')} AS INTEGER)"
    )
    if rows.count:
        stored = (
            f"CAST({rows.count} AS BIGINT)"
            if rows.shared
            else f"CAST({share.format(rows.count)} AS BIGINT)"
        )
        return f"({select_sql(['*', f'{stored} AS s'], f'({rows.sql}) AS t')}) AS r"
    count = f"count({_wanted_rows(rows)})"
    if dialect.joined is None:
        counted = share.format(f"{count} OVER (PARTITION BY {', '.join(rows.owner)})")
        return f"({select_sql(['*', f'{counted} AS s'], f'({rows.sql}) AS t')}) AS r"
    source = first or f"({rows.sql})"
    people = [(f"h{place}", name) for place, name in enumerate(rows.owner)]
    cells = named_cells([*people, ("h", share.format(count))])
    counts = select_sql(cells, f"{source} AS t", _group_by(rows.owner))
    share = f"{dialect.joined('h')} AS s"
    if first:  # written before, so neither side is read anew
        same = " AND ".join(f"{name} = {other}" for other, name in people)
        return (
            f"({select_sql(['r.*', share], f'{source} AS r JOIN ({counts}) AS q ON {same}')}) AS r"
        )
    if rows.nobody:
        return _never_empty(rows, cells[-1], people[0], share)
    mine = JoinSide(rows.sql, "r", rows.owner, (), ["r.*"])
    return f"({join_sql(mine, JoinSide(counts, 'q', [other for other, _ in people], (), [share]), dialect)}) AS r"


def _never_empty(rows: Entries, counted: str, same: tuple[str, str], share: str) -> str:
    """Write the join of rows and counts with a row of nobody's on each side, which meet: no side is ever empty, so the
    other is read whatever it holds, and nobody is the first for whom rows are grouped. A side alone could be seen to
    match nothing, and be left out.
    """
    other, name = same
    mine = f"{rows.sql} UNION ALL BY NAME SELECT {rows.nobody} AS {name}"
    marked = (
        f"CASE WHEN {name} = {rows.nobody} THEN -1 ELSE {counted.removesuffix(' AS h')} END AS h"
    )
    yours = select_sql([f"{name} AS {other}", marked], f"({mine}) AS t", _group_by(rows.owner))
    joined = f"({mine}) AS r JOIN ({yours}) AS q ON {name} = {other}"
    both = f"WHERE CAST({name} AS BIGINT) + h >= 0"  # of both sides, so that it cannot be tested on one of them
    return f"({select_sql(['r.*', share], joined, both)}) AS r"


def _with_heavy_share(rows: Entries, most: int, dialect: Dialect) -> str:
    """Write a source of the rows with s, where rows stay where they are: each person's are counted in place, the counts
    are sent to each other, and only those of people with more rows than may count come back.
    """
    count = f"count({_wanted_rows(rows)})"
    share = f"CAST({dialect.divide(bigint(FINE * most), count)} AS INTEGER)"
    people = [(f"h{place}", name) for place, name in enumerate(rows.owner)]
    tail = f"{_group_by(rows.owner)} HAVING {count} > {bigint(most)}"
    heavy = select_sql(named_cells([*people, ("h", share)]), f"({rows.sql}) AS t", tail)
    same = " AND ".join(f"{name} = {other}" for other, name in people)
    cells = ["r.*", f"COALESCE(h, {FINE}) AS s"]
    return f"({select_sql(cells, f'({rows.sql}) AS r LEFT JOIN ({heavy}) AS q ON {same}')}) AS r"


def _wanted_rows(rows: Entries) -> str:
    """Write what is not NULL in rows whose keys are wanted."""
    keys = [key if key in rows.sure else rows.late.get(key, key) for key in rows.tested]
    if len(keys) > 1:
        return f"CASE WHEN {' AND '.join(f'{key} IS NOT NULL' for key in keys)} THEN 1 END"
    return keys[0] if keys else "*"


def _sums_sql(rows: Entries, most: int, dialect: Dialect) -> tuple[str, list[str], list[int]]:
    """Write each person's clipped sums in each key; with their names, and how far from 0 they can be."""
    names = [f"t{place}" for place in range(len(rows.values))]
    cells = zip(names, (_clipped_sum(value, most, dialect) for value in rows.values), strict=True)
    by = [*rows.owner, *rows.keys]
    sql = select_sql([*by, *named_cells(cells)], f"({_compact(rows, dialect)}) AS t", _group_by(by))
    return (
        sql,
        names,
        [most * max(abs(value.part.term.low), abs(value.part.term.high)) for value in rows.values],
    )


def _by_kept(rows: Entries, share: KeptKeys, dialect: Dialect) -> str:
    """Number each person's keys by the hash of salt, person and key, then by the key itself; keep the first ones."""
    sql, names, reaches = _sums_sql(rows, share.rows, dialect)
    if not rows.keys:  # everybody is in one key
        return _totals(zip(names, reaches, strict=True), rows, f"({sql}) AS t", dialect)
    wanted = " AND ".join(f"{key} IS NOT NULL" for key in rows.tested)
    words = [
        f"CASE WHEN {key} IS NULL THEN '0' ELSE '1' || {dialect.as_text(key)} END"
        for key in rows.keys
    ]
    people = [f"{dialect.as_text(name)} || '/'" for name in rows.owner]
    mixed = f"md5({' || '.join([dialect.literal(share.salt), *people, *words])})"
    order = ", ".join([mixed, *(f"{key} NULLS FIRST" for key in rows.keys)])
    place = f"row_number() OVER (PARTITION BY {', '.join(rows.owner)} ORDER BY {order}) AS s"
    placed = select_sql(["*", place], f"({sql}) AS t", f"WHERE {wanted}" if wanted else "")
    source = f"({placed}) AS r WHERE s <= {share.groups}"
    return _totals(zip(names, reaches, strict=True), replace(rows, late={}), source, dialect)


def _by_groups(rows: Entries, groups: int, most: int, dialect: Dialect) -> str:
    sql, names, reaches = _sums_sql(rows, most, dialect)
    if not rows.keys:  # everybody is in one key
        return _totals(zip(names, reaches, strict=True), rows, f"({sql}) AS t", dialect)
    lows = [
        -reach if min(v.part.low, v.part.high) < 0 else 0
        for v, reach in zip(rows.values, reaches, strict=True)
    ]
    bounds = zip(lows, reaches, strict=True)
    shares = [
        (_share(name, ends, dialect), ends[1]) for name, ends in zip(names, bounds, strict=True)
    ]
    first, people = "" if dialect.joined is None else "w", replace(rows, sql=sql, late={})
    text = _totals(shares, people, _with_share(people, groups, dialect, first), dialect)
    return f"WITH w AS MATERIALIZED ({sql}) {text}" if first else text


def _compact(rows: Entries, dialect: Dialect) -> str:
    """Write the rows with their keys read, in a form and an order that is grouped faster."""
    columns = dict.fromkeys(value.column for value in rows.values if value.column != "*")
    listed = (
        {}
        if dialect.listed is None
        else {key: dialect.listed(key, rows.labels[key]) for key in rows.labels}
    )
    order = dialect.in_order([*rows.owner, *rows.keys])
    if not listed and not rows.late:
        return rows.sql + order
    keys = [(key, listed.get(key, rows.late.get(key, key))) for key in rows.keys]
    return select_sql([*rows.owner, *named_cells(keys), *columns], f"({rows.sql}) AS t") + order


def _clipped_sum(value: EntryNumber, most: int, dialect: Dialect) -> str:
    """Write one person's sum in one key, clipped; it is 0 if there is nothing to add."""
    part = value.part
    low, high = min(0, most * part.term.low), max(0, most * part.term.high)
    if part.counts and part.high == part.term.high > 0:
        return f"LEAST(count({value.column}), {bigint(most)}) * {part.high}"
    counted = f"{dialect.wide(f'count({value.column})')} * {part.high}"
    found = counted if part.counts else _sum(value, dialect)
    above = found if min(part.low, part.high) >= 0 else f"GREATEST({found}, {bigint(low)})"
    return f"CAST(LEAST({above}, {bigint(high)}) AS BIGINT)"
