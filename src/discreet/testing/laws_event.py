"""Laws of anything with `release` and `event`: it has a price, it needs chance, its copies draw their own.

A law raises ClaimRefuted if it fails, and says why where it could not be checked.
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
"""The chance that one random check refutes a sound mechanism; there are less than a hundred."""

REFUSALS = (DiscreetError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError)
"""What counts as a refusal of an input: ours, and those a mechanism of one's own may raise."""

_GENEROUS = 512
_COPIES = 64
_NO_BITS = "release takes no bits=, so its source of chance cannot be replaced"
_NO_INPUTS = "give inputs that it takes"


def faces(mechanism: object) -> None:
    """Ask for what every mechanism has."""
    found = callable(getattr(mechanism, "release", None)) and hasattr(mechanism, "event")
    refute(found, "a mechanism needs release(value) and event; something is missing")


def price(event: object) -> None:
    """Price the event: some pure ε, or a δ below 1 at a generous one."""
    refute(
        isinstance(event, Event),
        f"event must say what was done, such as LaplaceNoise(2, 1), got {event!r}",
    )
    curve = compose([event])  # type: ignore[list-item]
    promises = curve.delta(epsilon=_GENEROUS) < 1 or math.isfinite(curve.epsilon(delta=0))
    refute(promises, f"{event!r} keeps no promise, however large the epsilon")


def json(event: Event) -> None:
    """Send the event through JSON, as a ledger does."""
    refute(from_json(to_json(event)) == event, f"{event!r} is not the same after JSON")


def takes(mechanism: Any, value: object, **source: Bits) -> bool:  # noqa: ANN401
    """Return whether a value is released rather than refused."""
    try:
        mechanism.release(value, **source)
    except REFUSALS:
        return False
    return True


def refusal(mechanism: Any, bad: Iterable[object]) -> str | None:  # noqa: ANN401
    """Hand in what must be refused, then again with bits that may not be touched."""
    listed = tuple(bad)
    for value in listed:
        refute(
            not takes(mechanism, value),
            f"{value!r} was released; refuse it before anything is drawn",
        )
        try:
            takes(mechanism, value, **_with(mechanism, UntouchedBits()))
        except AssertionError as drawn:
            raise ClaimRefuted(
                f"a bit was drawn before {value!r} was refused: refuse first"
            ) from drawn
    return None if listed else "say what it refuses: refuses=[…]"


def randomness(mechanism: Any, inputs: Iterable[object]) -> str | None:  # noqa: ANN401
    """Take chance away: a source that fails or falls short must give no release."""
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
    """Copy it twice: the copies cost the same, and do not draw the same noise.

    Noise drawn twice cancels: two answers on neighbours then differ by what was to be hidden. A sequence of n releases
    with empirical entropy H comes again by chance with probability at most e^(−nH), so only those with
    nH ≥ ln(1/FALSE_ALARM) refute.
    """
    try:
        copies = [pickle.loads(pickle.dumps(mechanism)) for _ in range(2)]  # noqa: S301 - of our own making
    except (pickle.PicklingError, *REFUSALS):
        return "it refuses to be copied"
    refute(
        all(copy.event == mechanism.event for copy in copies), "a pickled copy has another event"
    )
    for value in inputs:
        one, other = ([key(copy.release(value)) for _ in range(_COPIES)] for copy in copies)
        same = one == other and _entropy(one) * _COPIES >= -math.log(FALSE_ALARM)
        refute(
            not same,
            "two pickled copies drew the same noise: keep no state of a generator in a mechanism",
        )
        return None
    return _NO_INPUTS


def key(output: Any) -> Hashable:  # noqa: ANN401
    """Make an output a key: arrays and lists become tuples, NumPy's numbers plain ones.

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
    return _part(share, chance) + _part(1 - share, 1 - chance)


def _part(share: float, chance: float) -> float:
    if share == 0:
        return 0.0
    return share * math.log(share / chance) if chance > 0 else math.inf


def _entropy(outputs: list[Hashable]) -> float:
    shares = [count / len(outputs) for count in Counter(outputs).values()]
    return -sum(share * math.log(share) for share in shares)


def _with(mechanism: Any, source: Bits) -> dict[str, Bits]:  # noqa: ANN401
    return {"bits": source} if _takes_bits(mechanism) else {}


def _takes_bits(mechanism: Any) -> bool:  # noqa: ANN401
    return "bits" in inspect.signature(mechanism.release).parameters
