"""Shares as SQL: a person's contributions are scaled by exact integer division, never sampled.

A person's rows or keys are counted by a join with the counts, or by a window where that is faster; the definition is in
`query.tally`, the proof of what one person can change in `query.sensitivity`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..query.kind import MOST_STEPS
from ..query.tally import Free, GroupShare, RowShare, Share
from .asked import Part
from .dialect import Dialect
from .read_number import clip_sql
from .select_text import named_cells, select_sql

__all__ = ["Entries", "once_sql", "shared_sql"]


@dataclass(frozen=True, slots=True)
class Entries:
    """A SELECT of what each row, or each person in a key, contributes: the SQL names of its columns.

    `values` holds for each part the column that is added up or, where the part counts, is not NULL; "*" counts rows.
    """

    sql: str
    owner: tuple[str, ...]
    keys: tuple[str, ...]
    values: tuple[str, ...]
    parts: tuple[Part, ...]
    grouped: bool = False


def once_sql(rows: Entries) -> Entries:
    """Let each person count once in a key, with the greatest of each contribution."""
    groups = [*rows.owner, *rows.keys]
    cells = {
        name: f"CASE WHEN count({name}) > 0 THEN 1 END" if part.counts else f"max({name})"
        for name, part in zip(rows.values, rows.parts, strict=True)
        if name != "*"
    }
    sql = select_sql([*groups, *named_cells(cells.items())], f"({rows.sql}) AS t", _group_by(groups))
    return Entries(sql, rows.owner, rows.keys, rows.values, rows.parts, grouped=True)


def shared_sql(rows: Entries, share: Share, dialect: Dialect) -> str:
    """Write the totals of each key, keys first; a part that counts is to be multiplied by what one count is worth
    under Free, and is complete under the other shares.
    """
    match share:
        case Free():
            cells = [
                f"count({name})" if part.counts else f"COALESCE({dialect.total(name)}, 0)"
                for name, part in zip(rows.values, rows.parts, strict=True)
            ]
            return select_sql([*rows.keys, *cells], f"({rows.sql}) AS t", _group_by(rows.keys))
        case RowShare(rows=most):
            return _by_rows(rows, most, dialect)
        case GroupShare(groups=groups, rows=most):
            return _by_groups(rows, groups, most, dialect)


def _group_by(names: Sequence[str]) -> str:
    return f"GROUP BY {', '.join(names)}" if names else ""


def _with_count(rows: Entries, dialect: Dialect) -> tuple[str, str]:
    """Give what stands before SELECT, and a source of the rows with n, how many of them are the same person's."""
    if dialect.windows:
        counted = f"count(*) OVER (PARTITION BY {', '.join(rows.owner)}) AS n"
        return "", f"({select_sql(['*', counted], f'({rows.sql}) AS t')}) AS r"
    first, source = (f"WITH w {dialect.materialized} ({rows.sql}) ", "w") if rows.grouped else ("", f"({rows.sql})")
    people = [(f"h{place}", name) for place, name in enumerate(rows.owner)]
    counts = select_sql([*named_cells(people), "count(*) AS n"], f"{source} AS t", _group_by(rows.owner))
    same = " AND ".join(f"{name} = {other}" for other, name in people)
    return first, f"{source} AS r JOIN ({counts}) AS h ON {same}"


def _share(value: str, reach: int, most: int, dialect: Dialect) -> str:
    """Write sign(c)·⌊|c|·most/n⌋ where n > most: division rounds towards 0. Where c·most could overflow, c = q·n + r is
    split, and q·most + r·most/n is rounded alike, since q and r have the sign of c.
    """
    if reach * most <= MOST_STEPS:
        part = dialect.divide(f"({value} * {most})", "n")
    else:
        part = f"({dialect.divide(value, 'n')} * {most} + {dialect.divide(f'({value} % n * {most})', 'n')})"
    return f"CASE WHEN n > {most} THEN {part} ELSE {value} END"


def _by_rows(rows: Entries, most: int, dialect: Dialect) -> str:
    """Truths are worth the same in all rows of people with n rows: they are counted by key and n, and scaled then."""
    first, source = _with_count(rows, dialect)
    inner, outer = [], []
    for place, (name, part) in enumerate(zip(rows.values, rows.parts, strict=True)):
        if part.counts:
            worth = _share(f"CAST({part.high} AS BIGINT)", abs(part.high), most, dialect)
            inner.append(f"count({name}) AS s{place}")
            outer.append(f"COALESCE(sum({dialect.wide(f's{place}')} * {worth}), 0)")
        else:
            scaled = _share(name, max(abs(part.low), abs(part.high)), most, dialect)
            inner.append(f"{dialect.total(scaled)} AS s{place}")
            outer.append(f"COALESCE(sum(s{place}), 0)")
    counted = select_sql([*rows.keys, "n", *inner], source, _group_by([*rows.keys, "n"]))
    return first + select_sql([*rows.keys, *outer], f"({counted}) AS t", _group_by(rows.keys))


def _by_groups(rows: Entries, groups: int, most: int, dialect: Dialect) -> str:
    names = [f"s{place}" for place in range(len(rows.parts))]
    sums = [_clipped_sum(v, part, most, dialect) for v, part in zip(rows.values, rows.parts, strict=True)]
    by = [*rows.owner, *rows.keys]
    sql = select_sql([*by, *named_cells(zip(names, sums, strict=True))], f"({rows.sql}) AS t", _group_by(by))
    if not rows.keys:  # everybody is in one key
        cells = [f"COALESCE({dialect.total(name)}, 0)" for name in names]
        return select_sql(cells, f"({sql}) AS t")
    clipped = Entries(sql, rows.owner, rows.keys, tuple(names), rows.parts, grouped=True)
    first, source = _with_count(clipped, dialect)
    reaches = [most * max(abs(part.term.low), abs(part.term.high)) for part in rows.parts]
    shares = [_share(name, reach, groups, dialect) for name, reach in zip(names, reaches, strict=True)]
    cells = [f"COALESCE({dialect.total(share)}, 0)" for share in shares]
    return first + select_sql([*rows.keys, *cells], source, _group_by(rows.keys))


def _clipped_sum(value: str, part: Part, most: int, dialect: Dialect) -> str:
    """Write one person's sum in one key, clipped; it is 0 if there is nothing to add."""
    low, high = min(0, most * part.term.low), max(0, most * part.term.high)
    if part.counts and part.high == part.term.high > 0:
        return f"CASE WHEN count({value}) > {most} THEN {high} ELSE count({value}) * {part.high} END"
    found = (
        f"{dialect.wide(f'count({value})')} * {part.high}" if part.counts else f"COALESCE({dialect.total(value)}, 0)"
    )
    return clip_sql(found, low, high, f"CAST({found} AS BIGINT)")
