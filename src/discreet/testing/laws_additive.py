"""Laws of additive mechanisms: kinds stay, low bits say nothing, the exact loss is within the price, bars hold."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np

from ..mechanisms.sensitivity import Sensitivity
from .findings import Law, refute
from .laws_choice import prices, within
from .laws_event import FALSE_ALARM, chernoff, refusal, takes

_FAR = 2.0**52
_TINY = 1e-300
_MOST_OUTPUTS = 1 << 20


def additive_laws(mechanism: Any, values: tuple[int, ...], draws: int) -> dict[str, Law]:  # noqa: ANN401
    """List the laws of a mechanism that adds noise to whole numbers, and perhaps to floats and arrays."""
    floats = takes(mechanism, 0.5)
    kind = {"whole": True} if floats else {}
    return {
        "kinds": lambda: _kinds(mechanism, values, floats=floats),
        "refusal": lambda: refusal(mechanism, (math.nan, math.inf, -math.inf, "1")),
        "low bits": lambda: _low_bits(mechanism, draws) if floats else "it takes no floats",
        "loss": lambda: _loss(mechanism, values, kind),
        "range": lambda: _range(mechanism, values, draws),
        "error": lambda: _bars(mechanism, values, draws, kind),
    }


def _kinds(mechanism: Any, values: tuple[int, ...], *, floats: bool) -> None:  # noqa: ANN401
    for value in values:
        answer = mechanism.release(value)
        refute(
            type(answer) is int,
            f"an int was released as {type(answer).__name__}: the kind must stay the same",
        )
    if floats:
        answer = mechanism.release(0.5)
        refute(
            type(answer) is float,
            f"a float was released as {type(answer).__name__}: the kind must stay the same",
        )
    for array in (np.array(values, dtype=np.int64), np.array([values], dtype=np.float64)):
        if takes(mechanism, array):
            answer = mechanism.release(array)
            same = isinstance(answer, np.ndarray) and (answer.dtype, answer.shape) == (
                array.dtype,
                array.shape,
            )
            refute(
                same, f"an array of {array.dtype} must come back as one of the same shape and type"
            )


def _low_bits(mechanism: Any, draws: int) -> None:  # noqa: ANN401
    """Compare the finest power of two that divides the outputs: another grid for another input identifies the input.

    On a grid g half of all outputs are odd multiples of g, so a sound mechanism shows its g with chance 1 − 2^-draws.
    At 2^52 floats are whole, which hides the grid but must not break it.
    """
    grids = {
        x: _grid([mechanism.release(x) for _ in range(draws)]) for x in (0.0, 1.0, 0.3, _TINY, _FAR)
    }
    far = grids.pop(_FAR)
    least, most = min(grids.values()), max(grids.values())
    text = "the low bits of the outputs depend on the input: floats were added as they are, not on a grid"
    refute(least == most <= far, f"{text} (grids 2^{int(least)} and 2^{int(max(most, far))})")


def _grid(outputs: list[float]) -> float:
    """Find the largest power of two that divides all outputs, as an exponent."""
    ratios = [Fraction(y) for y in outputs if y]
    powers = [
        (r.numerator & -r.numerator).bit_length() - r.denominator.bit_length() for r in ratios
    ]
    return min(powers, default=math.inf)


def _shift(mechanism: Any) -> int:  # noqa: ANN401
    stated = getattr(mechanism, "sensitivity", 1)
    return math.floor(stated.linf if isinstance(stated, Sensitivity) else stated)


def _loss(mechanism: Any, values: tuple[int, ...], kind: dict[str, bool]) -> str | None:  # noqa: ANN401
    """Compare the exact curve of each value and its neighbour with the price of the event."""
    if not hasattr(mechanism, "pmf"):
        return "no pmf(outputs, value) tells its law; discreet.audit.verify samples it"
    shift, reach = _shift(mechanism), math.ceil(mechanism.error(1e-9, **kind))
    if not shift or 2 * reach + shift > _MOST_OUTPUTS:
        return (
            "its law is too wide to list"
            if shift
            else "one person moves a whole value by less than 1"
        )
    curve = prices(mechanism.event)
    for value in values:
        outputs = np.arange(value - reach, value + shift + reach + 1)
        p = np.asarray(mechanism.pmf(outputs, value, **kind))
        q = np.asarray(mechanism.pmf(outputs, value + shift, **kind))
        refute(0.999 < p.sum() < 1 + 1e-9, f"the pmf adds up to {p.sum():.6g}, not to 1")
        within(curve, p, q, 1e-12)
    return None


def _range(mechanism: Any, values: tuple[int, ...], draws: int) -> str | None:  # noqa: ANN401
    """Look for outputs outside a declared public range."""
    low, high = (getattr(mechanism, end, None) for end in ("low", "high"))
    if low is None or high is None:
        return "it declares no range, low and high"
    inside = all(low <= mechanism.release(value) <= high for value in values for _ in range(draws))
    refute(inside, f"an output lies outside the declared range {low} … {high}")
    return None


def _bars(mechanism: Any, values: tuple[int, ...], draws: int, kind: dict[str, bool]) -> None:  # noqa: ANN401
    for value in values:
        _coverage(mechanism, value, draws, kind)
    if kind:
        _coverage(mechanism, 0.3, draws, {})


def _coverage(mechanism: Any, value: float, draws: int, kind: dict[str, bool]) -> None:  # noqa: ANN401
    """Count misses; with at most β of them expected, more than Chernoff's bound allows is no accident."""
    answers = [mechanism.release(value) for _ in range(draws)]
    for beta in (0.05, 0.5):
        bound = mechanism.error(beta, **kind)
        missed = sum(abs(answer - value) > bound for answer in answers)
        text = f"{missed} of {draws} releases missed by more than error({beta}) = {bound:.6g}: the error bar flatters"
        refute(
            missed <= draws * beta
            or chernoff(missed / draws, beta) * draws < -math.log(FALSE_ALARM),
            text,
        )
