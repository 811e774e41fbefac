"""Synthetic table: noisy integers that were paid for, and free post-processing of them.

Synthetic          tables with error bars, records, and their quality
ReleasedTable      counts of the combinations of one or two columns, with confidence intervals
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import frozen, replace
from ..noise import Bits
from ..optional import load
from ..show.number import Digits, number_text
from ..show.table import html_table, text_table
from ..workloads.budget_shares import Floats
from ..workloads.estimate import ComponentEstimate
from ..workloads.project import denoised, distance, single_tables
from ..workloads.strategy_norms import Integers
from ..workloads.tail import normal_reach
from ..workloads.workload import KeySet
from .expected import LOSS, PairNoise
from .measured import Measured, group_sums
from .plan import NOT_GOOD_FOR
from .quality import PairQuality, SyntheticQuality, relation_of
from .records import Pool, draw_pool, pairs_of, pick, spread, table_of

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl

MAX_ROWS = 10_000_000
# Rows of a table that its text shows.
_SHOWN = 20
# A NULL that so many deviations of the noise could have made is none.
_NULL_DEVIATIONS = 3.0


@frozen(eq=False)
class ReleasedTable:
    """Counts by one or two columns, with error bars where they were measured.

    `noisy` are unbiased estimates, with the standard deviation `deviation`. The error bars surround
    them: a bar holds the exact count of its cell with the stated probability. `values` are never
    negative and nearer to the exact counts on the whole; one of them may lie outside its bar. A
    pair that was not measured has no bars: `deviation` is None.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[object, ...], ...]
    values: Floats
    noisy: Floats
    deviation: float | None

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats] | None:
        """Return the confidence interval of every cell, cut at 0; None if it was not measured.

        Refuses: a level outside (0, 1), by `InvalidArgument`.
        """
        if not 0 < level < 1:
            raise InvalidArgument(f"level lies between 0 and 1, such as 0.95; got {level!r}")
        if self.deviation is None:
            return None
        reach = float(normal_reach(self.deviation, 1 - level))
        return np.maximum(self.noisy - reach, 0.0), np.maximum(self.noisy + reach, 0.0)

    def to_dict(self, level: float = 0.95) -> dict[str, list[object]]:
        """Return the columns by name, the count `n`, and the ends of its error bar or None."""
        cells = list(product(*self.labels))
        found: dict[str, list[object]] = {}
        for place, name in enumerate(self.names):
            found[name] = [cell[place] for cell in cells]
        low, high = self.interval(level) or (None, None)
        for name, column in (("n", self.values), ("n_low", low), ("n_high", high)):
            # A column of the data may have the same name.
            own_name = f"{name}_" if name in self.names else name
            found[own_name] = [None] * len(cells)
            if column is not None:
                found[own_name] = list(column.ravel().tolist())
        return found

    def to_polars(self, level: float = 0.95) -> pl.DataFrame:
        """Return a Polars data frame."""
        return _polars(self.to_dict(level))

    def to_pandas(self, level: float = 0.95) -> pd.DataFrame:
        """Return a pandas data frame."""
        return load("pandas", "tables").DataFrame(self.to_dict(level))

    def __str__(self) -> str:
        heads, rows, more = self._shown()
        table = text_table([heads, *rows])
        return f"{table}\n{more}" if more else table

    def _repr_html_(self) -> str:
        heads, rows, more = self._shown()
        return html_table(heads, rows, foot=more)

    def _shown(self) -> tuple[tuple[str, ...], list[tuple[str, ...]], str]:
        """Return heads and rows as text, and how many rows more there are."""
        columns = self.to_dict()
        rows = []
        for *labels, value, low, high in zip(*columns.values(), strict=True):
            rows.append((*map(_text, labels), _count_text(value, low, high)))
        more = f"… {len(rows) - _SHOWN:,} rows more" if len(rows) > _SHOWN else ""
        # The ends stand beside the count.
        return tuple(columns)[:-2], rows[:_SHOWN], more


def _polars(columns: dict[str, list[object]]) -> pl.DataFrame:
    frame: pl.DataFrame = load("polars", "tables").DataFrame(columns, strict=False)
    return frame


def _count_text(value: object, low: object, high: object) -> str:
    """Write a count as far as it is known; without an error bar as a whole number."""
    if isinstance(value, float) and isinstance(low, float) and isinstance(high, float):
        return str(number_text(value, low, high, Digits.WHOLE))
    return f"{value:,.0f}"


