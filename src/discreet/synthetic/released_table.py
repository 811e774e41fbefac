"""One released table: counts of the combinations of one or two columns, with error bars where they were measured."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InvalidArgument
from ..frozen import frozen
from ..optional import load
from ..show.table import text_table
from ..workloads.budget_shares import Floats
from ..workloads.tail import normal_reach

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]
    import polars as pl

_SHOWN = 20


@frozen(eq=False)
class ReleasedTable:
    """Counts by columns: `values` are the best estimates, `noisy` the unbiased ones, of which the error bars are.

    An error bar holds the truth with the stated probability, cell by cell. `values` are nearer on the whole and never
    negative; one of them may lie outside its bar. A pair that was not measured has no bar: `deviation` is None.
    """

    names: tuple[str, ...]
    labels: tuple[tuple[object, ...], ...]
    values: Floats
    noisy: Floats
    deviation: float | None

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats] | None:
        """Return the lower and upper ends for every cell, cut at 0; None for a pair that was not measured.

        Refuses a level outside (0, 1).
        """
        if not 0 < level < 1:
            raise InvalidArgument(f"level lies between 0 and 1, such as 0.95; got {level!r}")
        if self.deviation is None:
            return None
        reach = float(normal_reach(np.array([self.deviation]), 1 - level)[0])
        return np.maximum(self.noisy - reach, 0.0), np.maximum(self.noisy + reach, 0.0)

    def to_dict(self, level: float = 0.95) -> dict[str, list[object]]:
        """Return the columns by name, the count `n`, and the ends of its error bar, None where there is none."""
        cells = list(product(*self.labels))
        found: dict[str, list[object]] = {
            name: [cell[place] for cell in cells] for place, name in enumerate(self.names)
        }
        ends = self.interval(level)
        low, high = (None, None) if ends is None else ends
        for name, column in _apart(
            self.names, {"n": self.values, "n_low": low, "n_high": high}
        ).items():
            found[name] = [None] * len(cells) if column is None else list(column.ravel().tolist())
        return found

    def to_polars(self, level: float = 0.95) -> pl.DataFrame:
        """Return a Polars data frame."""
        frame: pl.DataFrame = load("polars", "tables").DataFrame(self.to_dict(level), strict=False)
        return frame

    def to_pandas(self, level: float = 0.95) -> pd.DataFrame:
        """Return a pandas data frame."""
        return load("pandas", "tables").DataFrame(self.to_dict(level))

    def __str__(self) -> str:
        columns = self.to_dict()
        rows = [tuple(map(_word, row)) for row in zip(*columns.values(), strict=True)]
        more = f"\n… {len(rows) - _SHOWN:,} rows more" if len(rows) > _SHOWN else ""
        return text_table([tuple(columns), *rows[:_SHOWN]]) + more


def _apart(
    taken: tuple[str, ...], columns: Mapping[str, Floats | None]
) -> dict[str, Floats | None]:
    """Name columns so that none is named like a column of the data."""
    return {f"{name}_" if name in taken else name: column for name, column in columns.items()}


def _word(value: object) -> str:
    if value is None:
        return ""
    return f"{value:.1f}" if isinstance(value, float) else str(value)
