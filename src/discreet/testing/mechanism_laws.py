"""Laws that any mechanism must satisfy: price covers loss, low bits carry nothing, error bars hold.

A mechanism has `release(value)` and `event`. More is checked where a mechanism has more:

    error(beta)              additive mechanisms: bounds the error of one release
    pmf(outputs, value)      exact probability of each integer output, given an integer value
    whole=True               for mechanisms that take floats too: `error` and `pmf` of integers
    probabilities(value)     exact law of finitely many outputs: one per index, or a mapping
    sensitivity, monotone    of scores; options, of a randomized response; side, of a grid
                             (`testing.kinds`)
    release(value, bits=…)   lets the source of randomness be replaced

The random checks refute a sound mechanism with a probability below 1e-9 in all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .findings import Findings, Law, find
from .kinds import case_of
from .laws_additive import additive_laws
from .laws_choice import Case, choice_laws
from .laws_event import REFUSALS, check_members, json, pickling, price, randomness, takes

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
    case = case_of(mechanism, given, tuple(neighbours), tuple(refuses))
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
        laws |= additive_laws(mechanism, integers, draws)
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
