"""What the reports tell: frequencies or a mean, each with a standard error and an interval."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from ...arithmetic.rational import rational
from ...arithmetic.series import Array
from ...errors import InvalidArgument
from ...frozen import frozen
from ...show.markup import element, join
from ...show.table import html_table

__all__ = ["Array", "Estimate", "Whose", "read_level", "read_of"]

Whose: TypeAlias = Literal["reporters", "population"]

_SHOWN = 20  # rows of a long estimate that are printed


@frozen(eq=False)
class Estimate:
    """Unbiased values with their standard errors and intervals; each interval holds with probability at least `level`.

    `what` is "frequency" or "mean", `names` the options (or the one word for the mean), `values` the estimates, which
    may lie outside what is possible: clipping them would bias every sum. `low` and `high` are clipped, at no loss.
    `of` says whose frequencies the intervals cover: of those who reported, or of the population they were drawn from.
    `note` says by what theorem the intervals hold.
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
        try:
            return float(self.values[self.names.index(name)])
        except ValueError:
            raise InvalidArgument(f"nothing was estimated for {name!r}; see .names") from None

    def interval(self, name: str) -> tuple[float, float]:
        """Return the interval of one option."""
        at = self.names.index(name) if name in self.names else -1
        if at < 0:
            raise InvalidArgument(f"nothing was estimated for {name!r}; see .names")
        return float(self.low[at]), float(self.high[at])

    def to_dict(self) -> dict[str, object]:
        """Return plain JSON types."""
        columns = {"values": self.values, "errors": self.errors, "low": self.low, "high": self.high}
        plain: dict[str, object] = {"what": self.what, "names": list(self.names)}
        plain |= {name: column.tolist() for name, column in columns.items()}
        return plain | {"level": self.level, "n": self.n, "of": self.of, "note": self.note}

    def __str__(self) -> str:
        wide = max([len(self.what), *(len(name) for name, *_ in self._rows())])
        head = f"{self.what:<{wide}}  {'estimate':>10}  {'± error':>10}  {self._caption():>22}"
        lines = [
            f"{name:<{wide}}  {v:>10}  {e:>10}  {between:>22}"
            for name, v, e, between in self._rows()
        ]
        return "\n".join([head, *lines, *self._rest()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table = html_table((self.what, "estimate", "± error", self._caption()), self._rows())
        return join([table, *(element("p", line) for line in self._rest())])

    def _rows(self) -> list[tuple[str, str, str, str]]:
        order = (
            np.argsort(-self.values, kind="stable")[:_SHOWN]
            if len(self.names) > _SHOWN
            else range(len(self.names))
        )
        return [
            (
                self.names[i],
                f"{self.values[i]:.5g}",
                f"{self.errors[i]:.3g}",
                f"{self.low[i]:.5g} … {self.high[i]:.5g}",
            )
            for i in order
        ]

    def _caption(self) -> str:
        return f"{100 * self.level:g} % interval"

    def _rest(self) -> list[str]:
        left = len(self.names) - _SHOWN
        more = [f"… and {left} more; .to_dict() has them all"] if left > 0 else []
        return [*more, f"{self.n} reports; of {self.of}" + (f"; {self.note}" if self.note else "")]


def read_level(level: object) -> float:
    """Read the probability with which an interval is to hold.

    >>> from discreet.local.estimates.estimate import read_level
    >>> read_level(0.95)
    0.95

    Refuses levels outside (0, 1).
    """
    exact = rational(level, "level")
    if not 0 < exact < 1:
        raise InvalidArgument(f"level must lie between 0 and 1, such as 0.95, got {level}")
    return float(exact)


def read_of(of: object) -> Whose:
    """Read whose frequencies are asked for.

    >>> from discreet.local.estimates.estimate import read_of
    >>> read_of("population")
    'population'
    """
    if of not in ("reporters", "population"):
        raise InvalidArgument(f"of must be 'reporters' or 'population', got {of!r}")
    return of
