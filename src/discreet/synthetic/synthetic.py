"""Synthetic table: noisy whole numbers that were paid for, and free post-processing of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import frozen, replace
from ..noise import Bits
from ..optional import load
from ..workloads.budget_shares import Floats
from ..workloads.estimate import ComponentEstimate, to_steps
from ..workloads.project import denoised, distance
from ..workloads.strategy_norms import Integers
from .attribute import Attribute
from .plan import NOT_GOOD_FOR
from .quality import PairQuality, SyntheticQuality
from .records import Pool, draw_pool, pick, table_of
from .released_table import ReleasedTable

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl

KeySet = tuple[int, ...]
MAX_ROWS = 10_000_000


@frozen(eq=False)
class Measured:
    """What was released: for each set of columns its noisy contrasts, times a whole grid, and the noise's variance."""

    attributes: tuple[Attribute, ...]
    sets: tuple[KeySet, ...]
    grids: tuple[int, ...]
    variances: tuple[float, ...]
    noisy: tuple[Integers, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each column has."""
        return tuple(one.size for one in self.attributes)

    def estimate(self) -> ComponentEstimate:
        """Return the least-squares estimate of all tables."""
        sizes, parts, own = self.sizes, {}, {}
        for part, grid, variance, noisy in zip(
            self.sets, self.grids, self.variances, self.noisy, strict=True
        ):
            shape = tuple(sizes[place] for place in part)
            cells = math.prod(shape)
            parts[part] = to_steps(noisy.reshape(shape) / (grid * cells))  # floats from here on
            own[part] = variance / cells**2
        return ComponentEstimate(sizes, parts, own)


@dataclass(frozen=True, eq=False)
class Synthetic:
    """Released tables of single columns and pairs, and records made from them. Everything here is free.

    `table` has error bars. Records have none: they are for tools that need records. `quality` compares the two.
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
        return tuple(one.name for one in self.measured.attributes)

    @property
    def rows(self) -> int:
        """About how many rows there are: the noisy count, at least 1."""
        return round(self._total)

    def __repr__(self) -> str:
        return f"<Synthetic of {', '.join(self.columns)}, about {self.rows:,} rows>"

    def with_receipt(self, receipt: object, explanation: str) -> Synthetic:
        """Return the same with a receipt and with what was planned."""
        return replace(self, receipt=receipt, explanation=explanation)

    def explain(self) -> str:
        """Return what was measured, with which noise, and what records are not good for."""
        return self.explanation or NOT_GOOD_FOR

    def table(self, *names: str) -> ReleasedTable:
        """Return the table of one or two columns, or the count of all rows.

        Refuses more columns: of these only records tell, without error bars.
        """
        places = [self._place(name) for name in names]
        if len(set(places)) < len(places) or len(places) > 2:
            raise InvalidArgument(
                f"a table is of at most two different columns; got {', '.join(names)}. What three columns have in "
                "common was not measured: records guess at it, without error bars"
            )
        keys = tuple(sorted(places))
        live = tuple(place for place in keys if self.measured.sizes[place] > 1)
        known = live in self._estimate.parts
        noisy = self._estimate.table(keys).values
        values = noisy if not keys else self._tables[keys]
        turn = tuple(keys.index(place) for place in places)
        return ReleasedTable(
            tuple(self.columns[place] for place in places),
            tuple(self.measured.attributes[place].labels for place in places),
            values.transpose(turn),
            noisy.transpose(turn),
            math.sqrt(self._estimate.variance(keys)) if known else None,
        )

    def records(
        self, rows: int | None = None, *, weighted: bool = False, bits: Bits | None = None
    ) -> dict[str, list[object]]:
        """Return records as columns: whole ones, `rows` of them or about as many as there are, or weighted ones.

        Numbers lie anywhere in their bin, each step as likely. Every call makes other records; all cost nothing.
        """
        cells, more = self._pool.cells, {}
        if weighted:
            if rows is not None:
                raise InvalidArgument(
                    "weighted records stand for all rows; leave out rows=, or weighted="
                )
            more = {
                "weight_" if "weight" in self.columns else "weight": list(
                    self._pool.weights.tolist()
                )
            }
        else:
            count = self.rows if rows is None else whole(rows, "rows", least=0, most=MAX_ROWS)
            cells = pick(self._pool, min(count, MAX_ROWS), bits)
        made = {
            one.name: one.draw(cells[:, place], bits)
            for place, one in enumerate(self.measured.attributes)
        }
        return {**made, **more}

    def to_polars(self, rows: int | None = None, *, weighted: bool = False) -> pl.DataFrame:
        """Return records as a Polars data frame."""
        made = self.records(rows, weighted=weighted)
        frame: pl.DataFrame = load("polars", "tables").DataFrame(made, strict=False)
        return frame

    def to_pandas(self, rows: int | None = None, *, weighted: bool = False) -> pd.DataFrame:
        """Return records as a pandas data frame."""
        return load("pandas", "tables").DataFrame(self.records(rows, weighted=weighted))

    def quality(self) -> SyntheticQuality:
        """Return how far records are from the released tables, pair by pair; no data is touched, nothing is spent."""
        sizes, pool = self.measured.sizes, self._pool
        whole_ones = pick(pool, min(self.rows, MAX_ROWS))
        pairs: list[KeySet] = [*combinations(range(len(sizes)), 2)] or [(0,)]
        found = []
        for pair in pairs:
            target = self._tables[pair]
            apart = [
                distance(table_of(pool.cells, pair, sizes, pool.weights), target),
                distance(table_of(whole_ones, pair, sizes), target),
            ]
            known = (
                math.sqrt(self._estimate.variance(pair)) if pair in self._estimate.parts else None
            )
            found.append(PairQuality(tuple(self.columns[place] for place in pair), known, *apart))
        return SyntheticQuality(tuple(found))

    def _place(self, name: str) -> int:
        if name not in self.columns:
            raise InvalidArgument(
                f"there is no column {name!r} here; there are {', '.join(self.columns)}"
            )
        return self.columns.index(name)
