"""Estimate: frequencies or a mean, each with a standard error and a confidence interval."""

from __future__ import annotations

from typing import Literal, TypeAlias, cast

import numpy as np

from ...arithmetic.rational import between_0_and_1, one_of
from ...arithmetic.series import Array
from ...errors import InvalidArgument
from ...frozen import frozen
from ...show.markup import element, join
from ...show.table import html_table

__all__ = ["Array", "Estimate", "Whose", "read_level", "read_of"]

Whose: TypeAlias = Literal["reporters", "population"]

# Rows of a long estimate that are printed.
_MAX_ROWS = 20


@frozen(eq=False)
class Estimate:
    """Estimated values with their standard errors and confidence intervals.

    | field | meaning |
    |---|---|
    | `what` | "frequency" or "mean" |
    | `names` | the options, or "mean" |
    | `values` | the estimates, not clipped to possible values, since that would bias every sum |
    | `errors` | their standard errors |
    | `low`, `high` | the ends of the intervals, clipped to possible values |
    | `of` | people whose frequencies the intervals cover: reporters, or their population |
    | `note` | the theorem or law by which the intervals hold, and what else limits them |

    Guarantee: each interval holds with probability at least `level`. Where `note` names the normal
    law or Student's law (sketches, RAPPOR) the probability is only about `level`.
    """

    what: str
    names: tuple[str, ...]
    values: Array
    errors: Array
    low: Array
    high: Array
    level: float
    n: int
    of: Whose = "reporters"
    note: str = ""

    @property
    def counts(self) -> Array:
        """The estimated number of people: n times the value."""
        return self.values * self.n

    def __getitem__(self, name: str) -> float:
        return float(self.values[self._index(name)])

    def interval(self, name: str) -> tuple[float, float]:
        """Return the interval of one option."""
        index = self._index(name)
        return float(self.low[index]), float(self.high[index])

    def _index(self, name: str) -> int:
        try:
            return self.names.index(name)
        except ValueError:
            raise InvalidArgument(f"nothing was estimated for {name!r}; see .names") from None

    def to_dict(self) -> dict[str, object]:
        """Return plain JSON types."""
        return {
            "what": self.what,
            "names": list(self.names),
            "values": self.values.tolist(),
            "errors": self.errors.tolist(),
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "level": self.level,
            "n": self.n,
            "of": self.of,
            "note": self.note,
        }

    def __str__(self) -> str:
        rows = self._rows()
        name_widths = [len(name) for name, *_ in rows]
        width = max([len(self.what), *name_widths])
        lines = []
        for name, value, error, interval in [self._head(), *rows]:
            lines.append(f"{name:<{width}}  {value:>10}  {error:>10}  {interval:>22}")
        return "\n".join([*lines, *self._footer()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = html_table(self._head(), self._rows())
        footer = [element("p", line) for line in self._footer()]
        return join([table, *footer])

    def _head(self) -> tuple[str, str, str, str]:
        return self.what, "estimate", "± error", f"{100 * self.level:g} % interval"

    def _rows(self) -> list[tuple[str, str, str, str]]:
        """Return the rows as text; of a long estimate the largest values."""
        indices = np.arange(len(self.names))
        if len(self.names) > _MAX_ROWS:
            indices = np.argsort(-self.values, kind="stable")[:_MAX_ROWS]
        rows = []
        for i in indices:
            value = f"{self.values[i]:.5g}"
            error = f"{self.errors[i]:.3g}"
            interval = f"{self.low[i]:.5g} … {self.high[i]:.5g}"
            rows.append((self.names[i], value, error, interval))
        return rows

    def _footer(self) -> list[str]:
        """Return the lines below the table: rows left out, and the number of reports."""
        lines = []
        left_out = len(self.names) - _MAX_ROWS
        if left_out > 0:
            lines.append(f"… and {left_out} more; .to_dict() has them all")
        summary = f"{self.n} reports; of {self.of}"
        if self.note:
            summary += f"; {self.note}"
        lines.append(summary)
        return lines


def read_level(level: object) -> float:
    """Read a confidence level: the probability with which an interval is to hold.

    >>> from discreet.local.estimates.estimate import read_level
    >>> read_level(0.95)
    0.95

    Refuses: `InvalidArgument` for levels outside (0, 1).
    """
    return float(between_0_and_1(level, "level", f", such as 0.95, got {level}"))


def read_of(of: object) -> Whose:
    """Read the people whose frequencies are estimated: "reporters" or "population".

    >>> from discreet.local.estimates.estimate import read_of
    >>> read_of("population")
    'population'
    """
    one_of(of, "of", "reporters", "population")
    return cast("Whose", of)
