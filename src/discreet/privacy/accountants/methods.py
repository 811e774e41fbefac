"""Methods to price a composition, each sound by itself.

A box is an event known only as (ε, δ)-DP.

| method | price | applies to |
|---|---|---|
| basic | Σε, Σδ | boxes, and every event that keeps a known (ε, δ) |
| advanced | a tail bound on Σ losses | many small boxes; known from textbooks, never the tightest |
| optimal | the exact binomial sum | boxes of one ε; nothing is lost if they have no δ |
| zCDP | Σρ, then one conversion | concentrated events; exact sums |
| Rényi | Σε(α), the best order | events with a finite divergence |
| Gaussian | Σμ², the exact curve | exact for Gaussian noise |
| closed | the exact curve | one release with a dominating pair of its own |
| numerical | the privacy loss distribution, bounded on both sides | events with dominating pairs |

Law: tests/laws/test_laws_of_prices.py::TestNeverLooserThanItsBestIngredient
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import numpy as np

from ...arithmetic.rounding import down, up
from ...errors import InvalidArgument
from ..events import Event, PermuteAndFlipSelection, Promise, Repeated, Response, SparseVector
from ..measures import ZCDP, ApproxDP, PureDP, RenyiDP
from ..pricing import gaussian, gdp, rdp, zcdp
from ..pricing.advanced import advanced_delta, advanced_epsilon
from ..pricing.boxes import MOST, atom_box, margin, optimal_delta, optimal_epsilon, price_approx
from ..pricing.event_parts import Flattened
from .lazy_numerical import numerical
from .single import Prices, single_prices

_LOWER_MARGIN = 2.0**-39
"""Twice the margin by which a pair may round a loss up, so that the lower bound stays below."""
_PRICE_MARGIN = 2.0**-40
"""Margin of a closed form: thousands of units in the last place."""


@dataclass(frozen=True)
class Method:
    """One way to price: ε of δ and δ of ε, rounded up; some also bound them from below.

    Guarantee: the events are (ε, δ)-DP at every pair of ε and δ that the method gives.

    Law: tests/privacy/test_curve.py::TestEveryKind
    """

    name: str
    because: str
    epsilon: Callable[[Fraction], float]
    delta: Callable[[Fraction], float]
    lower_epsilon: Callable[[Fraction], float] | None = None
    lower_delta: Callable[[Fraction], float] | None = None

    @property
    def exact(self) -> bool:
        """True if the method also bounds from below; for the numerical one with a small gap."""
        return self.lower_delta is not None


def decimal_ceiling(amount: Fraction) -> float:
    """Return the least float whose shortest decimal is not below an exact amount.

    A printed float is read as its shortest decimal, so that this is the number users see.

    >>> from discreet.privacy.accountants.methods import decimal_ceiling
    >>> from fractions import Fraction
    >>> decimal_ceiling(Fraction(3, 10))
    0.3
    >>> Fraction(repr(decimal_ceiling(Fraction(1, 3)))) > Fraction(1, 3)
    True
    """
    near = float(amount)
    if Fraction(repr(near)) >= amount:
        return near
    return math.nextafter(near, math.inf)


def methods(parts: Flattened) -> tuple[Method, ...]:
    """List the closed-form methods that apply to these atoms, simplest first.

    The numerical method is added by the curve.
    """
    made = (
        _basic(parts),
        _advanced(parts),
        _optimal(parts),
        _zcdp(parts),
        _rdp(parts),
        _gdp(parts),
        _single(parts),
    )
    return tuple(method for method in made if method is not None)


def exact_methods(parts: Flattened) -> tuple[Method, ...]:
    """Return the methods that are enough where one of them is exact, or nearly so.

    Empty if none is exact: then the caller compares all methods.
    """
    atoms = [atom for atom, _ in parts.atoms]
    made: tuple[Method | None, ...]
    if all(map(gdp.nearly_exact, atoms)):
        made = _basic(parts), _gdp(parts)
    elif all(map(_is_response, atoms)):
        made = _basic(parts), _optimal(parts)
    elif all(map(_is_divergence_promise, atoms)):
        # Nothing but the measure is known, so its own conversion is the tightest there is.
        made = _basic(parts), _zcdp(parts), _rdp(parts)
    else:
        made = _basic(parts), _zcdp(parts), _gdp(parts), _single(parts)
    # The last of each list is the exact one; without it the others do not decide.
    if made[-1] is None:
        return ()
    return tuple(method for method in made if method is not None)


def _is_response(atom: Event) -> bool:
    """Return whether the event is randomized response between two, or known only by a pure ε."""
    match atom:
        case (
            Promise(measure=PureDP())
            | SparseVector()
            | PermuteAndFlipSelection()
            | Response(options=2)
        ):
            return True
    return False


def _is_divergence_promise(atom: Event) -> bool:
    return isinstance(atom, Promise) and isinstance(atom.measure, ZCDP | RenyiDP)


def _basic(parts: Flattened) -> Method | None:
    """Price by basic composition: one point (Σε, Σδ) of the curve, computed exactly."""
    total = price_approx(parts)
    if total is None:
        return None
    total_epsilon, total_delta = total

    def epsilon(delta: Fraction) -> float:
        return decimal_ceiling(total_epsilon) if delta >= total_delta else math.inf

    def delta(epsilon: Fraction) -> float:
        return decimal_ceiling(total_delta) if epsilon >= total_epsilon else 1.0

    return Method("basic", "the ε and the δ add up", epsilon, delta)


def _advanced(parts: Flattened) -> Method | None:
    """Price by advanced composition (Dwork, Rothblum, Vadhan 2010)."""
    boxes = _count_boxes(parts)
    if boxes is None or not boxes[0]:
        return None
    counts, leak = boxes
    epsilons = [(float(each), times) for each, times in counts.items()]

    def epsilon(delta: Fraction) -> float:
        # The slack is the δ that is left after the leaks, rounded down: a smaller one costs more.
        slack = down(float(delta) - up(float(leak)))
        return up(advanced_epsilon(epsilons, slack)) if slack > 0 else math.inf

    def delta(epsilon: Fraction) -> float:
        # A smaller ε has a larger δ, so that ε rounds down and the sum up.
        slack = advanced_delta(epsilons, down(float(epsilon)))
        return min(1.0, up(float(leak) + slack))

    because = "Dwork, Rothblum, Vadhan: a tail bound on the sum of the losses"
    return Method("advanced", because, epsilon, delta)


def _count_boxes(parts: Flattened) -> tuple[dict[Fraction, int], Fraction] | None:
    """Count the atoms by their ε, and add up their δ and the leaks; None if one is no box."""
    counts: dict[Fraction, int] = {}
    leak = parts.leak_sum
    for atom, times in parts.atoms:
        box = atom_box(atom)
        if box is None:
            return None
        epsilon, delta = box
        leak += times * delta
        if epsilon:
            counts[epsilon] = counts.get(epsilon, 0) + times
    return counts, leak


def _optimal(parts: Flattened) -> Method | None:
    """Price equal boxes by their exact binomial sum (Kairouz, Oh, Viswanath 2015)."""
    boxes = _count_boxes(parts)
    if boxes is None or len(boxes[0]) != 1:
        return None
    counts, leak_sum = boxes
    [(each, times)] = counts.items()
    if times > MOST:
        return None
    float_each = float(each)
    epsilon = partial(optimal_epsilon, float_each, times)
    delta = partial(optimal_delta, float_each, times)
    prices = Prices(epsilon, delta)
    because = "Kairouz, Oh, Viswanath: the exact sum for boxes of one ε"
    if leak_sum != parts.leak_sum:
        # Atoms that leak by themselves: the union bound, rounded up, and no lower bound.
        leak = up(float(leak_sum))
        return _with_leak("optimal", because, leak, prices, margin(times))
    is_exact = all(_is_response(atom) for atom, _ in parts.atoms)
    lower = prices if is_exact else None
    return _with_leak("optimal", because, parts.leak, prices, margin(times), lower=lower)


def _zcdp(parts: Flattened) -> Method | None:
    """Price by the sum of the ρ, converted once (Canonne, Kamath, Steinke 2020)."""
    exact_rho = zcdp.price_zcdp(parts.kept)
    if exact_rho is None:
        return None
    # ρ rounds up, as it promises; 0 is exact.
    rho = up(float(exact_rho), 2.0**-50) if exact_rho else 0.0
    prices = Prices(partial(zcdp.epsilon, rho), partial(zcdp.delta, rho))
    because = "the ρ add up; converted once by Canonne, Kamath, Steinke"
    return _with_leak("zCDP", because, parts.leak, prices)


def _rdp(parts: Flattened) -> Method | None:
    """Price by the sums of the Rényi divergences, converted at the best order."""
    # Divergences rise with the order: one that is infinite just above 1 is infinite beyond it.
    divergences = rdp.renyi_parts(parts, np.array([1.0625]))
    if not np.isfinite(divergences).all():
        return None
    prices = Prices(partial(rdp.best_epsilon, parts), partial(rdp.best_delta, parts))
    because = "the divergences add up order by order; the best order wins"
    return _with_leak("Rényi", because, parts.leak, prices)


def _gdp(parts: Flattened) -> Method | None:
    """Price by the sum of the μ², exact if every event is Gaussian noise."""
    square = gdp.price_gdp(parts.kept)
    if square is None:
        return None
    mu = math.sqrt(square)
    prices = Prices(partial(gaussian.epsilon, mu), partial(gaussian.delta, mu))
    if all(gdp.exact_square(atom) is not None for atom, _ in parts.atoms):
        because = "the μ² add up; the curve is exact"
        return _with_leak("Gaussian", because, parts.leak, prices, lower=prices)
    because = "every event is no worse than Gaussian noise of its μ"
    return _with_leak("Gaussian", because, parts.leak, prices)


def _single(parts: Flattened) -> Method | None:
    """Price one event by the curve of its own pair."""
    if parts.count != 1:
        return None
    prices = single_prices(parts.atoms[0][0])
    if prices is None:
        return None
    upper, lower = prices
    because = "the curve of this one event by itself"
    return _with_leak("closed", because, parts.leak, upper, lower=lower)


def _with_leak(
    name: str,
    because: str,
    leak: float,
    upper: Prices,
    slip: float = _PRICE_MARGIN,
    *,
    lower: Prices | None = None,
) -> Method:
    """Return the method that pays the leak first: δ(ε) = 1 − (1 − leak)(1 − δ'(ε)).

    δ' prices everything that does not leak. `slip` is the relative error of the prices.
    """
    if leak >= 1:
        return Method(name, because, _infinite, _one)

    def upper_epsilon(delta: Fraction) -> float:
        # A smaller δ' costs a larger ε: δ and the quotient round down.
        kept_delta = down(float(delta), slip)
        if leak:
            kept_delta = down((kept_delta - leak) / (1 - leak), slip)
        if kept_delta <= 0:
            return math.inf
        epsilon = upper.epsilon(kept_delta)
        # An ε of exactly 0 is a fact, not a rounded number.
        return up(epsilon) if epsilon else 0.0

    def upper_delta(epsilon: Fraction) -> float:
        # A smaller ε has a larger δ'. The result is rounded up even from 0, which may be a δ below
        # the least float; where δ is 0 the basic price says so.
        lower_end = down(float(epsilon), 2.0**-50)
        kept_delta = upper.delta(lower_end)
        total = leak + (1 - leak) * kept_delta
        return min(1.0, up(total, slip))

    if lower is None:
        return Method(name, because, upper_epsilon, upper_delta)
    lower_prices = lower

    def lower_epsilon(delta: Fraction) -> float:
        # The mirror image: a larger δ' has a smaller ε, so that δ and the quotient round up.
        kept_delta = up(float(delta), slip)
        if leak:
            kept_delta = up((kept_delta - down(leak)) / (1 - leak), slip)
        if not 0 < kept_delta < 1:
            return 0.0
        return down(lower_prices.epsilon(kept_delta), _LOWER_MARGIN)

    def lower_delta(epsilon: Fraction) -> float:
        kept_delta = lower_prices.delta(up(float(epsilon), _LOWER_MARGIN))
        total = down(leak) + (1 - leak) * kept_delta
        return down(total, slip)

    return Method(name, because, upper_epsilon, upper_delta, lower_epsilon, lower_delta)


def _infinite(_: Fraction) -> float:
    return math.inf


def _one(_: Fraction) -> float:
    return 1.0


def numerical_method(parts: Flattened, accuracy: float) -> Method | None:
    """Price by the privacy loss distribution, bounded on both sides; None if an event has none.

    Law: tests/privacy/test_pld.py::TestOracle
    """
    events = [Repeated(atom, times) for atom, times in parts.atoms]
    for leak, times in parts.leaks:
        promise = Promise(ApproxDP(0, leak), neighbours=parts.neighbours)
        events.append(Repeated(promise, times))
    try:
        accountant = numerical(events, gap=accuracy)
    except InvalidArgument:
        return None

    def epsilon(delta: Fraction) -> float:
        bound = accountant.epsilon(down(float(delta)))
        # The float nearest to a largest loss may be below it: one more step up.
        return up(bound, 2.0**-52)

    def delta(epsilon: Fraction) -> float:
        # A δ that is 0 in floats may be below the least float, hence the least float above 0.
        bound = accountant.delta(down(float(epsilon)))
        return max(bound, up(0.0))

    def lower_epsilon(delta: Fraction) -> float:
        return accountant.lower_epsilon(up(float(delta)))

    def lower_delta(epsilon: Fraction) -> float:
        return accountant.lower_delta(up(float(epsilon)))

    because = "the distribution of the summed loss, with certified bounds"
    return Method("numerical", because, epsilon, delta, lower_epsilon, lower_delta)
