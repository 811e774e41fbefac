"""Privacy amplification by Poisson sampling of the units, in both directions.

Removing a unit compares the mixture (1−q)Q + qP with Q, adding one compares Q with the mixture. The
two differ, and the price is the worse of them at every ε, not the better-looking one.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

from ..arithmetic.rational import Number, one_of
from ..errors import InvalidArgument
from .events import GaussianNoise, Repeated, Sampled
from .events.combined import read_sampling_rate
from .measures import ApproxDP, Measure, PureDP, read_measure
from .pricing.pure import amplified


def amplify(measure: Measure, rate: Number) -> PureDP | ApproxDP:
    """Restate an add/remove promise for a Poisson sample of rate q.

    (ε, δ) becomes (ln(1 + q(e^ε − 1)), qδ), rounded up: Li, Qardaji, Su 2012; Balle, Barthe,
    Gaboardi 2018, Theorem 8.

    >>> import discreet as dp
    >>> dp.amplify(dp.ApproxDP(1, "1e-5"), 0.01).delta
    Fraction(1, 10000000)
    >>> float(dp.amplify(dp.PureDP(1), 0.01).epsilon) < 0.01704
    True

    Guarantee: holds in both directions, removing a unit and adding one.

    Refuses: InvalidArgument for the other measures: their amount does not shrink with the rate (all
        orders, or all of the curve, count).

    Law: tests/laws/test_laws_of_prices.py::TestAmplification
    Law: tests/privacy/test_amplify.py::test_the_promise_is_kept_by_the_curve
    """
    q = read_sampling_rate(rate)
    match read_measure(measure):
        case PureDP(epsilon=epsilon):
            return PureDP(amplified(epsilon, q))
        case ApproxDP(epsilon=epsilon, delta=delta):
            return ApproxDP(amplified(epsilon, q), q * delta)
    raise InvalidArgument(
        f"{measure!r} has no amplified amount; "
        "price compose(Sampled(Promise(measure), rate)), a whole curve, instead"
    )


def amplify_delta(
    delta: Callable[[float], float], rate: Number, direction: Literal["remove", "add"]
) -> Callable[[float], float]:
    """Turn the privacy curve δ of a pair (P, Q) into that of its Poisson-sampled pair, exactly.

    With γ = e^ε: removing gives q·δ(ln(1 + (γ−1)/q)). Adding gives
    (1 − γ(1−q))·δ'(ln(γq/(1 − γ(1−q)))), and 0 once γ(1−q) ≥ 1, where δ' is the curve of (Q, P)
    (Zhu, Dong, Wang 2022, Proposition 30). Pass the curve that belongs to the direction; both are
    the same for symmetric noise. Not rounded. The returned curve is for ε ≥ 0.

    >>> from discreet.privacy.amplify import amplify_delta
    >>> from discreet.privacy.pricing.gaussian import delta
    >>> removed = amplify_delta(lambda e: delta(1.0, e), "0.01", "remove")
    >>> round(removed(0.1), 15)
    7.2900376958e-05
    >>> amplify_delta(lambda e: delta(1.0, e), "0.01", "add")(0.1)
    0.0

    Refuses: InvalidArgument for a rate outside (0, 1] and for an unknown direction.

    Law: tests/privacy/test_amplify.py::test_both_directions_against_the_definition
    """
    q = float(read_sampling_rate(rate))
    one_of(direction, "direction", "remove", "add")

    def remove(epsilon: float) -> float:
        return q * delta(math.log1p(math.expm1(epsilon) / q))

    def add(epsilon: float) -> float:
        # 1 − γ(1 − q), by expm1 so that small ε keep their digits.
        weight = q - (1 - q) * math.expm1(epsilon)
        return weight * delta(epsilon + math.log(q / weight)) if weight > 0 else 0.0

    return remove if direction == "remove" else add


def dp_sgd(*, noise_multiplier: Number, rate: Number, steps: int) -> Repeated:
    """Describe DP-SGD: `steps` rounds, each a Poisson sample with Gaussian noise on clipped sums.

    The neighbour relation is add/remove. Clipping to norm C with noise σC has Δ2 = C, so only σ
    counts. (Pricing it for replace-one needs twice the sensitivity; a peer that does not say so is
    wrong by that factor.)

    >>> import discreet as dp
    >>> dp.dp_sgd(noise_multiplier="0.8", rate="0.01", steps=10000).times
    10000
    """
    step = Sampled(GaussianNoise.of(noise_multiplier, 1), rate)
    return Repeated(step, steps)
