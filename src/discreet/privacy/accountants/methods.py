"""The ways to price a composition, each sound by itself: what they need, what they give, and why one would use them.

basic      Σε, Σδ                       every event is a box; adaptive too
advanced   a tail bound on Σ losses     many small boxes; taught, never the tightest
optimal    the exact binomial sum       boxes of one ε; nothing is lost
zCDP       Σρ, then one conversion      every event concentrated; exact sums
Rényi      Σε(α), the best order        every event with a finite divergence
Gaussian   Σμ², the exact curve         exact for Gaussian noise
closed     the exact curve of one event
numerical  the sum's whole distribution, with certified bounds on both sides
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ...arithmetic.rounding import MARGIN, down, up
from ...errors import InvalidArgument
from ..events import Event, PermuteAndFlipSelection, Promise, Repeated, Response, SparseVector
from ..measures import ZCDP, ApproxDP, PureDP, RenyiDP
from ..pricing import gaussian, gdp, rdp, zcdp
from ..pricing.advanced import advanced_delta, advanced_epsilon
from ..pricing.boxes import MOST, atom_box, margin, optimal_delta, optimal_epsilon, price_approx
from ..pricing.event_parts import Flattened
from .lazy_numerical import numerical
from .single import Price, single_prices

_MEET = (
    2.0**-39
)  # twice the margin by which a pair may round a loss up, so that the lower bound stays below


@dataclass(frozen=True)
class Method:
    """One way to price: ε of δ and δ of ε, rounded up; and, if it is exact, the same rounded down."""

    name: str
    because: str
    epsilon: Callable[[Fraction], float]
    delta: Callable[[Fraction], float]
    lower_epsilon: Callable[[Fraction], float] | None = None
    lower_delta: Callable[[Fraction], float] | None = None

    @property
    def exact(self) -> bool:
        """Whether nothing is lost: the bound from below is as good."""
        return self.lower_delta is not None


def ceiling(amount: Fraction) -> float:
    """Return the least float that does not stand for less than an exact amount; a float stands for its shortest
    decimal.

    >>> from discreet.privacy.accountants.methods import ceiling
    >>> from fractions import Fraction
    >>> ceiling(Fraction(3, 10)), Fraction(repr(ceiling(Fraction(1, 3)))) > Fraction(1, 3)
    (0.3, True)
    """
    near = float(amount)
    return near if Fraction(repr(near)) >= amount else math.nextafter(near, math.inf)


def methods(parts: Flattened) -> tuple[Method, ...]:
    """List the closed-form ways that apply to these atoms, simplest first; the numerical one is added by the curve."""
    made = (
        _basic(parts),
        _advanced(parts),
        _optimal(parts),
        _zcdp(parts),
        _rdp(parts),
        _gdp(parts),
        _single(parts),
    )
    return tuple(m for m in made if m is not None)


def exact_methods(parts: Flattened) -> tuple[Method, ...]:
    """Return the few methods that decide where one of them is exact, or nearly so; nothing if none is."""
    atoms = [atom for atom, _ in parts.atoms]
    made: tuple[Method | None, ...]
    if all(map(gdp.nearly_exact, atoms)):
        made = _basic(parts), _gdp(parts)
    elif all(map(_is_response, atoms)):
        made = _basic(parts), _optimal(parts)
    elif all(isinstance(a, Promise) and isinstance(a.measure, ZCDP | RenyiDP) for a in atoms):
        # nothing but the measure is known, so its own conversion is the tightest there is
        made = _basic(parts), _zcdp(parts), _rdp(parts)
    else:
        made = _basic(parts), _zcdp(parts), _gdp(parts), _single(parts)
    return tuple(m for m in made if m is not None) if made[-1] else ()


def _basic(parts: Flattened) -> Method | None:
    box = price_approx(parts)
    if box is None:
        return None
    e, d = box
    return Method(
        "basic",
        "the ε and the δ add up",
        lambda delta: ceiling(e) if delta >= d else math.inf,
        lambda epsilon: ceiling(d) if epsilon >= e else 1.0,
    )


def _advanced(parts: Flattened) -> Method | None:
    boxes = _boxes(parts)
    if boxes is None or not boxes[0]:
        return None
    epsilons, leak = boxes
    each = [(float(e), k) for e, k in epsilons.items()]

    def epsilon(delta: Fraction) -> float:
        slack = down(float(delta) - up(float(leak)))
        return up(advanced_epsilon(each, slack)) if slack > 0 else math.inf

    def delta(epsilon: Fraction) -> float:
        return min(1.0, up(float(leak) + advanced_delta(each, down(float(epsilon)))))

    return Method(
        "advanced", "Dwork, Rothblum, Vadhan: a tail bound on the sum of the losses", epsilon, delta
    )


def _boxes(parts: Flattened) -> tuple[dict[Fraction, int], Fraction] | None:
    """Count the atoms by their ε, and add up their δ and the leaks."""
    epsilons: dict[Fraction, int] = {}
    leak = parts.leak_sum
    for atom, times in parts.atoms:
        box = atom_box(atom)
        if box is None:
            return None
        leak += times * box[1]
        if box[0]:
            epsilons[box[0]] = epsilons.get(box[0], 0) + times
    return epsilons, leak


def _optimal(parts: Flattened) -> Method | None:
    boxes = _boxes(parts)
    if boxes is None or len(boxes[0]) != 1:
        return None
    (each, times), leaks = next(iter(boxes[0].items())), boxes[1]
    if times > MOST:
        return None
    e, slip = float(each), margin(times)
    leak = parts.leak if leaks == parts.leak_sum else up(float(leaks))
    exact = leaks == parts.leak_sum and all(map(_is_response, (a for a, _ in parts.atoms)))
    pair = (lambda d: optimal_epsilon(e, times, d)), (lambda x: optimal_delta(e, times, x))
    return _leaky(
        "optimal",
        "Kairouz, Oh, Viswanath: the exact sum for boxes of one ε",
        leak,
        pair,
        slip,
        lower=pair if exact else None,
    )


def _is_response(atom: Event) -> bool:
    """Return whether nothing but a pure ε is known of the event, or it is randomized response between two."""
    match atom:
        case (
            Promise(measure=PureDP())
            | SparseVector()
            | PermuteAndFlipSelection()
            | Response(options=2)
        ):
            return True
    return False


def _zcdp(parts: Flattened) -> Method | None:
    rho = zcdp.price_zcdp(parts.kept)
    if rho is None:
        return None
    r = up(float(rho), 2.0**-50) if rho else 0.0
    pair = (lambda d: zcdp.epsilon(r, d)), (lambda e: zcdp.delta(r, e))
    return _leaky(
        "zCDP", "the ρ add up; converted once by Canonne, Kamath, Steinke", parts.leak, pair
    )


def _rdp(parts: Flattened) -> Method | None:
    if not np.isfinite(rdp.renyi_parts(parts, np.array([1.0625]))).all():
        return None
    pair = (lambda d: rdp.best_epsilon(parts, d)), (lambda e: rdp.best_delta(parts, e))
    return _leaky(
        "Rényi", "the divergences add up order by order; the best order wins", parts.leak, pair
    )


def _gdp(parts: Flattened) -> Method | None:
    square = gdp.price_gdp(parts.kept)
    if square is None:
        return None
    exact = all(gdp.exact_square(a) is not None for a, _ in parts.atoms)
    mu = math.sqrt(square)
    pair = (lambda d: gaussian.epsilon(mu, d)), (lambda e: gaussian.delta(mu, e))
    because = (
        "the μ² add up; the curve is exact"
        if exact
        else "every event is no worse than Gaussian noise of its μ"
    )
    return _leaky("Gaussian", because, parts.leak, pair, lower=pair if exact else None)


def _single(parts: Flattened) -> Method | None:
    if parts.count != 1 or (pair := single_prices(parts.atoms[0][0])) is None:
        return None
    upper, lower = pair
    return _leaky("closed", "the curve of this one event by itself", parts.leak, upper, lower=lower)


def _leaky(
    name: str,
    because: str,
    leak: float,
    upper: tuple[Price, Price],
    slip: float = 2.0**-40,
    *,
    lower: tuple[Price, Price] | None = None,
) -> Method:
    """Pay the leak first: δ(ε) = 1 − (1 − leak)(1 − δ'(ε)), where δ' prices what does not leak."""
    if leak >= 1:
        return Method(name, because, lambda _: math.inf, lambda _: 1.0)

    def up_epsilon(d: Fraction) -> float:
        rest = (
            down((down(float(d), slip) - leak) / (1 - leak), slip) if leak else down(float(d), slip)
        )
        return _above(upper[0](rest)) if rest > 0 else math.inf

    def up_delta(e: Fraction) -> float:
        # rounded up even from 0, which may be a δ below the least float; where δ is 0 the basic price says so
        return min(1.0, up(leak + (1 - leak) * upper[1](down(float(e), 2.0**-50)), slip))

    if lower is None:
        return Method(name, because, up_epsilon, up_delta)
    low_epsilon, low_delta = lower

    def down_epsilon(d: Fraction) -> float:
        rest = (
            up((up(float(d), slip) - down(leak)) / (1 - leak), slip) if leak else up(float(d), slip)
        )
        return down(low_epsilon(rest), _MEET) if 0 < rest < 1 else 0.0

    def down_delta(e: Fraction) -> float:
        return down(down(leak) + (1 - leak) * low_delta(up(float(e), _MEET)), slip)

    return Method(name, because, up_epsilon, up_delta, down_epsilon, down_delta)


def _above(value: float, margin: float = MARGIN) -> float:
    return up(value, margin) if value else 0.0


def numerical_method(parts: Flattened, accuracy: float) -> Method | None:
    """Price by the distribution of the summed loss, certified from both sides; None if some event has no such law."""
    events = [Repeated(atom, k) for atom, k in parts.atoms]
    events += [
        Repeated(Promise(ApproxDP(0, d), neighbours=parts.neighbours), k) for d, k in parts.leaks
    ]
    try:
        engine = numerical(events, gap=accuracy)
    except InvalidArgument:
        return None
    return Method(
        "numerical",
        "the distribution of the summed loss, with certified bounds",
        lambda delta: up(
            engine.epsilon(down(float(delta))), 2.0**-52
        ),  # the float nearest to a largest loss may be below
        lambda epsilon: max(engine.delta(down(float(epsilon))), up(0.0)),
        lambda delta: engine.lower_epsilon(up(float(delta))),
        lambda epsilon: engine.lower_delta(up(float(epsilon))),
    )