def _text(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _without_last(table: Floats, emptied: Sequence[bool]) -> Floats:
    """Return a table whose last cell along some axes is empty, with the same sum.

    It is returned as it is if no other cell has rows.
    """
    held = table.copy()
    for axis, is_empty in enumerate(emptied):
        if is_empty:
            np.moveaxis(held, axis, 0)[-1] = 0.0
    others = float(held.sum())
    if not others:
        return table
    return held * (float(table.sum()) / others)


@dataclass(frozen=True, eq=False)
class Synthetic:
    """Released tables of single columns and pairs, and records made from them, free of charge.

    `table` has error bars. Records have none: they are for tools that need records. `quality`
    compares the two.

    Guarantee: everything here is post-processing of `measured`; no data is read.
    Law: tests/synthetic/test_neighbours.py::TestReplay
    """

    measured: Measured
    explanation: str = ""
    receipt: object = field(default=None, repr=False)

    @cached_property
    def _estimate(self) -> ComponentEstimate:
        return self.measured.estimate()

    @cached_property
    def _pair_estimate(self) -> ComponentEstimate:
        return self.measured.pair_estimate()

    @cached_property
    def _singles(self) -> dict[KeySet, Floats]:
        """Tables of single columns."""
        return single_tables(self._estimate)

    @cached_property
    def _tables(self) -> dict[KeySet, Floats]:
        """Tables of columns and pairs in groups of cells."""
        grouped: dict[KeySet, Floats] = {}
        for place, own in enumerate(self.measured.groups):
            grouped[place,] = group_sums(self._singles[place,], own)
        return denoised(self._pair_estimate, grouped)

    @cached_property
    def _pool(self) -> Pool:
        tables = {}
        for keys, table in self._tables.items():
            tables[keys] = _without_last(table, [place in self._no_nulls for place in keys])
        return draw_pool(tables, self.measured.cells, self._total)

    @cached_property
    def _no_nulls(self) -> frozenset[int]:
        """Columns whose count of NULLs is below three deviations of its noise.

        Noise alone could have made these NULLs, so records have none of them.
        """
        found = set()
        for place, attribute in enumerate(self.measured.attributes):
            if not attribute.null or attribute.size == 1:
                continue
            nulls = float(self._estimate.table((place,)).values[-1])
            if nulls < _NULL_DEVIATIONS * self._deviation((place,)):
                found.add(place)
        return frozenset(found)

    @property
    def _total(self) -> float:
        return max(1.0, float(self._estimate.table(()).values))

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(attribute.name for attribute in self.measured.attributes)

    @property
    def rows(self) -> int:
        """About how many rows there are: the noisy count, at least 1."""
        return round(self._total)

    def __repr__(self) -> str:
        return f"<Synthetic of {', '.join(self.columns)}, about {self.rows:,} rows>"

    def _repr_html_(self) -> str:
        """Return a table for notebooks: columns, rows, and what records are not good for."""
        facts = [("columns", ", ".join(self.columns)), ("rows", f"about {self.rows:,}")]
        return html_table(("synthetic table", ""), facts, foot=NOT_GOOD_FOR)

    def with_receipt(self, receipt: object, explanation: str) -> Synthetic:
        """Return the same with a receipt and the text of its plan."""
        return replace(self, receipt=receipt, explanation=explanation)

    def explain(self) -> str:
        """Return the measured tables, their noise, and the limits of records, as text."""
        return self.explanation or NOT_GOOD_FOR

    def table(self, *names: str) -> ReleasedTable:
        """Return the table of one or two columns, or without names the count of all rows.

        Refuses: more columns, by `InvalidArgument`. Only records tell of these, without error bars.
        """
        places = [self._place(name) for name in names]
        if len(set(places)) < len(places) or len(places) > 2:
            raise InvalidArgument(
                f"a table is of at most two different columns; got {', '.join(names)}. "
                "What three columns have in common was not measured: "
                "records guess at it, without error bars"
            )
        keys = tuple(sorted(places))
        # Columns of one cell are not measured: they tell nothing.
        live = tuple(place for place in keys if self.measured.sizes[place] > 1)
        # Cells of a pair are groups of those of its columns.
        estimate = self._estimate_of(keys)
        noisy = estimate.table(keys).values
        values = noisy
        if len(keys) == 1:
            values = self._singles[keys]
        elif keys:
            values = self._tables[keys]
        # Tables have their columns in the order of the schema, the result in that of the names.
        axes = tuple(keys.index(place) for place in places)
        return ReleasedTable(
            names,
            tuple(self._labels(place, len(keys)) for place in places),
            values.transpose(axes),
            noisy.transpose(axes),
            self._deviation(keys) if live in estimate.parts else None,
        )

    def _labels(self, place: int, keys: int) -> tuple[object, ...]:
        attribute = self.measured.attributes[place]
        if keys == 1:
            return attribute.labels
        return attribute.group_labels(self.measured.groups[place])

    def _deviation(self, keys: KeySet) -> float:
        return math.sqrt(self._estimate_of(keys).variance(keys))

    def _estimate_of(self, keys: KeySet) -> ComponentEstimate:
        if len(keys) == 2:
            return self._pair_estimate
        return self._estimate

    def records(
        self, rows: int | None = None, *, weighted: bool = False, bits: Bits | None = None
    ) -> dict[str, list[object]]:
        """Return records as columns: whole ones, by default about as many as rows, or weighted.

        Numbers lie anywhere in their bin, each step as likely. Every call makes other records; all
        cost nothing.

        Refuses: a number of weighted records, by `InvalidArgument`.
        """
        if weighted and rows is not None:
            raise InvalidArgument(
                "weighted records stand for all rows; leave out rows=, or weighted="
            )
        cells = self._pool.cells
        if not weighted:
            count = self.rows if rows is None else whole(rows, "rows", least=0, most=MAX_ROWS)
            cells = pick(self._pool, min(count, MAX_ROWS), bits)
        made: dict[str, list[object]] = {}
        for place, attribute in enumerate(self.measured.attributes):
            made[attribute.name] = attribute.draw(self._cells(place, cells[:, place], bits), bits)
        if weighted:
            # A column of the data may have the same name.
            name = "weight_" if "weight" in self.columns else "weight"
            made[name] = self._pool.weights.tolist()
        return made

    def _cells(self, place: int, groups: Integers, bits: Bits | None) -> Integers:
        """Return the cell of each record from its group, as often as its column says."""
        sizes = self.measured.sizes
        if self.measured.cells[place] == sizes[place]:
            return groups
        table = np.zeros((self.measured.cells[place], sizes[place]))
        table[self.measured.groups[place], np.arange(sizes[place])] = self._singles[place,]
        return spread(table, groups, bits)

    def to_polars(self, rows: int | None = None, *, weighted: bool = False) -> pl.DataFrame:
        """Return records as a Polars data frame."""
        return _polars(self.records(rows, weighted=weighted))

    def to_pandas(self, rows: int | None = None, *, weighted: bool = False) -> pd.DataFrame:
        """Return records as a pandas data frame."""
        return load("pandas", "tables").DataFrame(self.records(rows, weighted=weighted))

    def quality(self) -> SyntheticQuality:
        """Return the relations that were measured, and how far records are from them.

        Reads no data, costs nothing.
        """
        sizes = self.measured.cells
        pool = self._pool
        whole_records = pick(pool, min(self.rows, MAX_ROWS))
        noise = self._noise()
        losses = self._losses(noise)
        # A pair that was not measured is supposed to be like those that were, and never below the
        # constant of plans: those that were measured have few cells, hence less to lose.
        unknown = max(LOSS, sum(losses.values()) / max(1, len(losses)))
        found = []
        for pair in pairs_of(len(sizes)):
            names = tuple(self.columns[place] for place in pair)
            deviation = self._deviation(pair) if pair in self._pair_estimate.parts else None
            target = self._tables[pair]
            weighted = distance(table_of(pool.cells, pair, sizes, pool.weights), target)
            unweighted = distance(table_of(whole_records, pair, sizes), target)
            relation = 0.0
            expected = noise.single(pair[0])
            if len(pair) == 2:
                relation = relation_of(target)
                expected = noise.pair(pair, losses.get(pair, unknown))
            one = PairQuality(names, deviation, weighted, unweighted, relation, expected)
            found.append(one)
        return SyntheticQuality(tuple(found), self.columns)

    def _noise(self) -> PairNoise:
        """Return the facts from which the error of records is expected."""
        roots = []
        for place in range(len(self.columns)):
            shares = self._singles[place,] / self._total
            roots.append(float(np.sqrt(shares).sum()))
        return PairNoise(
            self.measured.sizes,
            self.measured.cells,
            self._total,
            self.measured.deviations(),
            tuple(roots),
        )

    def _losses(self, noise: PairNoise) -> dict[KeySet, float]:
        """Return how far each released pair is from the product of its columns."""
        found: dict[KeySet, float] = {}
        for pair in self._pair_estimate.parts:
            if len(pair) == 2:
                table = self._tables[pair]
                independent = np.outer(table.sum(axis=1), table.sum(axis=0))
                # A relation that noise could hide is not believed to be smaller than that.
                hidden = min(LOSS, noise.left(pair))
                found[pair] = max(distance(table, independent), hidden)
        return found

    def _place(self, name: str) -> int:
        if name not in self.columns:
            raise InvalidArgument(
                f"there is no column {name!r} here; there are {', '.join(self.columns)}"
            )
        return self.columns.index(name)
