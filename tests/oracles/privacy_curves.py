"""Privacy curves by 60-digit arithmetic: sums over all outcomes, and closed forms for Gaussians and hyperbolas.

Shares nothing with the package: laws come in as lists of (loss, mass under P) in mpmath numbers.
"""

from itertools import product as outcomes
from math import comb, factorial

from mpmath import erfc, exp, inf, log, mp, mpf, quad, sqrt

from support.untraced import untraced

mp.dps = 60


@untraced
def response_law(epsilon, options=2):
    """Losses of k-ary randomized response."""
    whole = exp(epsilon) + options - 1
    return [(epsilon, exp(epsilon) / whole), (mpf(0), (options - 2) / whole), (-epsilon, 1 / whole)]


def box_law(epsilon, delta):
    """Losses of the worst (ε, δ) event."""
    return [(inf, delta)] + [(loss, (1 - delta) * p) for loss, p in response_law(epsilon)]


@untraced
def geometric_law(rate, steps):
    """Losses of two-sided geometric noise, by listing outputs until the tail is one atom on each side."""
    a = exp(-rate)
    law = {}
    for x in range(-steps - 1, 2 * steps + 2):
        p, q = _geometric(a, x - steps), _geometric(a, x)
        law[steps - 2 * min(max(steps - x, 0), steps)] = (
            law.get(steps - 2 * min(max(steps - x, 0), steps), 0) + p
        )
        assert abs(log(p / q) - rate * (steps - 2 * min(max(steps - x, 0), steps))) < mpf(10) ** -50
    rest = a ** (steps + 2) / (1 + a)
    law[steps] += rest
    law[-steps] += a ** (2 * steps + 2) / (1 + a)
    return [(rate * n, p) for n, p in law.items()]


def _geometric(a, x):
    return (1 - a) / (1 + a) * a ** abs(x)


@untraced
def discrete_gauss_law(variance, shift, reach=60):
    """Losses of the discrete Gaussian, as far as 60 digits see them."""
    total = sum(exp(-(mpf(x) ** 2) / (2 * variance)) for x in range(-reach, reach + 1))
    return [
        (
            (2 * y * shift + shift**2) / (2 * mpf(variance)),
            exp(-(mpf(y) ** 2) / (2 * variance)) / total,
        )
        for y in range(-reach, reach + 1)
    ]


@untraced
def binomial_law(trials, shift):
    """Losses of binomial noise; infinite where only P can be."""
    ways, whole = [comb(trials, y) for y in range(trials + 1)], mpf(2) ** trials
    losses = [
        log(mpf(ways[y]) / ways[y + shift]) if y + shift <= trials else inf
        for y in range(trials + 1)
    ]
    return [(loss, way / whole) for loss, way in zip(losses, ways, strict=True)]


def reverse(law):
    """The law of the same two distributions with their places changed, for finite losses."""
    return [(-loss, p * exp(-loss)) for loss, p in law]


@untraced
def sampled_law(law, rate, *, removes):
    """Losses of a Poisson sample, from the law in the same direction (finite losses)."""
    if removes:
        return [
            (log(1 - rate + rate * exp(loss)), (1 - rate) * p * exp(-loss) + rate * p)
            for loss, p in law
        ]
    return [(-log(1 - rate + rate * exp(-loss)), p) for loss, p in law]


@untraced
def compose_laws(laws):
    """The law of the summed loss, outcome by outcome."""
    total = {mpf(0): mpf(1)}
    for law in laws:
        grown = {}
        for a, p in total.items():
            for b, q in law:
                key = a + b
                grown[key] = grown.get(key, mpf(0)) + p * q
        total = grown
    return list(total.items())


@untraced
def delta_of(law, epsilon):
    """E[max(0, 1 − e^{ε−L})]."""
    return sum(
        (p * (1 - exp(epsilon - loss)) if loss != inf else p) for loss, p in law if loss > epsilon
    )


def epsilon_of(curve, delta, high):
    """The least ε ≥ 0 with curve(ε) ≤ δ, by bisection, from below: short of it by less than 1e-20."""
    low, high = mpf(0), mpf(high)
    if curve(low) <= delta:
        return low
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if curve(middle) > delta else (low, middle)
    return low


def normal(x):
    return erfc(-x / sqrt(mpf(2))) / 2


@untraced
def gauss_delta(mu, epsilon):
    """Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ)."""
    return normal(mu / 2 - epsilon / mu) - exp(epsilon) * normal(-mu / 2 - epsilon / mu)


@untraced
def sampled_gauss_delta(mu, rate, epsilon, *, removes):
    """The curve of one Poisson-sampled Gaussian, by integration of the two densities."""
    x = exp(mpf(epsilon))

    def density(t, centre):
        return exp(-((t - centre) ** 2) / 2)

    def excess(t):
        q, p = density(t, 0), (1 - rate) * density(t, 0) + rate * density(t, mu)
        gain = p - x * q if removes else q - x * p
        return max(gain, mpf(0))

    inner = (x - 1 + rate) / rate if removes else (1 / x - 1 + rate) / rate
    if inner <= 0:
        return 1 - x if removes else mpf(0)
    cut = log(inner) / mu + mu / 2
    span = [cut, cut + 5, cut + 20, cut + 40] if removes else [cut - 40, cut - 20, cut - 5, cut]
    return quad(excess, span) / sqrt(2 * mp.pi)


@untraced
def laplace_delta(ratio, epsilon):
    """One Laplace release: 1 − e^{(ε−Δ/b)/2} between the two largest losses."""
    if epsilon >= ratio:
        return mpf(0)
    return 1 - exp(epsilon) if epsilon < -ratio else 1 - exp((epsilon - ratio) / 2)


@untraced
def hyperbola_delta(shape, count, epsilon):
    """k-fold curve of P-mass `end` at ±high (mirrored) and density ½·root·e^{l/2} on ±wide.

    Divided by e^{l/2} the density is flat, so sums of j of them are Irwin–Hall polynomials: exact up to one quadrature
    of smooth pieces. `shape` is (high, wide, end, root).
    """
    high, wide, end, root = shape
    total = mpf(0)
    for plus, minus in outcomes(range(count + 1), repeat=2):
        j = count - plus - minus
        if j < 0 or (end == 0 and plus + minus > 0):
            continue
        ways = factorial(count) // (factorial(plus) * factorial(minus) * factorial(j))
        weight = ways * end**plus * (end * exp(-high)) ** minus
        total += weight * _flat_part(j, wide, root, epsilon - (plus - minus) * high)
    return total


def _flat_part(j, wide, root, epsilon):
    if j == 0:
        return max(mpf(0), 1 - exp(epsilon))
    knots = [wide * (2 * i - j) for i in range(j + 1)]
    cuts = sorted({max(epsilon, k) for k in knots})
    if len(cuts) < 2:
        return mpf(0)

    def integrand(t):
        return exp(t / 2) * _irwin_hall(j, (t + j * wide) / (2 * wide)) * (1 - exp(epsilon - t))

    return (root / 2) ** j * (2 * wide) ** (j - 1) * quad(integrand, cuts)


def _irwin_hall(j, x):
    if j == 1:
        return mpf(1)
    terms = ((-1) ** i * comb(j, i) * (x - i) ** (j - 1) for i in range(j + 1) if x > i)
    return sum(terms, mpf(0)) / factorial(j - 1)
