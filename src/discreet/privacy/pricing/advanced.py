"""Advanced composition: a tail bound on the sum of the losses of many small (ε, δ) boxes.

Kept because textbooks teach it. The optimal and the numerical price are never larger; the
numbers are side by side in `compose(...).why(delta)`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from ...errors import InvalidArgument

# Above this ε, e^ε would leave the floats (e^709 is the last).
_MAX_EXPONENT = 700


def advanced_epsilon(epsilons: Iterable[tuple[float, int]], slack: float) -> float:
    """Return √(2 ln(1/δ') Σε²) + Σε(e^ε − 1) for (ε, times) boxes and slack δ'. Not rounded.

    Dwork, Rothblum, Vadhan 2010; Dwork, Roth 2014, Theorem 3.20. For k equal boxes it is
    ε√(2k ln(1/δ')) + kε(e^ε − 1). The second term is not optional: the losses have a positive mean.
    The total δ is Σδ + δ'.

    >>> from discreet.privacy.pricing.advanced import advanced_epsilon
    >>> round(advanced_epsilon([(0.1, 100)], 1e-6), 12)
    6.308230950513

    Refuses: InvalidArgument for a slack outside (0, 1].

    Law: tests/privacy/test_advanced.py::test_both_terms_are_there
    """
    if not 0 < slack <= 1:
        raise InvalidArgument(
            f"slack must lie in (0, 1], got {slack}; it is the part of δ spent on the tail bound"
        )
    squares, mean = _sums(epsilons)
    deviation = math.sqrt(-2 * math.log(slack) * squares)
    return deviation + mean


def advanced_delta(epsilons: Iterable[tuple[float, int]], epsilon: float) -> float:
    """Return the slack δ' at which the bound reaches ε: e^(−(ε − Σε(e^ε−1))²/2Σε²).

    It is 1 where ε is at most Σε(e^ε − 1). Not rounded.

    >>> from discreet.privacy.pricing.advanced import advanced_delta
    >>> round(advanced_delta([(0.1, 100)], 6.308230950513), 12)
    1e-06

    Law: tests/privacy/test_advanced.py::test_delta_undoes_epsilon_and_never_beats_the_optimum
    """
    squares, mean = _sums(epsilons)
    if epsilon <= mean:
        return 1.0
    if not squares:
        return 0.0
    return math.exp(-((epsilon - mean) ** 2) / (2 * squares))


def _sums(epsilons: Iterable[tuple[float, int]]) -> tuple[float, float]:
    """Return Σε² and Σε(e^ε − 1); the latter bounds the mean loss from above."""
    squares = 0.0
    mean = 0.0
    for epsilon, times in epsilons:
        squares += times * epsilon * epsilon
        # Infinite where e^ε has no float: no bound is the safe answer.
        mean += times * epsilon * math.expm1(epsilon) if epsilon < _MAX_EXPONENT else math.inf
    return squares, mean
