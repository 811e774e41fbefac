"""Plan of a stream: its strategy, its noise, and the errors of days, weeks, months and totals.

    spend              strategies compared                        noise
    ZCDP, GaussianDP   noise on each day, square root of the      discrete Gaussian, drawn when a
                       matrix of running totals, and the          day closes
                       optimum or a fitted Toeplitz matrix
    ApproxDP           as above, for the largest μ under (ε, δ)   as above
    PureDP             p-Identity alone                           geometric, drawn at the opening

The plan of least weighted mean variance is taken. The optimum is computed if a unit counts on one
day, up to 512 days, or 4,096 if only running totals are weighted. Other streams of up to 4,096 days
compare the fitted matrix, longer ones neither. Everything follows from public facts: no data is
read, nothing is spent.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import lru_cache

import numpy as np

from ..errors import UnsupportedQuery
from ..frozen import field, frozen
from ..plan.budget_allocation import Divisible, routes_under
from ..privacy.filters.filter import Filter
from ..privacy.measures import Measure, PureDP
from ..show.table import text_table
from ..workloads import Bound
from ..workloads.budget_shares import Floats
from ..workloads.fixed_point import dense_optimum, line_bound, line_optimum
from ..workloads.sealed_line import MAX_SEALED, sealed_line
from ..workloads.stream_noise import StreamNoise, buy_noise
from ..workloads.toeplitz import Aim, fit_toeplitz, gram_of_aims, mean_variance
from ..workloads.triangular import (
    MAX_DENSE,
    Participation,
    Triangular,
    identity_strategy,
    optimum_strategy,
    root_strategy,
)
from .calendar import KINDS, Kind, aims_of, sums_of
from .question import StreamQuestion

_MAX_SOLVED = 512
"""Longest line whose optimum for mixed aims is solved as a dense matrix, in a minute."""
_MAX_BOUNDED = 1024
"""Longest line whose bound for mixed aims or several days is worked out, in minutes."""


@frozen
class StreamPlan:
    """Strategy and noise of a stream, its price and its predicted errors.

    `periods` is the number of days from `start` on. `weights` are those of the kinds of sums.
    `tried` has the compared strategies with their RMSE.

    Guarantee: `noise.event` pays for all periods; predicted errors are those of the noise that is
    drawn.
    Law: tests/streams/test_stream.py::TestIntervals
    """

    question: StreamQuestion
    start: date
    periods: int
    weights: Mapping[Kind, float] = field(hash=False)
    noise: StreamNoise
    tried: tuple[tuple[str, float], ...] = ()

    @property
    def rmse(self) -> float:
        """Root of the weighted mean variance of the weighted sums, in the unit of the answer."""
        aims = aims_of(self.weights, self.start, self.periods)
        return math.sqrt(_mean_variance(self.noise, aims)) * float(self.question.unit)

    @property
    def errors(self) -> dict[Kind, float]:
        """Root of the mean variance of each kind of sums, in the unit of the answer."""
        found: dict[Kind, float] = {}
        for kind in KINDS:
            sums = tuple(sums_of(kind, self.start, self.periods))
            variance = _mean_variance(self.noise, [Aim(kind, sums)])
            found[kind] = math.sqrt(variance) * float(self.question.unit)
        return found

    @property
    def bound(self) -> Bound | None:
        """Lower bound on the RMSE of any unbiased linear mechanism, Gaussian, at this price.

        It is computed when it is asked for. None under a pure ε. None also beyond 1,024 days,
        where it would take hours, unless a unit counts on one day and only running totals are
        weighted.
        """
        if self.noise.sealed:
            return None
        factor = _bound_factor(self.periods, self.noise.counted, self._aims())
        if factor is None:
            return None
        # Noise of one release at this price: σ with Δ2 = the steps that a unit moves on one day.
        measured = self.noise.measured
        square = measured.block.sensitivity(self.noise.norms).squared_l2
        one = measured.variance / float(square) * self.noise.norms.size**2
        rmse = math.sqrt(factor * one) * float(self.question.unit)
        return Bound(rmse, "no strategy of these days does better (singular values, weighted)")

    @property
    def gap(self) -> float | None:
        """Relative distance of the RMSE above the bound; None where no bound is known."""
        bound = self.bound
        if bound is None:
            return None
        return self.rmse / bound.rmse - 1

    def _aims(self) -> tuple[Aim, ...]:
        return tuple(aims_of(self.weights, self.start, self.periods))

    def __str__(self) -> str:
        last = self.start + timedelta(days=self.periods - 1)
        rows = [("sum of", "RMSE")]
        rows += [(kind, f"{error:.4g}") for kind, error in self.errors.items()]
        counted = self.noise.counted
        head = (
            f"{self.periods} days from {self.start} to {last}, {len(self.question.cells)} keys; "
            f"a unit counts on at most {counted.within(self.periods)} days, "
            f"{counted.apart} apart\n"
            f"strategy {self.noise.line.name}, one charge for all days"
        )
        return f"{head}\n{text_table(rows)}"


def plan_stream(
    question: StreamQuestion,
    spend: Measure,
    under: Filter,
    *,
    start: date,
    periods: int,
    weights: Mapping[Kind, float],
) -> StreamPlan:
    """Return the plan of a stream with the least weighted mean variance of its sums.

    Refuses: a pure ε for more than 4,096 days (UnsupportedQuery), and what `routes_under` refuses.
    """
    budget = _budget(spend, under, periods)
    aims = aims_of(weights, start, periods)
    keys = len(question.cells)
    counted = question.counted
    if isinstance(budget, PureDP):
        lines: Sequence[Triangular] = ()
        noises = [buy_noise(sealed_line(periods), counted, keys, question.norms, budget)]
    else:
        lines = _strategies(periods, tuple(aims), counted)
        noises = [buy_noise(line, counted, keys, question.norms, budget) for line in lines]
    ranked = []
    for noise in noises:
        ranked.append((_mean_variance(noise, aims), noise))
    _, best = min(ranked, key=lambda pair: pair[0])
    unit = float(question.unit)
    tried = tuple((noise.line.name, math.sqrt(error) * unit) for error, noise in ranked)
    return StreamPlan(question, start, periods, dict(weights), best, tried)


def quick_noise(
    question: StreamQuestion, spend: Measure, under: Filter, periods: int
) -> StreamNoise:
    """Return noise that costs what the best strategy would cost, without searching for that one.

    All strategies for one spend have the same price; this takes the one that is made fastest.

    Refuses: what `plan_stream` refuses.
    """
    budget = _budget(spend, under, periods)
    # The price of pure ε is the ε itself, for any number of days.
    line = sealed_line(1) if isinstance(budget, PureDP) else identity_strategy(periods)
    return buy_noise(line, question.counted, len(question.cells), question.norms, budget)


def _budget(spend: Measure, under: Filter, periods: int) -> Divisible:
    budget = routes_under(spend, under)[-1]
    if isinstance(budget, PureDP) and periods > MAX_SEALED:
        raise UnsupportedQuery(
            f"a stream under pure ε has at most {MAX_SEALED:,} days, got {periods:,}; open it "
            "for fewer, or spend ZCDP or GaussianDP"
        )
    return budget


@lru_cache(maxsize=8)
def _strategies(
    periods: int, aims: tuple[Aim, ...], counted: Participation
) -> tuple[Triangular, ...]:
    """Return the strategies to compare: two quick ones; up to 4,096 days one that is searched."""
    found = [identity_strategy(periods), root_strategy(periods)]
    if 1 < periods <= MAX_DENSE:
        one_day = counted.within(periods) == 1
        totals_only = [aim.name for aim in aims] == ["total"]
        if one_day and totals_only:
            found.append(optimum_strategy(line_optimum(periods, ranges=False)))
        elif one_day and periods <= _MAX_SOLVED:
            found.append(optimum_strategy(dense_optimum(gram_of_aims(periods, aims), power=2)))
        else:
            found.append(fit_toeplitz(periods, aims, counted))
    return tuple(found)


def _mean_variance(noise: StreamNoise, aims: Sequence[Aim]) -> float:
    """Return the weighted mean variance of sums of days, in squares of exact steps."""
    if isinstance(noise.line, Triangular):
        return mean_variance(noise.line, aims) * noise.measured.variance
    weights = noise.line.weights(list(range(1, noise.line.size + 1)))
    running = np.vstack([np.zeros(noise.line.rows), weights])
    total = 0.0
    for aim in aims:
        total += aim.weight * _mean_square(running, aim.sums)
    return total / sum(aim.weight for aim in aims) * noise.measured.variance


def _mean_square(running: Floats, sums: Sequence[tuple[int, int]]) -> float:
    starts, ends = map(np.asarray, zip(*sums, strict=True))
    changed = running[ends] - running[starts]
    return float((changed**2).sum() / len(sums))


@lru_cache(maxsize=8)
def _bound_factor(periods: int, counted: Participation, aims: tuple[Aim, ...]) -> float | None:
    """Return a certified lower bound on the mean variance of any Gaussian strategy, divided by Δ2².

    None beyond 1,024 days, but for running totals of units that count on one day.

    For weights p on patterns u_o of days, U = [√p_o·u_o]: ‖AU‖_* ≤ ‖AC⁻¹‖_F·‖CU‖_F, so that the
    trace of (UᵀGU)^½ bounds it. The fixed point of `dense_optimum` finds the weights.

    Law: tests/workloads/test_triangular.py::TestBound
    """
    times = counted.within(periods)
    if times == 1 and [aim.name for aim in aims] == ["total"]:
        return line_bound(periods, ranges=False) / periods
    if periods > _MAX_BOUNDED:
        return None
    gram = gram_of_aims(periods, aims)
    patterns = np.zeros((periods, periods))
    for start in range(periods):
        patterns[start : start + times * counted.apart : counted.apart, start] = 1.0
    return dense_optimum(patterns.T @ gram @ patterns, power=2).bound
