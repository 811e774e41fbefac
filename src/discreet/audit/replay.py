"""Record and replay: freeze every mechanism's output, run again on D', and compare the rest.

A program is a function of the data and a recorder, and releases only through it:

    def program(data, recorder):
        recorder.note("rows read", 2)               # anything an analyst can see must be equal
        n = recorder.release(mechanism, len(data))  # on D: mechanism.release(len(data))
        return {"n": n}

With the noise frozen nothing random is left. A mechanism's input may move by its declared
sensitivity. Everything else (which mechanisms run, their order, notes, the answer, exceptions) must
not change at all. No statistics, no repeated runs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np

from ..arithmetic.rational import rational
from ..errors import ClaimRefuted, InvalidArgument
from ..frozen import frozen
from .targets.inputs import Unit, check_inputs, plain

Norm: TypeAlias = Literal["l1", "l2", "linf"]


class Releases(Protocol):
    """Mechanism with a declared sensitivity and a release.

    The sensitivity is a number, or a value with l1, squared_l2 and linf.
    """

    @property
    def sensitivity(self) -> Any:  # noqa: ANN401 - a number or a value with three norms
        """The largest change of its input between neighbours."""
        ...

    def release(self, value: Any, /) -> Any:  # noqa: ANN401 - each mechanism has its own types
        """Return the private answer."""
        ...


class Recorder(Protocol):
    """Channel through which a program releases."""

    def release(self, mechanism: Releases, value: object, *, norm: Norm | None = None) -> Any:  # noqa: ANN401
        """Release a value.

        `norm` is needed for a vector whose mechanism declares one plain number.
        """
        ...

    def note(self, name: str, value: object) -> None:
        """Show something to the analyst without noise."""
        ...


@frozen
class Move:
    """Change of one mechanism's input, and the sensitivity it declares."""

    mechanism: str
    norm: str
    moved: float
    declared: float

    @property
    def too_far(self) -> bool:
        """Whether the declared sensitivity is broken."""
        # Written so that NaN counts as broken.
        return not self.moved <= self.declared


@frozen
class Replay:
    """Every change of a mechanism's input, and every difference that should not exist."""

    moves: tuple[Move, ...]
    differences: tuple[str, ...]

    @property
    def refuted(self) -> bool:
        """Whether the program leaks around its mechanisms or breaks a declared sensitivity."""
        return bool(self.differences) or any(move.too_far for move in self.moves)

    def require(self) -> Replay:
        """Raise `ClaimRefuted` if the program was refuted, else return this."""
        if self.refuted:
            raise ClaimRefuted(str(self))
        return self

    def __str__(self) -> str:
        lines = ["REFUTED by replay" if self.refuted else "not refuted by replay"]
        for move in self.moves:
            moved = f"input moved by {move.moved:g}, declared {move.declared:g}"
            lines.append(f"  {move.mechanism}: {moved} ({move.norm})")
        lines.extend(f"  differs: {difference}" for difference in self.differences)
        return "\n".join(lines)


def replay(
    program: Callable[[Any, Recorder], object],
    inputs: tuple[object, object],
    *,
    neighbours: str | None = None,
    unit: Unit | None = None,
) -> Replay:
    """Run a program on D, freeze its noise, run it on D', and compare.

    >>> from discreet.audit import replay
    >>> class Noise:
    ...     sensitivity = 1
    ...     def release(self, value):
    ...         return value + 3
    >>> def honest(data, recorder):
    ...     return recorder.release(Noise(), len(data))
    >>> replay(honest, ([1, 2], [1, 2, 3])).refuted
    False
    >>> def leaking(data, recorder):
    ...     return min(len(data), recorder.release(Noise(), len(data)))
    >>> replay(leaking, ([1, 2], [1, 2, 3])).differences
    ('the answer',)

    Guarantee: where a deterministic program differs in a step or its answer, a difference is listed.
    The run on D' ends at the first step that the run on D did not make.
    Refuses: `InvalidArgument` for inputs that are equal or, where `neighbours` is named, no
    neighbours.
    Law: `tests/audit/test_replay.py::test_leaks`
    Law: `tests/audit/test_replay.py::test_an_honest_program`
    """
    first, second = check_inputs(inputs, neighbours, unit)
    recording = _Recording()
    answer = _outcome(program, first, recording)
    player = _Player(recording.entries)
    again = _outcome(program, second, player)
    differences = list(player.differences)
    if player.left and not differences:
        steps = len(recording.entries) - len(player.left)
        differences.append(f"the second run stops after {steps} steps of the first")
    if not alike(answer, again) and not isinstance(again, _Stopped):
        differences.append("the answer")
    return Replay(tuple(player.moves), tuple(differences))


def _outcome(
    program: Callable[[Any, Recorder], object], data: object, recorder: Recorder
) -> object:
    """Return the answer of a program, or the exception that the analyst sees."""
    try:
        return program(data, recorder)
    except _Diverged:
        return _Stopped()
    except InvalidArgument:
        raise
    except Exception as error:  # noqa: BLE001 - the analyst sees an exception, so it is compared
        return type(error).__name__, str(error)


