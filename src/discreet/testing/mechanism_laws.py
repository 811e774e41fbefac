"""Laws that any mechanism must satisfy: price covers loss, low bits carry nothing, error bars hold.

A mechanism has `release(value)` and `event`. More is checked where a mechanism has more:

    error(beta)              additive mechanisms: bounds the error of one release
    pmf(outputs, value)      exact probability of each integer output, given an integer value
    whole=True               for mechanisms that take floats too: `error` and `pmf` of integers
    probabilities(value)     exact law of finitely many outputs: one per index, or a mapping
    sensitivity, monotone    of scores; options, of a randomized response; side, of a grid
                             (`testing.kinds`)
    release(value, bits=…)   lets the source of randomness be replaced

Additive mechanisms are checked here: types, low bits, exact loss within the price, error bars.
`laws_choice` checks those that choose among finitely many outputs, `laws_event` every mechanism.

The random checks refute a sound mechanism with a probability below 1e-9 in all.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from ..mechanisms.sensitivity import Sensitivity
from .findings import Findings, Law, find, refute
from .kinds import case_of
from .laws_choice import Case, choice_laws, prices, within
from .laws_event import (
    FALSE_ALARM,
    REFUSALS,
    check_members,
    chernoff,
    json,
    pickling,
    price,
    randomness,
    refusal,
    takes,
)

# From here on floats are integers, and far below it they are tiny.
_FAR = 2.0**52
_TINY = 1e-300
# Outputs that an exact law may have to be listed.
_MAX_OUTPUTS = 1 << 20
# Integers released by default to recognise and to check an additive mechanism.
_INTEGERS = (0, 1, 5)


def check_mechanism(
    mechanism: Any,  # noqa: ANN401
    inputs: Iterable[Any] = (),
    *,
    neighbours: Iterable[tuple[Any, Any]] = (),
    refuses: Iterable[Any] = (),
    draws: int = 2000,
) -> Findings:
    """Check the laws of a mechanism; raise ClaimRefuted at the first that fails.

    1. price, JSON: its event promises something and survives JSON.
    2. refusal: NaN, infinities, no candidates and unknown options are refused before any bit is
       drawn.
    3. loss: the exact curve of neighbouring inputs is nowhere above the price. Neighbours are
       scores moved by the sensitivity, swapped options, or `neighbours` as given. law: releases
       are as frequent as the stated law says.
    4. range: every output is one of those declared. error: the error bar holds with probability
       1 − β.
    5. randomness: without random bits nothing is released. pickling: copies cost the same and draw
       their own noise.
    6. Additive ones: kinds (an int gives an int, an array one of its shape), low bits (the grid of
       the outputs is the same whatever the low bits of the input).

    `neighbours` and `refuses` add pairs and bad values, except for additive mechanisms.

    >>> from discreet.testing import check_mechanism
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> print(check_mechanism(Geometric(scale=2, sensitivity=1)))
    additive: price, JSON, kinds, refusal, loss, error, randomness, pickling held
    not checked: low bits (it takes no floats)
    not checked: range (it declares no range, low and high)

    Guarantee: a sound mechanism is refuted with probability below 1e-9.
    Refuses: `ClaimRefuted` for a law that fails; laws that could not be checked are listed.
    Law: `tests/mechanisms/test_check_mechanism.py::test_broken_mechanisms_are_caught`
    """
    check_members(mechanism)
    given = tuple(inputs)
    stated = Case("other", given, tuple(neighbours), tuple(refuses))
    case = case_of(mechanism, stated)
    case, refused_inputs = _without_refused(mechanism, case)
    integers = given or _INTEGERS
    unknown = case.kind == "other" and case.law is None
    additive = unknown and _is_additive(mechanism, integers)
    laws: dict[str, Law] = {
        "price": lambda: price(mechanism.event),
        "JSON": lambda: json(mechanism.event),
    }
    if additive:
        kind = "additive"
        values = integers
        laws |= _additive_laws(mechanism, integers, draws)
    else:
        kind = case.kind
        values = case.inputs
        laws |= refused_inputs
        laws |= choice_laws(mechanism, case, draws)
    laws["randomness"] = lambda: randomness(mechanism, values)
    laws["pickling"] = lambda: pickling(mechanism, values)
    return find(kind, laws)


def _without_refused(mechanism: Any, case: Case) -> tuple[Case, dict[str, Law]]:  # noqa: ANN401
    """Keep the inputs that are released; refused ones are reported, not counted as failures."""
    inputs = tuple(value for value in case.inputs if takes(mechanism, value))
    pairs = tuple(pair for pair in case.pairs if all(takes(mechanism, value) for value in pair))
    kept = replace(case, inputs=inputs, pairs=pairs)
    refused = len(case.inputs) - len(inputs) + len(case.pairs) - len(pairs)
    if not refused:
        return kept, {}
    reason = f"{refused} inputs or pairs of neighbours were refused by release(value)"
    return kept, {"inputs": lambda: reason}


def _is_additive(mechanism: Any, values: tuple[Any, ...]) -> bool:  # noqa: ANN401
    """Recognise an additive mechanism: it releases integers, and one number bounds its error."""
    if not all(type(value) is int and takes(mechanism, value) for value in values):
        return False
    try:
        return isinstance(mechanism.error(0.05), int | float)
    except REFUSALS:
        return False


def _additive_laws(mechanism: Any, values: tuple[int, ...], draws: int) -> dict[str, Law]:  # noqa: ANN401
    """List the laws of a mechanism that adds noise to integers, perhaps to floats and arrays."""
    floats = takes(mechanism, 0.5)
    # Mechanisms that take floats too have another law for integers.
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
    """Check that a release has the type of its input."""
    for value in values:
        _check_type(mechanism.release(value), int, "an int")
    if floats:
        _check_type(mechanism.release(0.5), float, "a float")
    for array in (np.array(values, dtype=np.int64), np.array([values], dtype=np.float64)):
        if takes(mechanism, array):
            answer = mechanism.release(array)
            is_array = isinstance(answer, np.ndarray)
            same = is_array and answer.dtype == array.dtype and answer.shape == array.shape
            text = f"an array of {array.dtype} must come back as one of the same shape and type"
            refute(same, text)


def _check_type(answer: object, wanted: type, name: str) -> None:
    found = type(answer).__name__
    refute(type(answer) is wanted, f"{name} was released as {found}: the kind must stay the same")


def _low_bits(mechanism: Any, draws: int) -> None:  # noqa: ANN401
    """Compare the finest power of two that divides the outputs, for several inputs.

    Another grid for another input would identify the input. On a grid g half of all outputs are odd
    multiples of g, so a sound mechanism shows its g with probability 1 − 2^-draws. At 2^52 floats
    are integers, which hides the grid but must not break it.
    """
    grids = []
    for value in (0.0, 1.0, 0.3, _TINY):
        grids.append(_grid([mechanism.release(value) for _ in range(draws)]))
    far = _grid([mechanism.release(_FAR) for _ in range(draws)])
    least = min(grids)
    most = max(grids)
    shown = f"(grids 2^{int(least)} and 2^{int(max(most, far))})"
    refute(
        least == most <= far,
        "the low bits of the outputs depend on the input: "
        f"floats were added as they are, not on a grid {shown}",
    )


def _grid(outputs: list[float]) -> float:
    """Return the largest k such that 2^k divides all outputs; infinite if all are 0."""
    powers = []
    for output in outputs:
        # Zero is a multiple of every power.
        if output:
            ratio = Fraction(output)
            lowest_bit = ratio.numerator & -ratio.numerator
            powers.append(lowest_bit.bit_length() - ratio.denominator.bit_length())
    return min(powers, default=math.inf)


def _shift(mechanism: Any) -> int:  # noqa: ANN401
    """Return by how much one person moves an integer, rounded down."""
    stated = getattr(mechanism, "sensitivity", 1)
    return math.floor(stated.linf if isinstance(stated, Sensitivity) else stated)


def _loss(mechanism: Any, values: tuple[int, ...], kind: dict[str, bool]) -> str | None:  # noqa: ANN401
    """Compare the exact curve of each value and its neighbour with the price of the event."""
    if not hasattr(mechanism, "pmf"):
        return "no pmf(outputs, value) tells its law; discreet.audit.verify samples it"
    shift = _shift(mechanism)
    reach = math.ceil(mechanism.error(1e-9, **kind))
    if not shift:
        return "one person moves a whole value by less than 1"
    if 2 * reach + shift > _MAX_OUTPUTS:
        return "its law is too wide to list"
    curve = prices(mechanism.event)
    for value in values:
        outputs = np.arange(value - reach, value + shift + reach + 1)
        p = np.asarray(mechanism.pmf(outputs, value, **kind))
        q = np.asarray(mechanism.pmf(outputs, value + shift, **kind))
        total = p.sum()
        refute(0.999 < total < 1 + 1e-9, f"the pmf adds up to {total:.6g}, not to 1")
        within(curve, p, q, 1e-12)
    return None


def _range(mechanism: Any, values: tuple[int, ...], draws: int) -> str | None:  # noqa: ANN401
    """Search for outputs outside the declared range; return a reason if none is declared."""
    low = getattr(mechanism, "low", None)
    high = getattr(mechanism, "high", None)
    if low is None or high is None:
        return "it declares no range, low and high"
    for value in values:
        inside = all(low <= mechanism.release(value) <= high for _ in range(draws))
        refute(inside, f"an output lies outside the declared range {low} … {high}")
    return None


def _bars(mechanism: Any, values: tuple[int, ...], draws: int, kind: dict[str, bool]) -> None:  # noqa: ANN401
    """Check the error bars of integers and, if the mechanism takes them, of floats."""
    for value in values:
        _coverage(mechanism, value, draws, kind)
    if kind:
        _coverage(mechanism, 0.3, draws, {})


def _coverage(mechanism: Any, value: float, draws: int, kind: dict[str, bool]) -> None:  # noqa: ANN401
    """Count misses: at most a fraction β is expected, and Chernoff's bound allows for chance."""
    answers = [mechanism.release(value) for _ in range(draws)]
    for beta in (0.05, 0.5):
        bound = mechanism.error(beta, **kind)
        missed = sum(abs(answer - value) > bound for answer in answers)
        few = missed <= draws * beta
        by_chance = few or chernoff(missed / draws, beta) * draws < -math.log(FALSE_ALARM)
        by_more = f"{missed} of {draws} releases missed by more than error({beta}) = {bound:.6g}"
        refute(by_chance, f"{by_more}: the error bar flatters")
