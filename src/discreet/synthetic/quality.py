"""Quality of synthetic records: distance to the released tables. Free: no data is read."""

from __future__ import annotations

from ..frozen import frozen
from ..show.table import text_table


@frozen
class PairQuality:
    """One pair: whether it was measured, the noise on a count, and how far weighted and whole records are from it."""

    columns: tuple[str, ...]
    deviation: float | None
    weighted: float
    whole: float


@frozen
class SyntheticQuality:
    """The total variation of every pair of columns, records against released tables; `print` it.

    It says nothing about the data themselves: how far released tables are from them is what their error bars say.
    """

    pairs: tuple[PairQuality, ...]

    @property
    def weighted(self) -> float:
        """The mean total variation of weighted records."""
        return sum(one.weighted for one in self.pairs) / len(self.pairs)

    @property
    def whole(self) -> float:
        """The mean total variation of whole records."""
        return sum(one.whole for one in self.pairs) / len(self.pairs)

    def __str__(self) -> str:
        worst = sorted(self.pairs, key=lambda one: -one.whole)[:10]
        head = ("table", "noise on a count", "weighted records", "whole records")
        lines = [
            (
                " × ".join(one.columns),
                "not measured" if one.deviation is None else f"{one.deviation:.3g}",
                f"{one.weighted:.4f}",
                f"{one.whole:.4f}",
            )
            for one in worst
        ]
        mean = ("mean of all", "", f"{self.weighted:.4f}", f"{self.whole:.4f}")
        return (
            "total variation of records against released tables, the largest first\n"
            + text_table([head, *lines, mean])
        )
