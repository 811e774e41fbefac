"""Laws that any mechanism must satisfy, yours too: its price covers its loss, its bits say nothing, its bars hold.

A mechanism has `release(value)`, `event` and `error(beta)` (`discreet.mechanisms.mechanism.Mechanism`). Two things more
are used where they are there:

    pmf(outputs, value)      the exact chance of each whole output, given a whole value
    whole=True               for mechanisms that take floats too: `error` and `pmf` of their whole releases

The random checks refute a sound mechanism with a chance below 1e-9 in all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from ..errors import ClaimRefuted, DiscreetError
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.sensitivity import Sensitivity
from ..privacy.compose import compose
from ..privacy.event_json import from_json, to_json
from ..privacy.events import Event

__all__ = ["check_mechanism"]

_FALSE_ALARM = 1e-11  # for one random check; there are less than a hundred
_FAR = 2.0**52
_TINY = 1e-300
_GENEROUS = 512
_EPSILONS = (0.0, 0.01, 0.1, 0.3, 1.0, 2.0, 4.0, 8.0)
_MOST_OUTPUTS = 1 << 20


def check_mechanism(mechanism: Any, inputs: Iterable[int] = (0, 1, 5), *, draws: int = 2000) -> None:  # noqa: ANN401
    """Check the laws of a mechanism on some whole inputs; raise ClaimRefuted at the first that fails.

    1. It has the three faces, and its event promises something and survives JSON.
    2. An int gives an int; where floats and arrays are taken they give floats and arrays of the same shape.
    3. NaN and infinities are refused.
    4. Floats: the grid of the outputs is the same whatever the low bits of the input.
    5. With a pmf: the exact privacy curve of two neighbouring inputs is nowhere above the price.
    6. The error bar holds in at least 1 − β of `draws` releases, β = 0.05 and 0.5.

    >>> from discreet.mechanisms.geometric import Geometric
    >>> check_mechanism(Geometric(scale=2, sensitivity=1))
    """
    values = tuple(inputs)
    _faces(mechanism)
    _price(mechanism.event)
    _kinds(mechanism, values)
    floats = _takes(mechanism, 0.5)
    if floats:
        _finite(mechanism)
        _low_bits(mechanism, draws)
    if hasattr(mechanism, "pmf"):
        for value in values:
            _loss(mechanism, value, {"whole": True} if floats else {})
    for value in values:
        _coverage(mechanism, value, draws, {"whole": True} if floats else {})
    if floats:
        _coverage(mechanism, 0.3, draws, {})


def _refute(holds: object, text: str) -> None:
    if not holds:
        raise ClaimRefuted(text)


def _faces(mechanism: object) -> None:
    text = "a mechanism needs release(value), event and error(beta); something is missing"
    _refute(isinstance(mechanism, Mechanism), text)


def _price(event: object) -> None:
    _refute(isinstance(event, Event), f"event must say what was done, such as LaplaceNoise(2, 1), got {event!r}")
    price = compose([event]).delta(epsilon=_GENEROUS)  # type: ignore[list-item]
    _refute(price < 1, f"{event!r} keeps no promise, however large the epsilon")
    _refute(from_json(to_json(event)) == event, f"{event!r} is not the same after JSON")  # type: ignore[arg-type]


def _takes(mechanism: Any, value: object) -> bool:  # noqa: ANN401
    try:
        mechanism.release(value)
    except (DiscreetError, TypeError):
        return False
    return True


def _kinds(mechanism: Any, values: tuple[int, ...]) -> None:  # noqa: ANN401
    for value in values:
        answer = mechanism.release(value)
        _refute(type(answer) is int, f"an int was released as {type(answer).__name__}: the kind must stay the same")
    if _takes(mechanism, 0.5):
        answer = mechanism.release(0.5)
        _refute(type(answer) is float, f"a float was released as {type(answer).__name__}: the kind must stay the same")
    for array in (np.array(values, dtype=np.int64), np.array([values], dtype=np.float64)):
        if _takes(mechanism, array):
            answer = mechanism.release(array)
            same = isinstance(answer, np.ndarray) and (answer.dtype, answer.shape) == (array.dtype, array.shape)
            _refute(same, f"an array of {array.dtype} must come back as one of the same shape and type")


def _finite(mechanism: Any) -> None:  # noqa: ANN401
    for value in (math.nan, math.inf, -math.inf):
        try:
            mechanism.release(value)
        except DiscreetError:
            continue
        raise ClaimRefuted(f"{value} was released; refuse it before anything is drawn")


def _low_bits(mechanism: Any, draws: int) -> None:  # noqa: ANN401
    """Compare the finest power of two that divides the outputs: another grid for another input identifies the input.

    On a grid g half of all outputs are odd multiples of g, so a sound mechanism shows its g with chance 1 − 2^-draws.
    At 2^52 floats are whole, which hides the grid but must not break it.
    """
    grids = {x: _grid([mechanism.release(x) for _ in range(draws)]) for x in (0.0, 1.0, 0.3, _TINY, _FAR)}
    far = grids.pop(_FAR)
    least, most = min(grids.values()), max(grids.values())
    text = "the low bits of the outputs depend on the input: floats were added as they are, not on a grid"
    _refute(least == most <= far, f"{text} (grids 2^{int(least)} and 2^{int(max(most, far))})")


def _grid(outputs: list[float]) -> float:
    """Find the largest power of two that divides all outputs, as an exponent."""
    ratios = [Fraction(y) for y in outputs if y]
    powers = [(r.numerator & -r.numerator).bit_length() - r.denominator.bit_length() for r in ratios]
    return min(powers, default=math.inf)


def _shift(mechanism: Any) -> int:  # noqa: ANN401
    stated = getattr(mechanism, "sensitivity", 1)
    return math.floor(stated.linf if isinstance(stated, Sensitivity) else stated)


def _loss(mechanism: Any, value: int, kind: dict[str, bool]) -> None:  # noqa: ANN401
    """Compare Σ max(0, p − e^ε·q) over the outputs of two neighbours with the price of the event, both ways round."""
    shift, reach = _shift(mechanism), math.ceil(mechanism.error(1e-9, **kind))
    if not shift or 2 * reach + shift > _MOST_OUTPUTS:
        return
    outputs = np.arange(value - reach, value + shift + reach + 1)
    p = np.asarray(mechanism.pmf(outputs, value, **kind))
    q = np.asarray(mechanism.pmf(outputs, value + shift, **kind))
    _refute(0.999 < p.sum() < 1 + 1e-9, f"the pmf adds up to {p.sum():.6g}, not to 1")
    curve = compose([mechanism.event])
    pure = curve.epsilon(delta=0)
    for epsilon in (*_EPSILONS, *([pure] if math.isfinite(pure) else [])):
        price = curve.delta(epsilon=epsilon)
        for one, other in ((p, q), (q, p)):
            found = float(np.maximum(0.0, one - math.exp(epsilon) * other).sum())
            _refute(found <= price * (1 + 1e-9) + 1e-12, _over(found, price, epsilon))


def _over(found: float, price: float, epsilon: float) -> str:
    return f"δ({epsilon:.4g}) is {found:.6g} by the pmf, the event's price is {price:.6g}: it costs more than it says"


def _coverage(mechanism: Any, value: float, draws: int, kind: dict[str, bool]) -> None:  # noqa: ANN401
    """Count misses; with at most β of them expected, more than Chernoff's bound allows is no accident."""
    answers = [mechanism.release(value) for _ in range(draws)]
    for beta in (0.05, 0.5):
        bound = mechanism.error(beta, **kind)
        missed = sum(abs(answer - value) > bound for answer in answers)
        text = f"{missed} of {draws} releases missed by more than error({beta}) = {bound:.6g}: the error bar flatters"
        _refute(missed <= _allowed(draws, beta), text)


def _allowed(draws: int, beta: float) -> int:
    """Give the most misses a true bar may show: the first count whose Chernoff bound is below the false-alarm rate."""
    missed = math.ceil(draws * beta)
    while missed < draws and _chernoff(missed / draws, beta) * draws < -math.log(_FALSE_ALARM):
        missed += 1
    return missed


def _chernoff(share: float, beta: float) -> float:
    """Give the rate KL(share ‖ β), with P(misses ≥ share·n) ≤ e^(−n·rate)."""
    return share * math.log(share / beta) + (1 - share) * math.log((1 - share) / (1 - beta))
