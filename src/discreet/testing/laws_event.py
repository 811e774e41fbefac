"""Laws of anything with `release` and `event`: price, need of randomness, independence of copies.

A law raises ClaimRefuted if it fails, and returns the reason where it could not be checked.
"""

from __future__ import annotations

import inspect
import math
import pickle
from collections import Counter
from collections.abc import Hashable, Iterable
from typing import Any

import numpy as np

from ..errors import ClaimRefuted, DiscreetError
from ..noise.bits import Bits
from ..privacy.compose import compose
from ..privacy.events import Event
from ..privacy.events.json import from_json, to_json
from .bits import FailingBits, ShortBits, UntouchedBits
from .findings import refute

FALSE_ALARM = 1e-11
"""Probability that one random check refutes a sound mechanism; there are less than a hundred."""

REFUSALS = (DiscreetError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
"""Refusals of an input: this library's own, and those a user's mechanism may raise."""

# An ε so large that any promise at all has a δ below 1 there.
_GENEROUS_EPSILON = 512
# Releases of each pickled copy that are compared.
_COPIES = 64
_NO_BITS = "release takes no bits=, so its source of chance cannot be replaced"
_NO_INPUTS = "give inputs that it takes"


def check_members(mechanism: object) -> None:
    """Check the members that every mechanism has."""
    has_release = callable(getattr(mechanism, "release", None))
    complete = has_release and hasattr(mechanism, "event")
    refute(complete, "a mechanism needs release(value) and event; something is missing")


def price(event: object) -> None:
    """Check that the event promises some pure ε, or a δ below 1 at a generous ε."""
    is_event = isinstance(event, Event)
    refute(is_event, f"event must say what was done, such as LaplaceNoise(2, 1), got {event!r}")
    curve = compose([event])  # type: ignore[list-item]
    some_delta = curve.delta(epsilon=_GENEROUS_EPSILON) < 1
    promises = some_delta or math.isfinite(curve.epsilon(delta=0))
    refute(promises, f"{event!r} keeps no promise, however large the epsilon")


def json(event: Event) -> None:
    """Check that the event survives JSON, as in a ledger."""
    refute(from_json(to_json(event)) == event, f"{event!r} is not the same after JSON")


def takes(mechanism: Any, value: object, **source: Bits) -> bool:  # noqa: ANN401
    """Return whether a value is released rather than refused."""
    try:
        mechanism.release(value, **source)
    except REFUSALS:
        return False
    return True


def refusal(mechanism: Any, bad: Iterable[object]) -> str | None:  # noqa: ANN401
    """Check that bad values are refused, and before any bit is drawn."""
    listed = tuple(bad)
    for value in listed:
        released = takes(mechanism, value)
        refute(not released, f"{value!r} was released; refuse it before anything is drawn")
        try:
            takes(mechanism, value, **_with(mechanism, UntouchedBits()))
        except AssertionError as drawn:
            raise ClaimRefuted(
                f"a bit was drawn before {value!r} was refused: refuse first"
            ) from drawn
    return None if listed else "say what it refuses: refuses=[…]"


def randomness(mechanism: Any, inputs: Iterable[object]) -> str | None:  # noqa: ANN401
    """Check that a source of bits that fails or falls short gives no release."""
    if not _takes_bits(mechanism):
        return _NO_BITS
    listed = tuple(inputs)
    for value in listed:
        for source in (FailingBits(), ShortBits()):
            try:
                mechanism.release(value, bits=source)
            except (*REFUSALS, OSError, RuntimeError):
                continue
            raise ClaimRefuted("something was released although the source of random bits failed")
    return None if listed else _NO_INPUTS


def pickling(mechanism: Any, inputs: Iterable[object]) -> str | None:  # noqa: ANN401
    """Check that two pickled copies cost the same and do not draw the same noise.

    Noise drawn twice cancels: two answers on neighbours then differ by the secret itself. A
    sequence of n releases with empirical entropy H is repeated by chance with probability at most
    e^(−nH), so only those with nH ≥ ln(1/FALSE_ALARM) refute.
    """
    try:
        first = _copy(mechanism)
        second = _copy(mechanism)
    except (pickle.PicklingError, *REFUSALS):
        return "it refuses to be copied"
    same_event = first.event == mechanism.event and second.event == mechanism.event
    refute(same_event, "a pickled copy has another event")
    for value in inputs:
        one = [key(first.release(value)) for _ in range(_COPIES)]
        other = [key(second.release(value)) for _ in range(_COPIES)]
        is_no_accident = _entropy(one) * _COPIES >= -math.log(FALSE_ALARM)
        repeated = one == other and is_no_accident
        refute(
            not repeated,
            "two pickled copies drew the same noise: keep no state of a generator in a mechanism",
        )
        # One input suffices: the state of a generator does not depend on it.
        return None
    return _NO_INPUTS


def _copy(mechanism: Any) -> Any:  # noqa: ANN401
    return pickle.loads(pickle.dumps(mechanism))  # noqa: S301 - of our own making


def key(output: Any) -> Hashable:  # noqa: ANN401
    """Make an output hashable: arrays and lists become tuples, NumPy's numbers plain ones.

    >>> import numpy as np
    >>> from discreet.testing.laws_event import key
    >>> key(np.array([[2, 1]])), key(np.int64(3)), key({"a": [1]})
    (((2, 1),), 3, "{'a': [1]}")
    """
    if isinstance(output, np.ndarray | np.generic):
        return key(output.tolist())
    if isinstance(output, list | tuple):
        return tuple(key(part) for part in output)
    return output if isinstance(output, Hashable) else repr(output)


def chernoff(share: float, chance: float) -> float:
    """Return the rate KL(share ‖ chance), with P(a share as far off on that side) ≤ e^(−n·rate).

    >>> from discreet.testing.laws_event import chernoff
    >>> chernoff(0.5, 0.5), chernoff(0.5, 0.0), chernoff(1.0, 1.0)
    (0.0, inf, 0.0)
    """
    return _divergence_term(share, chance) + _divergence_term(1 - share, 1 - chance)


def _divergence_term(share: float, chance: float) -> float:
    if share == 0:
        return 0.0
    return share * math.log(share / chance) if chance > 0 else math.inf


def _entropy(outputs: list[Hashable]) -> float:
    """Return the empirical entropy of outputs, in nats."""
    frequencies = [count / len(outputs) for count in Counter(outputs).values()]
    return -sum(frequency * math.log(frequency) for frequency in frequencies)


def _with(mechanism: Any, source: Bits) -> dict[str, Bits]:  # noqa: ANN401
    return {"bits": source} if _takes_bits(mechanism) else {}


def _takes_bits(mechanism: Any) -> bool:  # noqa: ANN401
    return "bits" in inspect.signature(mechanism.release).parameters
