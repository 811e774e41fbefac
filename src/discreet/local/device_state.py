"""State that a device keeps for a mechanism: draws made once, for each value, for each report.

ε and ε∞ are the price of a kept answer, however often it is sent:

mechanism    once          kept for a value              at every report
RAPPOR       the cohort    the permanent bits (ε∞)       the instantaneous bits
BitFlip      the buckets   its bits (ε)                  a flip with probability γ
OneBitMean   nothing       its bit (ε)                   a flip with probability γ
any other    nothing       the report (ε)                nothing
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Protocol

import numpy as np

from ..errors import InvalidArgument
from ..frozen import frozen
from ..mechanisms.response.randomized import read_answers
from ..noise import Bits, uniform
from ..privacy.events import Promise, Response
from ..privacy.measures import PureDP
from .deployments.bit_flip import BitFlip
from .deployments.bit_reports import pack_bits
from .deployments.hashing import fingerprint, fingerprints
from .deployments.one_bit import OneBitMean, flip_with
from .deployments.rappor import Rappor
from .randomizer import Randomizer


class DeviceMemory(Protocol):
    """Mechanism as three draws of a device: once (`begin`), for a value, and for a report."""

    @property
    def each(self) -> Fraction:
        """ε of one report."""

    @property
    def kept(self) -> Fraction:
        """ε of one kept answer, however often it is sent."""

    def begin(self, bits: Bits | None) -> Any:  # noqa: ANN401 - each mechanism has its own
        """Draw the state that a device draws once."""

    def remember(self, state: Any, value: Any, bits: Bits | None) -> Any:  # noqa: ANN401
        """Draw the answer kept for a value."""

    def send(self, state: Any, answer: Any, bits: Bits | None) -> Any:  # noqa: ANN401
        """Draw the report of a kept answer."""

    def check(self, value: Any) -> None:  # noqa: ANN401
        """Refuse a value that the mechanism refuses."""


def memory_of(mechanism: object) -> DeviceMemory:
    """Return the memory that keeps a mechanism's answers.

    Refuses: `InvalidArgument` for anything but a local mechanism that promises a pure ε.
    """
    match mechanism:
        case Rappor():
            return _RapporMemory(mechanism, mechanism.epsilon, mechanism.epsilon_for_ever)
        case BitFlip():
            return _BitFlipMemory(mechanism, mechanism.epsilon, mechanism.epsilon)
        case OneBitMean():
            return _OneBitMemory(mechanism, mechanism.epsilon, mechanism.epsilon)
        case Randomizer(event=Response(epsilon=epsilon) | Promise(measure=PureDP(epsilon=epsilon))):
            return _PlainMemory(mechanism, epsilon, epsilon)
    raise InvalidArgument(
        "a device needs a mechanism of discreet.local whose reports are ε-private"
    )


def to_plain(kept: Any) -> Any:  # noqa: ANN401 - whatever a mechanism keeps
    """Write a kept state or answer as JSON types.

    >>> import numpy as np
    >>> from discreet.local.device_state import from_plain, to_plain
    >>> from_plain(to_plain(np.array([[True, False]]))).tolist(), from_plain(to_plain((3, "ff")))
    ([[True, False]], (3, 'ff'))

    Law: `tests/local/test_longitudinal.py::TestSleep`
    """
    if isinstance(kept, np.ndarray):
        domain = "bits" if kept.dtype == np.bool_ else "numbers"
        return {domain: kept.tolist()}
    if isinstance(kept, tuple):
        return {"parts": list(kept)}
    return kept


def from_plain(kept: Any) -> Any:  # noqa: ANN401
    """Read a state or answer written by `to_plain`."""
    match kept:
        case {"bits": rows}:
            return np.array(rows, dtype=np.bool_)
        case {"numbers": rows}:
            return np.array(rows, dtype=np.int64)
        case {"parts": parts}:
            return tuple(parts)
    return kept


@frozen
class _PlainMemory:
    """Memory of a mechanism whose report itself is kept."""

    mechanism: Randomizer
    each: Fraction
    kept: Fraction

    def begin(self, bits: Bits | None) -> None:
        """Draw nothing."""

    def remember(self, _state: None, value: Any, bits: Bits | None) -> Any:  # noqa: ANN401
        return self.mechanism.randomize(value, bits=bits)

    def send(self, _state: None, answer: Any, _bits: Bits | None) -> Any:  # noqa: ANN401
        return answer

    def check(self, value: Any) -> None:  # noqa: ANN401
        # The report is dropped: it is drawn only because `randomize` holds the checks.
        self.mechanism.randomize(value)


@frozen
class _OneBitMemory:
    """Memory of a one-bit mean: the bit before the flip with probability γ."""

    mechanism: OneBitMean
    each: Fraction
    kept: Fraction

    def begin(self, bits: Bits | None) -> None:
        """Draw nothing."""

    def remember(self, _state: None, value: Any, bits: Bits | None) -> int:  # noqa: ANN401
        given = self.mechanism
        without_gamma = OneBitMean(given.low, given.high, PureDP(given.epsilon))
        return int(without_gamma.randomize(value, bits=bits))

    def send(self, _state: None, answer: int, bits: Bits | None) -> int:
        bit = np.array([bool(answer)])
        return int(flip_with(self.mechanism.gamma, bit, bits)[0])

    def check(self, value: Any) -> None:  # noqa: ANN401
        self.mechanism.steps(value)


@frozen
class _BitFlipMemory:
    """Memory of dBitFlip: the buckets of the device, and the bits of a value before γ."""

    mechanism: BitFlip
    each: Fraction
    kept: Fraction

    def begin(self, bits: Bits | None) -> Any:  # noqa: ANN401
        return self.mechanism.draw_buckets(1, bits)

    def remember(self, state: Any, value: Any, bits: Bits | None) -> Any:  # noqa: ANN401
        bucket = read_answers([value], self.mechanism.buckets)
        return self.mechanism.answer(bucket, state, bits)

    def send(self, state: Any, answer: Any, bits: Bits | None) -> list[int]:  # noqa: ANN401
        sent = flip_with(self.mechanism.gamma, answer, bits)
        marks = 2 * state + sent
        return [int(mark) for mark in marks[0]]

    def check(self, value: Any) -> None:  # noqa: ANN401
        read_answers([value], self.mechanism.buckets)


@frozen
class _RapporMemory:
    """Memory of RAPPOR: the cohort of the device, and the permanent bits of a value."""

    mechanism: Rappor
    each: Fraction
    kept: Fraction

    def begin(self, bits: Bits | None) -> Any:  # noqa: ANN401
        return uniform(self.mechanism.cohorts, 1, bits=bits)

    def remember(self, state: Any, value: str, bits: Bits | None) -> Any:  # noqa: ANN401
        prints = fingerprints([value], self.mechanism.key)
        marked = self.mechanism.marks(state, prints)
        return self.mechanism.noise_once(marked, bits)

    def send(self, state: Any, answer: Any, bits: Bits | None) -> tuple[int, str]:  # noqa: ANN401
        sent = self.mechanism.noise_again(answer, bits)
        return pack_bits(state, sent)[0]

    def check(self, value: Any) -> None:  # noqa: ANN401
        fingerprint(value, self.mechanism.key)
