"""Boxes: events known only as (ε, δ)-DP, and their composition: basic, and optimal for identical ones.

An (ε, δ) box is no worse than this: with probability δ everything is shown, otherwise randomized response ε (Kairouz,
Oh, Viswanath 2015). So k boxes are k such coins, and their exact curve is a binomial sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from ...arithmetic.root_finder import crossing
from ...arithmetic.rounding import fraction_up
from ...arithmetic.special import gammaln
from ..events import Event, OwnCurve, Parallel, Sampled
from ..neighbours import ADD_REMOVE
from .event_parts import Flattened, flatten
from .group import delta_factor
from .pure import amplified, price_pure

Box = tuple[Fraction, Fraction]

MOST = 2**22
"""The largest number of identical boxes whose binomial sum is taken; beyond, the numerical engine is the tool."""


def price_approx(events: Flattened | Event | Iterable[Event]) -> Box | None:
    """Add up (ε, δ) by basic composition, exactly; None if some event is no box at any one (ε, δ) we know of.

    Noise such as the Gaussian has a whole curve and no box of its own: None. A curve of points counts as its point of
    least δ. On a Poisson sample (ε, δ) becomes (ln(1 + q(e^ε − 1)), qδ).

    >>> from discreet.privacy import KeySelection, LaplaceNoise
    >>> from discreet.privacy.pricing.boxes import price_approx
    >>> price_approx([KeySelection(LaplaceNoise(2, 1), "1e-6")] * 10)
    (Fraction(5, 1), Fraction(1, 100000))
    """
    parts = flatten(events)
    e, d = Fraction(), parts.leak_sum
    for atom, times in parts.atoms:
        box = atom_box(atom)
        if box is None:
            return None
        e, d = e + times * box[0], d + times * box[1]
    return e, d


def atom_box(atom: Event) -> Box | None:
    """Return the (ε, δ) of one atom."""
    if (pure := price_pure(atom)) is not None:
        return pure, Fraction()
    match atom:
        case OwnCurve():
            least, at = min((d, e) for e, d in atom.points)
            return at, least
        case Sampled():
            inner = price_approx(atom.event)
            return None if inner is None else (amplified(inner[0], atom.rate), atom.rate * inner[1])
        case Parallel():
            return _parallel(atom)
    return None


def _parallel(atom: Parallel) -> Box | None:
    """Take the largest ε and the largest δ of the parts; under replace, of a group of two in the worst part."""
    boxes = [box for box in map(price_approx, set(atom.parts)) if box is not None]
    if len(boxes) < len(set(atom.parts)):
        return None
    e, d = max(e for e, _ in boxes), max(d for _, d in boxes)
    if atom.neighbours == ADD_REMOVE:
        return e, d
    grown = float(d) * delta_factor(float(e), 2)
    return (2 * e, fraction_up(grown)) if grown < 1 else None


def optimal_delta(epsilon0: float, times: int, epsilon: float) -> float:
    """Return the exact δ(ε) of `times` randomized responses ε0: Σ_j C(k,j)(p^j q^(k−j) − e^ε q^j p^(k−j))₊. Not
    rounded.

    Kairouz, Oh, Viswanath 2015, Theorem 3.3; written as Σ C(k,j) p^j q^(k−j) (1 − e^(ε − (2j−k)ε0)) over the positive
    terms, so nothing cancels. Its relative error is about k·ln k·1e-16.

    >>> from discreet.privacy.pricing.boxes import optimal_delta
    >>> round(optimal_delta(0.1, 10, 0.5), 12)
    0.009929626917
    """
    first = (
        max(0, math.floor((min(epsilon / epsilon0, times + 2) + times) / 2))
        if epsilon0
        else times + 1
    )
    j = np.arange(first, times + 1)
    gain = (2 * j - times) * epsilon0 - epsilon
    j, gain = j[gain > 0], gain[gain > 0]
    if j.size == 0:
        return 0.0
    log_p, log_q = -np.log1p(math.exp(-epsilon0)), -epsilon0 - np.log1p(math.exp(-epsilon0))
    logs = (
        gammaln(times + 1)
        - gammaln(j + 1)
        - gammaln(times - j + 1)
        + j * log_p
        + (times - j) * log_q
    )
    return min(1.0, float(np.sum(np.exp(logs) * -np.expm1(-gain))))


def optimal_epsilon(epsilon0: float, times: int, delta: float) -> float:
    """Return the least ε with optimal_delta ≤ delta, from the safe side of the root; Σε at δ = 0.

    >>> from discreet.privacy.pricing.boxes import optimal_epsilon
    >>> round(optimal_epsilon(0.1, 100, 1e-6), 4)
    4.7746
    """
    total = times * epsilon0
    if delta <= 0 or total == 0:
        return total
    if optimal_delta(epsilon0, times, 0.0) <= delta:
        return 0.0

    def excess(e: float) -> float:
        price = optimal_delta(epsilon0, times, e)
        return math.log(price / delta) if price > 0 else -math.inf

    return crossing(excess, 0.0, total, relative=2.0**-46)[1]


def margin(times: int) -> float:
    """Return the relative margin that covers the rounding errors of a binomial sum over `times` terms."""
    return 2.0**-40 + times * math.log(times + 2) * 2.0**-50
