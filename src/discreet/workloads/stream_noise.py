"""Noise of a stream: its strategy, the days of a unit, and the event that pays for all periods.

A stream publishes one number for each period (a day) and key, when the period is closed.

    strategy       noise                                                     event charged

    triangular C   discrete Gaussian, drawn afresh at each closing           event of that noise
    sealed line    geometric, drawn at the opening and stored sealed         Promise(PureDP(ε))

Data may react to what was published. Under a triangular C, given the past, a period is noise
shifted by d_t, and on every path Σd_t² ≤ Δ2²: adaptive composition with a bound on every path,
which is what the filters of the ledger prove for ρ, for μ² (the lattice's factor included) and for
what is left of (ε, δ) (`docs/explanation/streams.md`). A sealed line is charged as its pure ε and
no other price: prices of geometric noise in ρ or μ are proved for fixed streams only.

Law: tests/workloads/test_triangular.py::TestReactingStreams
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np

from ..arithmetic.rational import whole
from ..errors import InvalidArgument
from ..frozen import frozen
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..mechanisms.additive.discrete_laplace import Geometric
from ..privacy.events import Event, Promise
from ..privacy.measures import PureDP, read_neighbours
from .budget_shares import Floats
from .sealed_line import SealedLine, sealed_from_json
from .strategy_noise import Measurement, NoiseBudget, calibrate
from .strategy_norms import StrategyNorms
from .tail import laplace_reach, normal_reach
from .triangular import Participation, Triangular, triangular_from_json

AnyLine: TypeAlias = Triangular | SealedLine


@frozen
class StreamNoise:
    """A strategy of days with the noise that a budget buys for all periods and keys.

    `counted` bounds the days on which a unit counts, `norms` its change on one day. `keys` is the
    number of combinations of keys.

    Guarantee: `event` pays for every period, whatever the days that follow react to.
    Law: tests/workloads/test_triangular.py::TestReactingStreams
    """

    line: AnyLine
    counted: Participation
    keys: int
    norms: StrategyNorms
    measured: Measurement

    @property
    def sealed(self) -> bool:
        """True if all noise is drawn at the opening."""
        return isinstance(self.line, SealedLine)

    @property
    def event(self) -> Event:
        """The event that is charged once, at the opening."""
        noise = self.measured.event
        if not self.sealed:
            return noise
        mechanism = self.measured.mechanism
        sensitivity = self.measured.block.times(self.measured.grid).sensitivity(self.norms)
        epsilon = sensitivity.l1 / mechanism.scale
        return Promise(PureDP(epsilon), neighbours=self.norms.neighbours)

    def reaches(self, starts: list[int], ends: list[int], beta: float) -> Floats:
        """Return half the widths of intervals of sums of days start..end−1, in exact steps.

        Guarantee: each holds with probability at least 1 − β.
        Law: tests/workloads/test_triangular.py::TestIntervals
        """
        line = self.line
        grid = self.measured.grid
        if isinstance(line, Triangular):
            deviations = np.sqrt(line.variances(starts, ends) * self.measured.variance)
            return normal_reach(deviations, beta)
        first = np.vstack([np.zeros(line.rows), line.weights(list(range(1, line.size + 1)))])
        weights = (first[np.asarray(ends)] - first[np.asarray(starts)]) / grid
        counts = np.ones(line.rows)
        reach = laplace_reach(weights, counts, float(self.measured.mechanism.scale), beta)
        # Each running total is rounded by at most one half; that of no days is 0, and is not.
        return reach + np.where(np.asarray(starts) > 0, 1.0, 0.5)

    def combined_reach(
        self, patterns: Sequence[Sequence[tuple[int, float]]], times: Sequence[int], beta: float
    ) -> float:
        """Bound the noise of a sum over keys of combinations of running totals, in exact steps.

        A pattern is a combination for one key: weights by numbers of days. `times` is the number of
        keys that have it.

        Guarantee: the bound holds with probability at least 1 − β.
        Law: tests/streams/test_select.py::TestIntervals
        """
        line = self.line
        rows = []
        rounded = 0.0
        for pattern, count in zip(patterns, times, strict=True):
            ends = [end for end, _ in pattern]
            weights = np.array([weight for _, weight in pattern])
            rows.append(weights @ line.weights(ends))
            rounded += count * float(np.abs(weights).sum()) / 2
        if isinstance(line, Triangular):
            squares = sum(count * float(row @ row) for row, count in zip(rows, times, strict=True))
            return float(normal_reach(math.sqrt(squares * self.measured.variance), beta))
        table = np.concatenate(rows)[None, :] / self.measured.grid
        counts = np.repeat(np.asarray(times, dtype=np.float64), line.rows)
        [reach] = laplace_reach(table, counts, float(self.measured.mechanism.scale), beta)
        # Each running total is rounded to a whole number, by at most one half.
        return float(reach) + rounded

    def to_json(self) -> dict[str, Any]:
        """Return all that fixes the event, as plain values."""
        return {
            "line": self.line.to_json(),
            "days": self.counted.days,
            "apart": self.counted.apart,
            "keys": self.keys,
            "size": self.norms.size,
            "neighbours": self.norms.neighbours,
            "signed": self.norms.signed,
            "grid": self.measured.grid,
            "scale": str(self.measured.mechanism.scale),
        }


def buy_noise(
    line: AnyLine, counted: Participation, keys: int, norms: StrategyNorms, budget: NoiseBudget
) -> StreamNoise:
    """Return the least noise of a strategy that a budget allows for all periods together.

    Refuses: a pure ε for a triangular strategy and others for a sealed one (InvalidArgument).
    """
    if isinstance(line, SealedLine) != isinstance(budget, PureDP):
        raise InvalidArgument("geometric noise is for a pure ε, Gaussian noise for ρ and μ")
    [measured] = calibrate([line.block(counted, keys)], [Fraction(1)], norms, budget)
    return StreamNoise(line, counted, keys, norms, measured)


def noise_from_json(data: dict[str, Any]) -> StreamNoise:
    """Read the noise of a stored stream; the event follows from it again.

    Refuses: other values (InvalidArgument).
    """
    try:
        counted = Participation(
            whole(data["days"], "days", least=1), whole(data["apart"], "apart", least=1)
        )
        neighbours = read_neighbours(data["neighbours"])
        size = whole(data["size"], "size", least=1)
        norms = StrategyNorms(size, neighbours, signed=data["signed"] is True)
        keys = whole(data["keys"], "keys", least=1)
        grid = whole(data["grid"], "grid", least=1)
        scale = Fraction(data["scale"])
        line: AnyLine
        if "own" in data["line"]:
            line = sealed_from_json(data["line"])
        else:
            line = triangular_from_json(data["line"])
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError, zlib.error):
        raise InvalidArgument("this is no noise of a stream, or one of a newer release") from None
    block = line.block(counted, keys)
    sensitivity = block.times(grid).sensitivity(norms)
    mechanism: Geometric | DiscreteGaussian
    if isinstance(line, SealedLine):
        mechanism = Geometric(scale, sensitivity)
    else:
        mechanism = DiscreteGaussian(scale, sensitivity)
    return StreamNoise(line, counted, keys, norms, Measurement(block, grid, mechanism))
