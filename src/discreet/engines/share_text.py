"""Shares as SQL: a person's contributions are scaled by exact integer division, never sampled.

A person with n rows (or keys) of which k may count has d = max(n, k), and sign(c)·⌊|c|·k/d⌋ is both rules of
`query.tally` at once: with n ≤ k it is c. The rows or keys of each person are counted by a join with the counts, or by
a window where that is faster; the proof of what one person can change is in `query.sensitivity`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ..query.kind import MOST_STEPS
from ..query.tally import Free, GroupShare, RowShare, Share
from .asked import Part
from .dialect import Dialect, bigint
from .read_number import clip_sql
from .select_text import named_cells, select_sql

__all__ = ["Entries", "once_sql", "shared_sql"]

EXACT = 1 << 52
"""For a, b ≤ 2^52 the quotient of doubles never reaches a whole number that a/b is below: they are 1/b apart or more,
and that is more than half the distance of doubles there. So it is rounded towards 0 as integers are."""


@dataclass(frozen=True, slots=True)
class Entries:
    """A SELECT of what each row, or each person in a key, contributes: the SQL names of its columns.

    `values` holds for each part the column that is added up or, where the part counts, is not NULL; "*" counts rows.
    `labels` lists the values of those keys that are text and can only be one of a few. `every` has the rows without a
    key too, where such rows may be added up because nobody reads what they add up to: a test less for each row.
    """

    sql: str
    every: str
    owner: tuple[str, ...]
    keys: tuple[str, ...]
    values: tuple[str, ...]
    parts: tuple[Part, ...]
    labels: Mapping[str, Sequence[str]]
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
    return replace(rows, sql=sql, every=sql, grouped=True)


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
            return select_sql([*rows.keys, *cells], f"({rows.every}) AS t", _group_by(rows.keys))
        case RowShare(rows=most):
            return _by_rows(rows, most, dialect)
        case GroupShare(groups=groups, rows=most):
            return _by_groups(rows, groups, most, dialect)


def _group_by(names: Sequence[str]) -> str:
    return f"GROUP BY {', '.join(names)}" if names else ""


@dataclass(frozen=True, slots=True)
class _Divided:
    """How to write shares of `most`: by doubles if all that is shared is small, else by integers."""

    most: int
    doubles: bool
    dialect: Dialect

    def source(self, rows: Entries) -> tuple[str, str]:
        """Give what stands before SELECT, and a source of the rows with d, by which what they contribute is divided."""
        if self.dialect.windows:
            count = f"count(*) OVER (PARTITION BY {', '.join(rows.owner)})"
            counted = f"{self._divisor(count)} AS d"
            return "", f"({select_sql(['*', counted], f'({rows.sql}) AS t')}) AS r"
        first, source, every = "", f"({rows.sql})", f"({rows.every})"
        if rows.grouped:
            first, source, every = f"WITH w AS MATERIALIZED ({rows.sql}) ", "w", "w"
        people = [(f"h{place}", name) for place, name in enumerate(rows.owner)]
        cells = [*named_cells(people), f"{self._divisor('count(*)')} AS d"]
        counts = select_sql(cells, f"{source} AS t", _group_by(rows.owner))
        same = " AND ".join(f"{name} = {other}" for other, name in people)
        return first, f"{every} AS r JOIN ({counts}) AS h ON {same}"

    def _divisor(self, count: str) -> str:
        most = f"GREATEST({count}, {bigint(self.most)})"
        return self.dialect.as_double(most) if self.doubles else most

    def share(self, value: str, reach: int) -> str:
        """Write the share of a value that is at most `reach` from 0: division rounds towards 0. Where c·k could
        overflow, c = q·d + r is split, and q·k + r·k/d is rounded alike, since q and r have the sign of c.
        """
        divide = self.dialect.divide
        if self.doubles:
            return f"CAST(trunc({value} * {self.dialect.double(float(self.most))} / d) AS BIGINT)"
        if reach * self.most <= MOST_STEPS:
            return divide(f"({value} * {self.most})", "d")
        return f"({divide(value, 'd')} * {self.most} + {divide(f'({value} % d * {self.most})', 'd')})"


def _divided(most: int, reaches: Sequence[int], dialect: Dialect) -> _Divided:
    return _Divided(most, dialect.doubles and max(reaches) * most <= EXACT, dialect)


def _by_rows(rows: Entries, most: int, dialect: Dialect) -> str:
    reaches = [max(abs(part.low), abs(part.high)) for part in rows.parts]
    divided = _divided(most, reaches, dialect)
    first, source = divided.source(rows)
    shares = []
    for name, part, reach in zip(rows.values, rows.parts, reaches, strict=True):
        share = divided.share(bigint(part.high) if part.counts else name, reach)
        shares.append(f"CASE WHEN {name} IS NOT NULL THEN {share} END" if part.counts and name != "*" else share)
    cells = [f"COALESCE({dialect.total(share)}, 0)" for share in shares]
    return first + select_sql([*rows.keys, *cells], source, _group_by(rows.keys))


def _compact(rows: Entries, dialect: Dialect) -> str:
    """Write the rows with keys that are grouped faster than text."""
    if dialect.listed is None or not rows.labels:
        return rows.sql
    keys = [(key, dialect.listed(key, rows.labels[key]) if key in rows.labels else key) for key in rows.keys]
    values = [value for value in rows.values if value != "*"]
    return select_sql([*rows.owner, *named_cells(keys), *values], f"({rows.sql}) AS t")


def _by_groups(rows: Entries, groups: int, most: int, dialect: Dialect) -> str:
    names = [f"s{place}" for place in range(len(rows.parts))]
    sums = [_clipped_sum(v, part, most, dialect) for v, part in zip(rows.values, rows.parts, strict=True)]
    by, source = [*rows.owner, *rows.keys], f"({_compact(rows, dialect)}) AS t"
    sql = select_sql([*by, *named_cells(zip(names, sums, strict=True))], source, _group_by(by))
    if not rows.keys:  # everybody is in one key
        cells = [f"COALESCE({dialect.total(name)}, 0)" for name in names]
        return select_sql(cells, f"({sql}) AS t")
    reaches = [most * max(abs(part.term.low), abs(part.term.high)) for part in rows.parts]
    divided = _divided(groups, reaches, dialect)
    first, source = divided.source(replace(rows, sql=sql, every=sql, grouped=True))
    shares = [divided.share(name, reach) for name, reach in zip(names, reaches, strict=True)]
    cells = [f"COALESCE({dialect.total(share)}, 0)" for share in shares]
    return first + select_sql([*rows.keys, *cells], source, _group_by(rows.keys))


def _clipped_sum(value: str, part: Part, most: int, dialect: Dialect) -> str:
    """Write one person's sum in one key, clipped; it is 0 if there is nothing to add."""
    low, high = min(0, most * part.term.low), max(0, most * part.term.high)
    if part.counts and part.high == part.term.high > 0:
        return f"LEAST(count({value}), {bigint(most)}) * {part.high}"
    found = (
        f"{dialect.wide(f'count({value})')} * {part.high}" if part.counts else f"COALESCE({dialect.total(value)}, 0)"
    )
    return clip_sql(found, low, high, f"CAST({found} AS BIGINT)")
