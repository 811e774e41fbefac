"""How noise on its totals moves a statistic: what the split, the prediction and the search for noise have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias, assert_never

from ..query.algebra.tree import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    Covariance,
    Mean,
    Mode,
    Quantile,
    Statistic,
    Sum,
    Variance,
)
from ..query.bounds.needs import blur_of, middle_of, range_of
from ..query.domains.domain import Domain as Kind
from ..query.domains.domain_of import domain_of as kind_of
from .noise_sum import Noise
from .predict import Moment, correlation_error, mean_error, moment_error
from .release import at_least

__all__ = ["Form", "Model", "model_of"]

Form: TypeAlias = Literal["total", "mean", "variance", "covariance", "correlation", "quantile", "mode"]


@dataclass(frozen=True, slots=True)
class Model:
    """A statistic by its form; `reach` is how far values lie from the middle of their public range, per column.

    `blur` is how far the exact statistic may lie from that of the totals, because products are taken on a coarser grid;
    `counts` says that it counts rows or people, so that its error relative to `size` means something.
    """

    form: Form
    reach: tuple[float, ...] = ()
    sample: bool = False
    root: bool = False
    blur: float = 0.0
    counts: bool = False

    @property
    def coefficients(self) -> tuple[float, ...]:
        """How strongly noise on each total moves the statistic, at worst, up to a common factor."""
        match self.form:
            case "total" | "mode":
                return (1.0,)
            case "mean":
                return 1.0, self.reach[0]
            case "variance":
                return 1.0, 2 * self.reach[0], self.reach[0] ** 2
            case "quantile":
                return 1.0, 1.0, 1.0
        a, b = self.reach
        if self.form == "covariance":
            return 1.0, b, a, a * b
        return 1.0, 2 * b, 2 * a, 2 * a * b, b / (2 * a), a / (2 * b)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the parts are called in a table."""
        match self.form:
            case "total" | "mode":
                return ("",)
            case "mean":
                return "sum", "rows"
            case "variance":
                return "squares", "sum", "rows"
            case "quantile":
                return "answer", "low end", "high end"
        names = ("products", "sum of x", "sum of y", "rows")
        return names if self.form == "covariance" else (*names, "squares of x", "squares of y")

    @property
    def most(self) -> float:
        """The greatest error there can be: the width of the public range, where estimates are moved into it."""
        match self.form:
            case "mean":
                return 2 * self.reach[0]
            case "variance":
                most = self.reach[0] ** 2 * (2 if self.sample else 1)
                return math.sqrt(most) if self.root else most
            case "covariance":
                return 2 * self.reach[0] * self.reach[1] * (2 if self.sample else 1)
            case "correlation":
                return 2.0
        return math.inf

    @property
    def least(self) -> float:
        """The least error there is without any noise: from the rounding of products; all there is, of a constant."""
        if self.form == "correlation" and min(self.reach) < 1e-150:
            return 2.0
        return math.sqrt(self.blur) if self.root else self.blur

    def error(self, noises: Sequence[Noise], size: int, beta: float) -> float:
        """Predict the error at `size` rows but for a chance β, for the worst data; not for single totals and ranks."""
        if self.form == "mean":
            return mean_error(noises[0], noises[1], self.reach[0], size, beta)
        if size <= 1:
            return self.most
        if self.form == "correlation":
            moment: Moment = (noises[0], noises[1], noises[2], noises[3])
            found = correlation_error(moment, (noises[4], noises[5]), self._pair, size, beta)
            return min(2.0, found + self.blur)
        same = self.form == "variance"
        u, v, n = noises[1], noises[1] if same else noises[2], noises[-1]
        found = moment_error((noises[0], u, v, n), self._pair, size, beta, same=same, sample=self.sample)
        full = found + self.blur
        return min(self.most, math.sqrt(full) if self.root else full)

    @property
    def _pair(self) -> tuple[float, float]:
        return self.reach[0], self.reach[-1]


def model_of(statistic: Statistic, columns: dict[str, Kind]) -> Model:
    """Say how noise moves a statistic of these columns.

    >>> from ..query.algebra.expression import Field
    >>> from ..query.domains.domain import Whole
    >>> model_of(Mean(Field("age")), {"age": Whole(Fraction(1), 0, 120)}).coefficients
    (1.0, 60.0)
    """
    match statistic:
        case Count() | CountOf() | CountPeople():
            return Model("total", counts=True)
        case CountDistinct() | Sum():
            return Model("total")
        case Mean(of=of):
            return Model("mean", (_reach(kind_of(of, columns)),))
        case Variance(of=of, sample=sample, root=root):
            kind = kind_of(of, columns)
            return Model("variance", (_reach(kind),), sample, root, _blur(kind, kind) * (2 if sample else 1))
        case Covariance(x=x, y=y, sample=sample):
            u, v = kind_of(x, columns), kind_of(y, columns)
            return Model("covariance", (_reach(u), _reach(v)), sample, blur=_blur(u, v) * (2 if sample else 1))
        case Correlation(x=x, y=y):
            u, v = kind_of(x, columns), kind_of(y, columns)
            return Model("correlation", (_reach(u), _reach(v)), blur=_bent(u, v))
        case Quantile():
            return Model("quantile")
        case Mode():
            return Model("mode")
        case _:
            assert_never(statistic)


def _reach(kind: Kind) -> float:
    """Say how far a value, moved by the rounding of products, may lie from the middle of its range; 0 is made tiny."""
    (low, high), middle = range_of(kind), middle_of(kind)
    return max(at_least(max(high - middle, middle - low) + blur_of(kind)), 1e-300)


def _blur(x: Kind, y: Kind) -> float:
    """Bound how far rounding for products moves a covariance (Cauchy and Schwarz, term by term)."""
    return at_least(Fraction(_reach(x)) * blur_of(y) + blur_of(x) * Fraction(_reach(y)) + blur_of(x) * blur_of(y))


def _bent(x: Kind, y: Kind) -> float:
    """Bound how far that moves a correlation of evenly spread values: 3·blur/reach for each column, both ways."""
    return 6 * sum(float(blur_of(kind)) / _reach(kind) for kind in (x, y))
