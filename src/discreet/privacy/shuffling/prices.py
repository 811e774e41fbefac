"""Prices of shuffled reports in μ, ρ and Rényi divergences, from their dominating pair.

Neighbours are "replace", so the curve δ(x) of the shuffled reports at ε = x is the same in both
directions, and its part at x ≥ 0 says all. Two bounds of that part are known:

| where | bound |
|---|---|
| x ≤ t, `near` | the pair of `shuffling.pair`, whose lost cases have an infinite loss |
| x > t, `far` | the pair whose losses have the tail of `shuffling.tail` |

**Divergences.** A symmetric pair with P-mass m at a loss l > 0 has Q-mass m·e^−l there, and the
reverse at −l. With λ = α − 1 its divergence of order α is

    D_α = ln(1 + Σ m ψ(l)) / λ,   ψ(l) = 4 e^(−l/2) sinh((λ + 1)l/2) sinh(λl/2).

It grows with the curve: Σ m ψ(l) = ∫ δ(x) (ψ″ + ψ′)(x) dx over x > 0, where the factor is positive.
Cut off at t, a mass of the near pair beyond t counts ψ(t) + ψ′(t)(1 − e^(t−l)), at most ψ(t) + ψ′(t).
The masses of the far pair beyond t count ψ(l) at most.

**Gaussian DP.** δ(x) is the largest of the lines A − e^x B, one for each test "the loss is at least
l", whose chances are A under P and B under Q. G(μ) is above a line everywhere if
μ ≥ Φ⁻¹(A) − Φ⁻¹(B). So the corners decide: those of the near pair up to t, and of the far pair.

Law: tests/local/test_shuffle.py::TestPricesOfLedgers
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np

from ...arithmetic.rounding import fraction_up
from ...arithmetic.series import Array
from ...arithmetic.special import ndtri_exp
from ...frozen import frozen
from ..events import Shuffled
from ..loss.loss_masses import ceiling
from ..loss.order_search import largest_ratio
from .pair import shuffled_pair
from .tail import log_tail

UNHIDDEN = 30
"""Largest ε of a local report that a shuffler may hide; a larger one is priced as it is."""
_DEPTH = 160
"""Depth of the near pair: cases of a chance of about e^−160 are lost."""
_RESERVE = 1e6
"""The near pair ends where its tail is this many times the lost mass."""
_LEAST_TAIL = 1e-32
"""Tail that is always counted as lost: the pair of yes and no has mass up to this anywhere."""
_FAR_RATIO = 1.002
"""Ratio of two neighbouring far losses."""
_CELLS = 512
"""Cells in a standard deviation of the loss to which losses are rounded up, in divergences."""
_TOLERANCE = 1e-3
"""Relative tolerance of the supremum over orders."""
_ROUNDING = 1e-9
"""Above the relative rounding error of sums of up to a million masses."""


@frozen(eq=False)
class LossBounds:
    """Bounds of the privacy loss of shuffled reports, at losses above 0.

    | field | meaning |
    |---|---|
    | `losses`, `masses`, `lost` | the near pair; `lost` has the loss ε at most |
    | `kept`, `end` | number of its losses up to the end t; t itself |
    | `far_losses`, `far_logs` | losses of the far pair, and logarithms of its masses |
    """

    losses: Array
    masses: Array
    lost: float
    kept: int
    end: float
    far_losses: Array
    far_logs: Array


@lru_cache(maxsize=256)
def loss_bounds(event: Shuffled) -> LossBounds:
    """Return the near and the far pair of an event whose ε is at most `UNHIDDEN`."""
    pair = shuffled_pair(event, _DEPTH)
    limit = float(event.epsilon)
    positive = pair.losses > 0
    # No loss of a report is above ε, whatever the shuffler does.
    losses = np.minimum(pair.losses[positive], limit)
    masses = pair.p[positive]
    lost = ceiling(pair.top)
    reserve = lost or _LEAST_TAIL
    kept = int(np.count_nonzero(_sums_from(masses) > _RESERVE * reserve))
    if kept == 0 or losses[kept - 1] >= limit:
        # The near pair says all: so many cases are lost, or so few people hide anybody.
        return LossBounds(losses, masses, lost, losses.size, limit, np.empty(0), np.empty(0))
    end = float(losses[kept - 1])
    steps = math.ceil(math.log(limit / end) / math.log(_FAR_RATIO))
    edges = np.geomspace(end, limit, steps + 1)
    # The tail at an edge is a bound for all losses up to the next edge, which they are moved to.
    logs = np.minimum.accumulate(log_tail(event, edges[:-1]))
    next_logs = np.append(logs[1:], -math.inf)
    far_logs = logs + _log_difference(next_logs - logs)
    return LossBounds(losses, masses, lost, kept, end, edges[1:], far_logs)


def shuffled_square(event: Shuffled) -> Fraction | None:
    """Return a μ² for which the shuffled reports are μ-Gaussian DP; None beyond `UNHIDDEN`.

    >>> from discreet.privacy import Shuffled
    >>> from discreet.privacy.shuffling.prices import shuffled_square
    >>> float(shuffled_square(Shuffled(1, 10_000, 10, 1, 0))) < 5.3e-5
    True

    Law: tests/local/test_shuffle.py::TestPricesOfLedgers
    """
    if event.epsilon > UNHIDDEN:
        return None
    bounds = loss_bounds(event)
    least_ratio = math.exp(-float(event.epsilon))
    # Chances of the tests "the loss is at least l": A rounds up and B rounds down.
    above = _sums_from(bounds.masses) + bounds.lost
    below = _sums_from(bounds.masses * np.exp(-bounds.losses)) + bounds.lost * least_ratio
    # By symmetry P[loss < 0] is at least e^−ε P[loss > 0]: no test has more than this.
    most = 1 / (1 + least_ratio)
    near_above = np.log(np.minimum(above[: bounds.kept] * (1 + _ROUNDING), most))
    near_below = np.log(below[: bounds.kept] * (1 - _ROUNDING))
    far_above = np.minimum(_log_sums_from(bounds.far_logs) + _ROUNDING, math.log(most))
    far_below = _log_sums_from(bounds.far_logs - bounds.far_losses) - _ROUNDING
    logs_above = np.append(near_above, far_above)
    logs_below = np.append(near_below, far_below)
    gaps = ndtri_exp(logs_above) - ndtri_exp(logs_below)
    mu = float(gaps.max())
    return fraction_up(mu * mu, _ROUNDING)


def shuffled_renyi(event: Shuffled, alphas: Array) -> Array | None:
    """Return the Rényi divergences of the shuffled reports; None beyond `UNHIDDEN`.

    >>> import numpy as np
    >>> from discreet.privacy import Shuffled
    >>> from discreet.privacy.shuffling.prices import shuffled_renyi
    >>> bool(shuffled_renyi(Shuffled(1, 10_000, 10, 1, 0), np.array([2.0]))[0] < 5.2e-5)
    True

    Law: tests/local/test_shuffle.py::TestPricesOfLedgers
    """
    if event.epsilon > UNHIDDEN:
        return None
    return _divergences(event, alphas)


def _divergences(event: Shuffled, alphas: Array) -> Array:
    """Return D_α of both pairs at several orders, for an ε of at most `UNHIDDEN`."""
    bounds = loss_bounds(event)
    near = slice(bounds.kept)
    losses, masses = _grouped(bounds.losses[near], bounds.masses[near])
    places = np.append(losses, bounds.far_losses)
    logs = np.append(np.log(masses), bounds.far_logs)
    end = bounds.end
    beyond = bounds.masses[bounds.kept :]
    # 1 − e^(t−l) of the masses beyond the end; what is lost counts in full.
    gains = -np.expm1(end - bounds.losses[bounds.kept :])
    passing = _log_or_minus_infinity(float((beyond * gains).sum()) + bounds.lost)
    staying = _log_or_minus_infinity(float(beyond.sum()) + bounds.lost)
    lams = np.asarray(alphas, dtype=np.float64) - 1
    divergences = np.empty_like(lams)
    for index, lam in enumerate(lams.tolist()):
        log_moment = _log_sum(logs + _log_psi(lam, places))
        # ψ(t) is at most e^(λt), and ψ′(t) at most λ + 1 times that.
        power = lam * end
        log_moment = np.logaddexp(log_moment, staying + power)
        log_moment = np.logaddexp(log_moment, passing + power + math.log(lam + 1))
        divergences[index] = np.logaddexp(0.0, log_moment + _ROUNDING) / lam
    # The loss is at most ε, and so is every divergence.
    return np.asarray(np.minimum(divergences, float(event.epsilon)))


@lru_cache(maxsize=256)
def shuffled_rho(event: Shuffled) -> Fraction | None:
    """Return the ρ of the shuffled reports: the supremum of D_α/α; None beyond `UNHIDDEN`.

    >>> from discreet.privacy import Shuffled
    >>> from discreet.privacy.shuffling.prices import shuffled_rho
    >>> float(shuffled_rho(Shuffled(1, 10_000, 10, 1, 0))) < 2.7e-5
    True

    Law: tests/local/test_shuffle.py::TestPricesOfLedgers
    """
    if event.epsilon > UNHIDDEN:
        return None
    rho = largest_ratio(partial(_divergences, event), float(event.epsilon), _TOLERANCE)
    return fraction_up(rho, _ROUNDING)


def _grouped(losses: Array, masses: Array) -> tuple[Array, Array]:
    """Replace losses of one cell of a grid by their largest, which dominates: fewer to sum over."""
    spread = math.sqrt(float(masses @ losses**2) / float(masses.sum()))
    cells = np.ceil(losses * (_CELLS / spread))
    starts = np.flatnonzero(np.diff(cells, prepend=-1.0))
    ends = np.append(starts[1:], losses.size) - 1
    return losses[ends], np.add.reduceat(masses, starts)


def _sums_from(values: Array) -> Array:
    """Return the sums from each entry to the last."""
    return np.asarray(np.cumsum(values[::-1])[::-1])


def _log_sums_from(logs: Array) -> Array:
    """Return the logarithms of the sums from each entry to the last, given logarithms."""
    return np.asarray(np.logaddexp.accumulate(logs[::-1])[::-1])


def _log_sum(logs: Array) -> float:
    largest = float(logs.max())
    return largest + math.log(float(np.exp(logs - largest).sum()))


def _log_difference(log_ratio: Array) -> Array:
    """Return ln(1 − r) for ratios r ≤ 1; −∞ where r is 1."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(-np.expm1(log_ratio)))


def _log_psi(lam: float, losses: Array) -> Array:
    """Return ln ψ(l)."""
    wide = _log_sinh((lam + 1) * losses / 2)
    narrow = _log_sinh(lam * losses / 2)
    return np.asarray(math.log(4) - losses / 2 + wide + narrow)


def _log_or_minus_infinity(mass: float) -> float:
    return math.log(mass) if mass else -math.inf


def _log_sinh(x: Array) -> Array:
    return np.asarray(x + np.log(-np.expm1(-2 * x)) - math.log(2))
