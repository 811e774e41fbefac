"""Quality of synthetic records: which pairs of columns were measured, and how near records are.

It compares records with the released tables, as text, table and picture. Everything follows from
released numbers: no data is read, nothing is spent.
"""

from __future__ import annotations

import math

import numpy as np

from ..frozen import frozen
from ..show.markup import Html, element, picture, text
from ..show.table import html_table, text_table
from ..workloads.budget_shares import Floats

# Pairs that the text shows, and the side of one square of the picture.
_SHOWN_PAIRS = 10
_SIDE = 24
_LABELS = 110
_HEAD = ("pair", "relation", "noise on a count", "expected", "weighted records", "whole records")


@frozen
class PairQuality:
    """One pair of columns: its relation, and the distance of records to its released table.

    `deviation` is that of the noise on a count; None if the pair was not measured. `relation` is
    Cramér's V of the released table: 0 for columns that are independent, 1 if one tells the other.
    `expected` is the total variation of records to the data that noise and cells let expect;
    `weighted` and `whole` are those of records to the released table.
    """

    columns: tuple[str, ...]
    deviation: float | None
    weighted: float
    whole: float
    relation: float = 0.0
    expected: float = 0.0

    @property
    def measured(self) -> bool:
        """True if the pair was measured; if not, its columns are made as if independent."""
        return self.deviation is not None

    @property
    def name(self) -> str:
        """The names of the columns."""
        return " × ".join(self.columns)

    @property
    def line(self) -> tuple[str, ...]:
        """The pair as a line of a table."""
        noise = "not measured"
        relation = "unknown"
        if self.deviation is not None:
            noise = f"{self.deviation:.3g}"
            relation = f"{self.relation:.2f}"
        return (self.name, relation, noise, *_texts(self.expected, self.weighted, self.whole))


@frozen
class SyntheticQuality:
    """Relations that were measured and those that were not, and the error of records; `print` it.

    The distance of records to released tables is exact. Their distance to the data is expected from
    noise and cells: a comparison with the data would be another question about the data.
    """

    pairs: tuple[PairQuality, ...]
    names: tuple[str, ...] = ()

    @property
    def weighted(self) -> float:
        """The mean total variation of weighted records to released tables."""
        return sum(pair.weighted for pair in self.pairs) / len(self.pairs)

    @property
    def whole(self) -> float:
        """The mean total variation of whole records to released tables."""
        return sum(pair.whole for pair in self.pairs) / len(self.pairs)

    @property
    def expected(self) -> float:
        """The mean total variation of records to the data that noise and cells let expect."""
        return sum(pair.expected for pair in self.pairs) / len(self.pairs)

    @property
    def not_measured(self) -> tuple[str, ...]:
        """The pairs that were not measured: records show their columns as independent."""
        return tuple(pair.name for pair in self.pairs if not pair.measured)

    @property
    def _title(self) -> str:
        """The number of pairs that were measured, and the names of those that were not."""
        count = len(self.pairs)
        title = f"{count - len(self.not_measured)} of {count} pairs were measured"
        missing = self.not_measured[:_SHOWN_PAIRS]
        if missing:
            title += f"; as if independent: {', '.join(missing)}"
        more = len(self.not_measured) - len(missing)
        if more:
            title += f" and {more} more"
        return title

    def _lines(self, most: int) -> list[tuple[str, ...]]:
        strongest_first = sorted(self.pairs, key=lambda pair: (-pair.measured, -pair.relation))
        lines = [pair.line for pair in strongest_first[:most]]
        means = _texts(self.expected, self.weighted, self.whole)
        lines.append(("mean of all", "", "", *means))
        return lines

    def __str__(self) -> str:
        return f"{self._title}\n{text_table([_HEAD, *self._lines(_SHOWN_PAIRS)])}"

    def to_svg(self) -> str:
        """Return a picture: a square a pair, the darker the stronger; not measured are crossed."""
        parts: list[Html] = []
        for place, name in enumerate(self.names):
            middle = _SIDE * (place + 0.65)
            parts.append(text(_LABELS - 6, middle, name, "end", font_size=11))
            if place:
                x = _LABELS + _SIDE * place + 4
                parts.append(text(x, middle, name, "start", font_size=11))
        for pair in self.pairs:
            parts += self._square(pair)
        side = _SIDE * len(self.names)
        # Names stand on the diagonal, so that the last one needs room on its right.
        return picture(self._title, parts, (2 * _LABELS + side, side), font_family="sans-serif")

    def _square(self, pair: PairQuality) -> list[Html]:
        """Return the square of a pair: the darker the stronger, crossed if not measured."""
        if len(pair.columns) < 2:
            return []
        column, row = (self.names.index(name) for name in pair.columns)
        x = _LABELS + _SIDE * column
        y = _SIDE * row
        title = element("title", ", ".join(pair.line[:3]))
        shade = 0.05 + 0.95 * pair.relation * pair.measured
        end = _SIDE - 1
        square = element(
            "rect", title, x=x, y=y, width=end, height=end, fill="#1f4e79", fill_opacity=shade
        )
        if pair.measured:
            return [square]
        return [square, element("line", x1=x, y1=y, x2=x + end, y2=y + end, stroke="#888")]

    def _repr_html_(self) -> str:
        table = html_table(_HEAD, self._lines(len(self.pairs)), caption=self._title)
        return f"{self.to_svg()}{table}"


def _texts(*numbers: float) -> tuple[str, ...]:
    return tuple(f"{number:.4f}" for number in numbers)


def relation_of(table: Floats) -> float:
    """Return Cramér's V of a table of counts: 0 if its keys are independent, 1 if one tells all.

    >>> import numpy as np
    >>> from discreet.synthetic.quality import relation_of
    >>> relation_of(np.eye(3)), relation_of(np.ones((2, 4)))
    (1.0, 0.0)
    """
    shares = table / table.sum()
    independent = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    held = independent > 0
    squares = (shares[held] - independent[held]) ** 2 / independent[held]
    rows = int((shares.sum(axis=1) > 0).sum())
    columns = int((shares.sum(axis=0) > 0).sum())
    most = max(1, min(rows, columns) - 1)
    return min(1.0, math.sqrt(float(squares.sum()) / most))
