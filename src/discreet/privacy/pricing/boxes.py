"""(ε, δ) boxes: basic composition, and optimal composition of identical boxes.

A box is an event known only as (ε, δ)-DP. It is no worse than this: with probability δ everything
is shown, otherwise randomized response ε (Kairouz, Oh, Viswanath 2015). So k boxes are k such
coins, and their exact curve is a binomial sum.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from ...arithmetic.root_finder import crossing
from ...arithmetic.rounding import fraction_up
from ...arithmetic.special import gammaln
from ..events import Event, OwnCurve, Parallel, Sampled
from ..measures import ADD_REMOVE, ApproxDP
from .event_parts import Events, flatten
from .group import delta_factor
from .pure import amplified, price_pure

Box = tuple[Fraction, Fraction]

MOST = 2**22
"""Most identical boxes whose binomial sum is taken; beyond, the numerical price is the tool."""


def price_approx(events: Events) -> Box | None:
    """Add up (ε, δ) by basic composition, exactly; None if some event has no known (ε, δ) box.

    Noise such as the Gaussian has a whole curve and no box of its own: None. A curve of points
    counts as its point of least δ. On a Poisson sample (ε, δ) becomes (ln(1 + q(e^ε − 1)), qδ).

    >>> from discreet.privacy import KeySelection, LaplaceNoise
    >>> from discreet.privacy.pricing.boxes import price_approx
    >>> price_approx([KeySelection(LaplaceNoise(2, 1), "1e-6")] * 10)
    (Fraction(5, 1), Fraction(1, 100000))

    Guarantee: the events together are (ε, δ)-DP for the returned pair.

    Law: tests/privacy/test_boxes.py::TestBasic
    """
    parts = flatten(events)
    epsilon = Fraction()
    delta = parts.leak_sum
    for atom, times in parts.atoms:
        box = atom_box(atom)
        if box is None:
            return None
        epsilon += times * box[0]
        delta += times * box[1]
    return epsilon, delta


def approx_measure(event: Event) -> ApproxDP | None:
    """Return the (ε, δ) promise of an event; None if it has no known box."""
    box = price_approx(event)
    return None if box is None else ApproxDP(*box)


def atom_box(atom: Event) -> Box | None:
    """Return an (ε, δ) that one atom keeps; None if none is known, as for Gaussian noise."""
    pure = price_pure(atom)
    if pure is not None:
        return pure, Fraction()
    match atom:
        case OwnCurve():
            # The least δ, and among equal ones the least ε.
            swapped = [(delta, epsilon) for epsilon, delta in atom.points]
            least_delta, epsilon = min(swapped)
            return epsilon, least_delta
        case Sampled():
            inner = price_approx(atom.event)
            if inner is None:
                return None
            epsilon, delta = inner
            return amplified(epsilon, atom.rate), atom.rate * delta
        case Parallel():
            return _parallel_box(atom)
    return None


def _parallel_box(atom: Parallel) -> Box | None:
    """Return the largest ε and δ of the parts, under replace for a group of two; None if none."""
    epsilon = Fraction()
    delta = Fraction()
    for part in set(atom.parts):
        box = price_approx(part)
        if box is None:
            return None
        epsilon = max(epsilon, box[0])
        delta = max(delta, box[1])
    if atom.neighbours == ADD_REMOVE:
        return epsilon, delta
    group_delta = float(delta) * delta_factor(float(epsilon), 2)
    # A δ of 1 or more promises nothing.
    if group_delta >= 1:
        return None
    return 2 * epsilon, fraction_up(group_delta)


def optimal_delta(epsilon0: float, times: int, epsilon: float) -> float:
    """Return the exact δ(ε) of `times` randomized responses ε0. Not rounded.

    Σ_j C(k,j)(p^j q^(k−j) − e^ε q^j p^(k−j))₊: Kairouz, Oh, Viswanath 2015, Theorem 3.3. Written as
    Σ C(k,j) p^j q^(k−j) (1 − e^(ε − (2j−k)ε0)) over the positive terms, so nothing cancels. Its
    relative error is about k·ln k·1e-16.

    >>> from discreet.privacy.pricing.boxes import optimal_delta
    >>> round(optimal_delta(0.1, 10, 0.5), 12)
    0.009929626917

    Law: tests/privacy/test_boxes.py::TestOptimalComposition
    """
    # Without a loss no term is positive: begin beyond the last one.
    first = times + 1
    if epsilon0:
        # The first j whose loss (2j − k)ε0 may exceed ε, one too early rather than too late.
        needed = min(epsilon / epsilon0, times + 2)
        first = max(0, math.floor((needed + times) / 2))
    j = np.arange(first, times + 1)
    gain = (2 * j - times) * epsilon0 - epsilon
    is_positive = gain > 0
    j = j[is_positive]
    gain = gain[is_positive]
    if j.size == 0:
        return 0.0
    log_total = np.log1p(math.exp(-epsilon0))
    log_p = -log_total
    log_q = -epsilon0 - log_total
    log_choose = gammaln(times + 1) - gammaln(j + 1) - gammaln(times - j + 1)
    logs = log_choose + j * log_p + (times - j) * log_q
    terms = np.exp(logs) * -np.expm1(-gain)
    return min(1.0, float(np.sum(terms)))


def optimal_epsilon(epsilon0: float, times: int, delta: float) -> float:
    """Return the least ε with optimal_delta ≤ delta, from the safe side of the root; Σε at δ = 0.

    >>> from discreet.privacy.pricing.boxes import optimal_epsilon
    >>> round(optimal_epsilon(0.1, 100, 1e-6), 4)
    4.7746

    Law: tests/privacy/test_boxes.py::TestOptimalComposition
    """
    total = times * epsilon0
    if delta <= 0 or total == 0:
        return total
    if optimal_delta(epsilon0, times, 0.0) <= delta:
        return 0.0

    def excess(at: float) -> float:
        price = optimal_delta(epsilon0, times, at)
        return math.log(price / delta) if price > 0 else -math.inf

    return crossing(excess, 0.0, total, relative=2.0**-46)[1]


def margin(times: int) -> float:
    """Return the relative margin that covers the rounding errors of a binomial sum."""
    # 2^−40 for the sum, and a few units in the last place of k·ln k for the log-factorials.
    log_factorials = times * math.log(times + 2) * 2.0**-50
    return 2.0**-40 + log_factorials
