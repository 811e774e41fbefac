"""Laws that any mechanism must satisfy, yours too: its price covers its loss, its bits say nothing, its bars hold.

A mechanism has `release(value)` and `event`. More is checked where more is there:

    error(beta)              additive mechanisms: bounds the miss of one release
    pmf(outputs, value)      the exact chance of each whole output, given a whole value
    whole=True               for mechanisms that take floats too: `error` and `pmf` of their whole releases
    probabilities(value)     the exact law of finitely many outputs: a chance per index, or a mapping
    sensitivity, monotone    of scores; options, of a randomized response; side, of a grid (`testing.kinds`)
    release(value, bits=…)   lets the source of chance be replaced

The random checks refute a sound mechanism with a chance below 1e-9 in all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from .findings import Findings, Law, find
from .kinds import case_of
from .laws_additive import additive_laws
from .laws_choice import Case, choice_laws
from .laws_event import REFUSALS, faces, json, pickling, price, randomness, takes

_WHOLE = (0, 1, 5)


def check_mechanism(
    mechanism: Any,  # noqa: ANN401
    inputs: Iterable[Any] = (),
    *,
    neighbours: Iterable[tuple[Any, Any]] = (),
    refuses: Iterable[Any] = (),
    draws: int = 2000,
) -> Findings:
    """Check the laws of a mechanism; raise ClaimRefuted at the first that fails, and say what could not be checked.

    1. price, JSON: its event promises something and survives JSON.
    2. refusal: NaN, infinities, no candidates, answers that are no option are refused before any bit is drawn.
    3. loss: the exact curve of neighbouring inputs is nowhere above the price (scores moved by the sensitivity, options
       swapped, or `neighbours` as given); law: what is released comes as often as the told law says.
    4. range: every output is one of those declared. error: the error bar holds with probability 1 − β.
    5. randomness: without random bits nothing is released. pickling: copies cost the same and draw their own noise.
    6. Additive ones: kinds (an int gives an int, an array one of its shape), low bits (the grid of the outputs is the
       same whatever the low bits of the input).

    >>> from discreet.testing import check_mechanism
    >>> from discreet.mechanisms.additive.discrete_laplace import Geometric
    >>> print(check_mechanism(Geometric(scale=2, sensitivity=1)))
    additive: price, JSON, kinds, refusal, loss, error, randomness, pickling held
    not checked: low bits (it takes no floats)
    not checked: range (it declares no range, low and high)
    """
    faces(mechanism)
    given = tuple(inputs)
    case, inputs_law = _taken(
        mechanism, case_of(mechanism, given, tuple(neighbours), tuple(refuses))
    )
    additive = case.kind == "other" and case.law is None and _adds(mechanism, given or _WHOLE)
    values = (given or _WHOLE) if additive else case.inputs
    laws: dict[str, Law] = {
        "price": lambda: price(mechanism.event),
        "JSON": lambda: json(mechanism.event),
    }
    own = (
        additive_laws(mechanism, values, draws)
        if additive
        else {**inputs_law, **choice_laws(mechanism, case, draws)}
    )
    chance = {
        "randomness": lambda: randomness(mechanism, values),
        "pickling": lambda: pickling(mechanism, values),
    }
    return find("additive" if additive else case.kind, {**laws, **own, **chance})


def _taken(mechanism: Any, case: Case) -> tuple[Case, dict[str, Law]]:  # noqa: ANN401
    """Keep the inputs that are released; refused ones are told, not counted as failures."""
    inputs = tuple(value for value in case.inputs if takes(mechanism, value))
    pairs = tuple(pair for pair in case.pairs if all(takes(mechanism, value) for value in pair))
    refused = len(case.inputs) - len(inputs) + len(case.pairs) - len(pairs)
    told = f"{refused} inputs or pairs of neighbours were refused by release(value)"
    return replace(case, inputs=inputs, pairs=pairs), {"inputs": lambda: told} if refused else {}


def _adds(mechanism: Any, values: tuple[Any, ...]) -> bool:  # noqa: ANN401
    """Tell an additive mechanism: a whole number is released, and one number bounds its miss."""
    if not all(type(value) is int and takes(mechanism, value) for value in values):
        return False
    try:
        return isinstance(mechanism.error(0.05), int | float)
    except REFUSALS:
        return False
