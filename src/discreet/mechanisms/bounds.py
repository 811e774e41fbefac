"""Closed-form error bounds of the lectures, with the right constants.

Each holds, and most are looser than `error()` of the mechanism, an exact quantile. They show how
the error grows: with ln of the number of cells and with 1/ε; in the local model that of a frequency
falls as 1/√n (that of a count grows as √n). All are rounded up.
"""

from __future__ import annotations

import math

from ..arithmetic.rational import Number, not_negative, positive, rational, whole
from ..arithmetic.rounding import up
from .laws.error_bound import hoeffding, read_beta


def laplace_tail(t: Number) -> float:
    """Bound P(|Y| > t·b) ≤ e^(−t) for Laplace noise Y of scale b.

    Lectures 002 and 003; an equality off the lattice.

    >>> from discreet.mechanisms.bounds import laplace_tail
    >>> round(laplace_tail(3), 4)
    0.0498

    Law: tests/mechanisms/test_bounds.py::TestLaplace
    """
    return up(math.exp(-not_negative(t, "t")))


def laplace_linf(cells: int, beta: Number, epsilon: Number, sensitivity: Number) -> float:
    """Bound ‖error‖∞ of the Laplace mechanism by ln(K/β)·Δ1/ε with probability 1 − β.

    Lecture 002, union bound. The names example: 10 000 first names, Δ1 = 1, ε = 1, 95 %.

    >>> from discreet.mechanisms.bounds import laplace_linf
    >>> round(laplace_linf(10_000, beta=0.05, epsilon=1, sensitivity=1), 2)
    12.21

    Law: tests/mechanisms/test_bounds.py::TestLaplace
    """
    delta1 = positive(sensitivity, "sensitivity")
    exact_epsilon = positive(epsilon, "epsilon")
    scale = float(delta1 / exact_epsilon)
    count = whole(cells, "cells", least=1)
    return up(math.log(count / read_beta(beta)) * scale)


def laplace_expected_l1(cells: int, epsilon: Number, sensitivity: Number) -> float:
    """Bound E‖error‖₁ of the Laplace mechanism by K·Δ1/ε (lecture 002).

    An equality off the lattice.

    >>> from discreet.mechanisms.bounds import laplace_expected_l1
    >>> round(laplace_expected_l1(4, epsilon=0.5, sensitivity=1), 9)
    8.0

    Law: tests/mechanisms/test_bounds.py::TestLaplace
    """
    delta1 = positive(sensitivity, "sensitivity")
    exact_epsilon = positive(epsilon, "epsilon")
    count = whole(cells, "cells", least=1)
    # Exact until here, so that it is rounded once, and up.
    exact = count * (delta1 / exact_epsilon)
    return up(float(exact))


def laplace_counting(queries: int, people: int, epsilon: Number, beta: Number) -> float:
    """Bound the error of m counting queries, as fractions of n people, by (m/(n·ε))·ln(m/β).

    Each fraction moves by 1/n, so Δ1 = m/n. (Lecture 001 prints n/(m·ε).)

    >>> from discreet.mechanisms.bounds import laplace_counting
    >>> round(laplace_counting(queries=100, people=10_000, epsilon=1, beta=0.05), 4)
    0.076

    Law: tests/mechanisms/test_bounds.py::TestLaplace
    """
    m = whole(queries, "queries", least=1)
    sensitivity = rational(m, "queries") / whole(people, "people", least=1)
    return laplace_linf(m, beta, epsilon, sensitivity)


def gaussian_tail(t: Number) -> float:
    """Bound P(|Z| > t·σ) ≤ 2e^(−t²/2) for Gaussian noise (lecture 002).

    >>> from discreet.mechanisms.bounds import gaussian_tail
    >>> round(gaussian_tail(3), 4)
    0.0222

    Law: tests/mechanisms/test_bounds.py::TestGaussian
    """
    exponent = -(float(not_negative(t, "t")) ** 2) / 2
    return up(min(1.0, 2 * math.exp(exponent)))


def gaussian_linf(cells: int, beta: Number, scale: Number) -> float:
    """Bound ‖error‖∞ of the Gaussian mechanism by σ·√(2 ln(K/β)) with probability 1 − β.

    Proof: P(|Z| > t) ≤ e^(−t²/2) for all t ≥ 0, and a union bound. Lecture 002 lacks the √2, and
    then the bound fails for 19 % of releases at K = 10, β = 5 %.

    >>> from discreet.mechanisms.bounds import gaussian_linf
    >>> round(gaussian_linf(10, beta=0.05, scale=1), 3)
    3.255

    Law: tests/mechanisms/test_bounds.py::TestGaussian
    """
    count = whole(cells, "cells", least=1)
    log_ratio = math.log(count / read_beta(beta))
    sigma = float(positive(scale, "scale"))
    return up(math.sqrt(2 * log_ratio) * sigma)


def hoeffding_response(n: int, epsilon: Number, beta: Number) -> float:
    """Bound the error of the frequency estimated from n binary randomized responses (Hoeffding).

    Each response is 0 or 1 and is divided by 2p − 1 = tanh(ε/2), so
    |π̂ − π| ≤ √(ln(2/β)/2n)/tanh(ε/2).

    >>> from discreet.mechanisms.bounds import hoeffding_response
    >>> round(hoeffding_response(10_000, epsilon=1, beta=0.05), 4)
    0.0294

    Law: tests/mechanisms/test_bounds.py::TestResponse
    """
    half = float(positive(epsilon, "epsilon")) / 2
    return up(hoeffding(n, beta) / math.tanh(half))


def exponential_utility(
    options: int, t: Number, epsilon: Number, sensitivity: Number, optimal: int = 1
) -> float:
    """Bound how far below the best score the exponential mechanism falls, with P = 1 − e^(−t).

    (2Δ/ε)·(ln(|O|/|O_opt|) + t) (McSherry, Talwar 2007; lecture 003). Four nationalities, t = 3,
    ε = 1 (lecture 003 prints 6.8):

    >>> from discreet.mechanisms.bounds import exponential_utility
    >>> round(exponential_utility(4, t=3, epsilon=1, sensitivity=1), 2)
    8.77

    Law: tests/mechanisms/test_bounds.py::TestExponential
    """
    best = whole(optimal, "optimal", least=1)
    candidates = whole(options, "options", least=best)
    spread = math.log(candidates / best) + float(not_negative(t, "t"))
    delta = positive(sensitivity, "sensitivity")
    exact_epsilon = positive(epsilon, "epsilon")
    return up(2 * spread * float(delta / exact_epsilon))
