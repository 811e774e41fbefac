"""Amplification: what a Poisson sample of the units adds to a promise, in both directions.

Removing a unit compares the mixture (1−q)Q + qP with Q, adding one compares Q with the mixture. The two differ, and the
price is the worse of them at every ε, not the better-looking one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Literal

from ..arithmetic.rational import Number, rational
from ..errors import InvalidArgument
from .events import GaussianNoise, Repeated, Sampled
from .measures import ApproxDP, Measure, PureDP, read_measure
from .pricing.pure import amplified


def _rate(rate: Number) -> Fraction:
    q = rational(rate, "rate")
    if not 0 < q <= 1:
        raise InvalidArgument(f"rate must be greater than 0 and at most 1, got {rate}")
    return q


def amplify(measure: Measure, rate: Number) -> PureDP | ApproxDP:
    """Restate an add/remove promise for a Poisson sample: (ε, δ) becomes (ln(1 + q(e^ε − 1)), qδ), rounded up.

    Li, Qardaji, Su 2012; Balle, Barthe, Gaboardi 2018, Theorem 8. It holds in both directions.

    >>> import discreet as dp
    >>> dp.amplify(dp.ApproxDP(1, "1e-5"), 0.01).delta, float(dp.amplify(dp.PureDP(1), 0.01).epsilon) < 0.01704
    (Fraction(1, 10000000), True)

    Refuses the other measures: their amount does not shrink with the rate (all orders, or all of the curve, count).
    """
    q = _rate(rate)
    match read_measure(measure):
        case PureDP(epsilon=e):
            return PureDP(amplified(e, q))
        case ApproxDP(epsilon=e, delta=d):
            return ApproxDP(amplified(e, q), q * d)
    raise InvalidArgument(
        f"{measure!r} has no amplified amount; price compose(Sampled(Promise(measure), rate)), a whole curve, instead"
    )


def amplify_delta(
    delta: Callable[[float], float], rate: Number, direction: Literal["remove", "add"]
) -> Callable[[float], float]:
    """Turn the privacy curve δ of a pair (P, Q) into that of its Poisson-sampled pair, exactly, in one direction.

    With γ = e^ε: removing gives q·δ(ln(1 + (γ−1)/q)); adding gives (1 − γ(1−q))·δ'(ln(γq/(1 − γ(1−q)))), and 0 once
    γ(1−q) ≥ 1, where δ' is the curve of (Q, P) (Zhu, Dong, Wang 2022, Proposition 30). Pass the curve that belongs to
    the direction; both are the same for symmetric noise. Nothing is rounded.

    >>> from discreet.privacy.amplify import amplify_delta
    >>> from discreet.privacy.pricing.gaussian import delta
    >>> removed = amplify_delta(lambda e: delta(1.0, e), "0.01", "remove")
    >>> round(removed(0.1), 15)
    7.2900376958e-05
    >>> amplify_delta(lambda e: delta(1.0, e), "0.01", "add")(0.1)
    0.0

    Refuses a rate outside (0, 1] and an unknown direction. The curve returned is for ε ≥ 0.
    """
    q = float(_rate(rate))
    if direction not in ("remove", "add"):
        raise InvalidArgument(f"direction must be 'remove' or 'add', got {direction!r}")

    def remove(epsilon: float) -> float:
        return q * delta(math.log1p(math.expm1(epsilon) / q))

    def add(epsilon: float) -> float:
        rest = q - (1 - q) * math.expm1(epsilon)  # 1 − γ(1 − q)
        return rest * delta(epsilon + math.log(q / rest)) if rest > 0 else 0.0

    return remove if direction == "remove" else add


def dp_sgd(*, noise_multiplier: Number, rate: Number, steps: int) -> Repeated:
    """Describe private gradient descent: `steps` rounds, each a Poisson sample with Gaussian noise on clipped sums.

    The neighbour relation is add/remove; clipping to norm C with noise σC has Δ2 = C, so only σ counts. (Pricing it for
    replace-one needs twice the sensitivity; a peer that does not say so is wrong by that factor.)

    >>> import discreet as dp
    >>> dp.dp_sgd(noise_multiplier="0.8", rate="0.01", steps=10000).times
    10000
    """
    return Repeated(Sampled(GaussianNoise.of(noise_multiplier, 1), rate), steps)