class _Diverged(Exception):
    """The second run cannot go on: it asks for a step that was never recorded."""


@frozen
class _Stopped:
    """Stands for the answer after the runs diverged."""


@frozen
class _Entry:
    """One recorded step: a release or a note."""

    kind: str
    label: object
    value: object
    output: object


class _Recording:
    """Recorder that runs every mechanism and keeps inputs and outputs."""

    def __init__(self) -> None:
        self.entries: list[_Entry] = []

    def release(self, mechanism: Releases, value: object, *, norm: Norm | None = None) -> Any:  # noqa: ANN401
        output = mechanism.release(value)
        self.entries.append(_Entry("release", (mechanism, norm), value, output))
        return output

    def note(self, name: str, value: object) -> None:
        self.entries.append(_Entry("note", name, value, None))


class _Player:
    """Recorder that returns the frozen outputs and measures how far the inputs moved."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self.left = list(entries)
        self.moves: list[Move] = []
        self.differences: list[str] = []

    def _next(self, kind: str, label: object) -> _Entry:
        """Return the next recorded step, if it is the same."""
        entry = self.left.pop(0) if self.left else None
        if entry is None or entry.kind != kind or not _same_step(entry.label, label):
            self.differences.append(f"a {kind} that the first run did not make at this place")
            raise _Diverged
        return entry

    def release(self, mechanism: Releases, value: object, *, norm: Norm | None = None) -> Any:  # noqa: ANN401
        entry = self._next("release", (mechanism, norm))
        self.moves += _moves(mechanism, entry.value, value, norm)
        return entry.output

    def note(self, name: str, value: object) -> None:
        recorded = self._next("note", name).value
        if not alike(recorded, value):
            self.differences.append(f"the note {name!r}")


def _same_step(a: object, b: object) -> bool:
    """Return whether two steps have one name, or mechanisms of one type and one setting."""
    if alike(a, b):
        return True
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        return False
    return _setting(*a) == _setting(*b)


def _setting(mechanism: object, norm: object) -> tuple[object, ...]:
    """Return type and attributes of a mechanism: the program may make it anew in each run."""
    return type(mechanism), getattr(mechanism, "__dict__", mechanism), norm


def alike(a: object, b: object) -> bool:
    """Return whether two values look the same to an analyst: NaN equals NaN, 1 is not 1.0."""
    if plain(a) == plain(b):
        return True
    # An array has no single truth value; its text decides.
    return type(a) is type(b) and not isinstance(a, np.ndarray) and bool(a == b)


def _moves(mechanism: Releases, before: object, after: object, norm: Norm | None) -> list[Move]:
    """Compare the change of a mechanism's input with its declared sensitivity, in every norm."""
    name = type(mechanism).__name__
    declared = mechanism.sensitivity
    change = _change(before, after)
    if change is None:
        return [Move(name, "shape", math.inf, 0.0)]
    if hasattr(declared, "squared_l2"):
        return [
            _move(name, "l1", change, Fraction(declared.l1)),
            _move(name, "linf", change, Fraction(declared.linf)),
            _move(name, "l2", change, Fraction(declared.squared_l2)),
        ]
    most = rational(declared, "sensitivity")
    if len(change) > 1 and norm is None:
        raise InvalidArgument(
            f"{name} declares one number for a vector; say release(…, norm='l1', 'l2' or 'linf')"
        )
    if norm == "l2":
        most = most**2
    return [_move(name, norm or "l1", change, most)]


def _move(name: str, norm: str, change: list[Fraction | float], most: Fraction) -> Move:
    """Compare exactly, in squares for l2; the numbers shown are rounded so that a break shows."""
    size: Fraction | float
    if norm == "l1":
        size = sum(change, start=Fraction(0))
    elif norm == "linf":
        size = max(change, default=Fraction(0))
    else:
        size = sum((c * c for c in change), start=Fraction(0))
    if norm == "l2":
        moved = math.sqrt(size)
        declared = math.sqrt(most)
    else:
        moved = float(size)
        declared = float(most)
    # The floats may round to the other side of the exact comparison.
    if size <= most:
        moved = min(moved, declared)
    elif moved <= declared:
        moved = math.nextafter(declared, math.inf)
    return Move(name, norm, moved, declared)


def _change(before: object, after: object) -> list[Fraction | float] | None:
    """Return the exact change of every coordinate; None if the shapes differ."""
    first = np.asarray(before, dtype=object)
    second = np.asarray(after, dtype=object)
    if first.shape != second.shape:
        return None
    pairs = zip(first.ravel().tolist(), second.ravel().tolist(), strict=True)
    return [_distance(a, b) for a, b in pairs]


def _distance(a: Any, b: Any) -> Fraction | float:  # noqa: ANN401 - any released value
    """Return the exact distance of two numbers; infinite for what cannot be compared."""
    if plain(a) == plain(b):
        return Fraction(0)
    try:
        return abs(Fraction(a) - Fraction(b))
    except (ValueError, OverflowError, TypeError):
        # NaN, infinite, or no number at all.
        return math.inf
