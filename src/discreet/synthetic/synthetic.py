"""Synthetic table: noisy integers that were paid for, and free post-processing of them.

Measured           the released numbers
Synthetic          tables with error bars, records, and their quality
ReleasedTable      counts of the combinations of one or two columns, with confidence intervals
SyntheticQuality   distance of records to the released tables
"""

from __future__ import annotations

import math
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
from ..show.table import text_table
from ..workloads.budget_shares import Floats
from ..workloads.estimate import ComponentEstimate
from ..workloads.project import denoised, distance
from ..workloads.residual import component_estimate
from ..workloads.strategy_norms import Integers
from ..workloads.tail import normal_reach
from ..workloads.workload import KeySet
from .attribute import Attribute
from .plan import NOT_GOOD_FOR
from .records import Pool, draw_pool, pairs_of, pick, table_of

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl

MAX_ROWS = 10_000_000
# Rows of a table, and pairs of a quality, that their texts show.
_SHOWN = 20
_SHOWN_PAIRS = 10


@frozen(eq=False)
class Measured:
    """The released numbers: noisy contrasts of each set of columns, times a whole grid."""

    attributes: tuple[Attribute, ...]
    sets: tuple[KeySet, ...]
    grids: tuple[int, ...]
    variances: tuple[float, ...]
    noisy: tuple[Integers, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of cells of each column."""
        return tuple(attribute.size for attribute in self.attributes)

    def estimate(self) -> ComponentEstimate:
        """Return the least-squares estimate of all tables."""
        return component_estimate(self.sizes, self.sets, self.noisy, self.grids, self.variances)


@frozen(eq=False)
class ReleasedTable:
    """Counts by one or two columns, with error bars where they were measured.

    `values` are the best estimates, `noisy` the unbiased ones, which the error bars surround. A bar
    holds the truth with the stated probability, cell by cell. `values` are nearer on the whole and
    never negative; one of them may lie outside its bar. A pair that was not measured has no bar:
    `deviation` is None.
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
        columns = self.to_dict()
        rows = []
        for *labels, value, low, high in zip(*columns.values(), strict=True):
            rows.append((*map(_text, labels), _count_text(value, low, high)))
        # The ends stand beside the count.
        heads = tuple(columns)[:-2]
        table = text_table([heads, *rows[:_SHOWN]])
        if len(rows) > _SHOWN:
            table += f"\n… {len(rows) - _SHOWN:,} rows more"
        return table


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


@frozen
class PairQuality:
    """Distance of weighted and of whole records to the released table of one pair.

    `deviation` is that of the noise on a count; None if the pair was not measured.
    """

    columns: tuple[str, ...]
    deviation: float | None
    weighted: float
    whole: float


@frozen
class SyntheticQuality:
    """Total variation of records against released tables, for every pair of columns; `print` it.

    It says nothing about the data: the distance of released tables to them is in their error bars.
    """

    pairs: tuple[PairQuality, ...]

    @property
    def weighted(self) -> float:
        """The mean total variation of weighted records."""
        return sum(pair.weighted for pair in self.pairs) / len(self.pairs)

    @property
    def whole(self) -> float:
        """The mean total variation of whole records."""
        return sum(pair.whole for pair in self.pairs) / len(self.pairs)

    def __str__(self) -> str:
        lines = [("table", "noise on a count", "weighted records", "whole records")]
        worst_first = sorted(self.pairs, key=lambda pair: -pair.whole)
        for pair in worst_first[:_SHOWN_PAIRS]:
            noise = "not measured" if pair.deviation is None else f"{pair.deviation:.3g}"
            name = " × ".join(pair.columns)
            lines.append((name, noise, f"{pair.weighted:.4f}", f"{pair.whole:.4f}"))
        lines.append(("mean of all", "", f"{self.weighted:.4f}", f"{self.whole:.4f}"))
        title = "total variation of records against released tables, the largest first"
        return f"{title}\n{text_table(lines)}"


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
    def _tables(self) -> dict[KeySet, Floats]:
        return denoised(self._estimate)

    @cached_property
    def _pool(self) -> Pool:
        return draw_pool(self._tables, self.measured.sizes, self._total)

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

    def with_receipt(self, receipt: object, explanation: str) -> Synthetic:
        """Return the same with a receipt and the text of its plan."""
        return replace(self, receipt=receipt, explanation=explanation)

    def explain(self) -> str:
        """Return the measured tables, their noise, and the limits of records, as text."""
        return self.explanation or NOT_GOOD_FOR

    def table(self, *names: str) -> ReleasedTable:
        """Return the table of one or two columns, or the count of all rows.

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
        noisy = self._estimate.table(keys).values
        values = self._tables[keys] if keys else noisy
        # Tables have their columns in the order of the schema, the result in that of the names.
        axes = tuple(keys.index(place) for place in places)
        return ReleasedTable(
            names,
            tuple(self.measured.attributes[place].labels for place in places),
            values.transpose(axes),
            noisy.transpose(axes),
            self._deviation(keys) if live in self._estimate.parts else None,
        )

    def _deviation(self, keys: KeySet) -> float:
        return math.sqrt(self._estimate.variance(keys))

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
            made[attribute.name] = attribute.draw(cells[:, place], bits)
        if weighted:
            # A column of the data may have the same name.
            name = "weight_" if "weight" in self.columns else "weight"
            made[name] = self._pool.weights.tolist()
        return made

    def to_polars(self, rows: int | None = None, *, weighted: bool = False) -> pl.DataFrame:
        """Return records as a Polars data frame."""
        return _polars(self.records(rows, weighted=weighted))

    def to_pandas(self, rows: int | None = None, *, weighted: bool = False) -> pd.DataFrame:
        """Return records as a pandas data frame."""
        return load("pandas", "tables").DataFrame(self.records(rows, weighted=weighted))

    def quality(self) -> SyntheticQuality:
        """Return the distance of records to the released tables; reads no data, costs nothing."""
        sizes = self.measured.sizes
        pool = self._pool
        whole_records = pick(pool, min(self.rows, MAX_ROWS))
        found = []
        for pair in pairs_of(len(sizes)):
            names = tuple(self.columns[place] for place in pair)
            deviation = self._deviation(pair) if pair in self._estimate.parts else None
            target = self._tables[pair]
            weighted = distance(table_of(pool.cells, pair, sizes, pool.weights), target)
            unweighted = distance(table_of(whole_records, pair, sizes), target)
            found.append(PairQuality(names, deviation, weighted, unweighted))
        return SyntheticQuality(tuple(found))

    def _place(self, name: str) -> int:
        if name not in self.columns:
            raise InvalidArgument(
                f"there is no column {name!r} here; there are {', '.join(self.columns)}"
            )
        return self.columns.index(name)
