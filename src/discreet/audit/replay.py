"""Record and replay: run on D, freeze every mechanism's output, run again on D', and see what else moved.

A program is a function of the data and a recorder, and releases only through it:

    def program(data, recorder):
        recorder.note("rows read", 2)                          # anything an analyst can see must be equal
        n = recorder.release(mechanism, len(data))             # calls mechanism.release(len(data)) the first time
        return {"n": n}

With the noise frozen nothing random is left: a mechanism's input may move by its declared sensitivity, and everything
else (which mechanisms run, in what order, notes, the answer, exceptions) must not move at all. No statistics, no runs.
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
    """A mechanism: it declares a sensitivity (a number, or a value with l1, squared_l2 and linf) and releases."""

    @property
    def sensitivity(self) -> Any:  # noqa: ANN401 - a number or a value with three norms
        """How far its input may move between neighbours."""
        ...

    def release(self, value: Any, /) -> Any:  # noqa: ANN401 - each mechanism says what it takes
        """Return the private answer."""
        ...


class Recorder(Protocol):
    """What a program releases through."""

    def release(self, mechanism: Releases, value: object, *, norm: Norm | None = None) -> Any:  # noqa: ANN401
        """Release a value; `norm` is needed for a vector whose mechanism declares one plain number."""
        ...

    def note(self, name: str, value: object) -> None:
        """Show something to the analyst without noise."""
        ...


@frozen
class Move:
    """How far one mechanism's input moved, against what it declares."""

    mechanism: str
    norm: str
    moved: float
    declared: float

    @property
    def too_far(self) -> bool:
        """Whether the declared sensitivity is broken."""
        return not self.moved <= self.declared


@frozen
class Replay:
    """Every move of a mechanism's input, and every difference that should not be there."""

    moves: tuple[Move, ...]
    differences: tuple[str, ...]

    @property
    def refuted(self) -> bool:
        """Whether the program leaks around its mechanisms or breaks a declared sensitivity."""
        return bool(self.differences) or any(move.too_far for move in self.moves)

    def require(self) -> Replay:
        """Raise `ClaimRefuted` if the program was caught, else return this."""
        if self.refuted:
            raise ClaimRefuted(str(self))
        return self

    def __str__(self) -> str:
        moves = [
            f"  {m.mechanism}: input moved by {m.moved:g}, declared {m.declared:g} ({m.norm})"
            for m in self.moves
        ]
        head = "REFUTED" if self.refuted else "not refuted"
        return "\n".join(
            [f"{head} by replay", *moves, *(f"  differs: {words}" for words in self.differences)]
        )


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
    >>> print(replay(lambda data, recorder: recorder.release(Noise(), len(data)), ([1, 2], [1, 2, 3])).refuted)
    False
    >>> leak = replay(lambda data, recorder: min(len(data), recorder.release(Noise(), len(data))), ([1, 2], [1, 2, 3]))
    >>> leak.differences
    ('the answer',)

    Refuses inputs that are equal or, where `neighbours` is named, no neighbours.
    """
    first, second = check_inputs(inputs, neighbours, unit)
    tape = _Tape()
    answer = _outcome(program, first, tape)
    player = _Player(tape.entries)
    again = _outcome(program, second, player)
    differences = list(player.differences)
    if len(player.left) and not differences:
        differences.append(
            f"the second run stops after {len(tape.entries) - len(player.left)} steps of the first"
        )
    if not alike(answer, again) and not isinstance(again, _Stopped):
        differences.append("the answer")
    return Replay(tuple(player.moves), tuple(differences))


def _outcome(
    program: Callable[[Any, Recorder], object], data: object, recorder: Recorder
) -> object:
    try:
        return program(data, recorder)
    except _Diverged:
        return _Stopped()
    except InvalidArgument:
        raise
    except Exception as error:  # noqa: BLE001 - an exception is seen by the analyst, so it is compared
        return type(error).__name__, str(error)


class _Diverged(Exception):
    """The second run cannot go on: what it asks for was never recorded."""


@frozen
class _Stopped:
    """In place of an answer after the runs diverged."""


@frozen
class _Entry:
    kind: str
    label: object
    value: object
    output: object


class _Tape:
    """Runs every mechanism and remembers what went in and out."""

    def __init__(self) -> None:
        self.entries: list[_Entry] = []

    def release(self, mechanism: Releases, value: object, *, norm: Norm | None = None) -> Any:  # noqa: ANN401
        output = mechanism.release(value)
        self.entries.append(_Entry("release", (mechanism, norm), value, output))
        return output

    def note(self, name: str, value: object) -> None:
        self.entries.append(_Entry("note", name, value, None))


class _Player:
    """Gives back the frozen outputs and measures how far the inputs moved."""

    def __init__(self, entries: Sequence[_Entry]) -> None:
        self.left = list(entries)
        self.moves: list[Move] = []
        self.differences: list[str] = []

    def _next(self, kind: str, label: object) -> _Entry:
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
        if not alike(self._next("note", name).value, value):
            self.differences.append(f"the note {name!r}")


def _same_step(a: object, b: object) -> bool:
    """Return whether two steps are of one name, or by mechanisms of one kind and one setting."""
    if alike(a, b):
        return True
    settings = [
        (type(s[0]), getattr(s[0], "__dict__", s[0]), s[1]) for s in (a, b) if isinstance(s, tuple)
    ]
    return len(settings) == 2 and settings[0] == settings[1]


def alike(a: object, b: object) -> bool:
    """Return whether two values look the same to an analyst: NaN equals NaN, 1 is not 1.0."""
    return plain(a) == plain(b) or (
        type(a) is type(b) and not isinstance(a, np.ndarray) and bool(a == b)
    )


def _moves(mechanism: Releases, before: object, after: object, norm: Norm | None) -> list[Move]:
    name, declared = type(mechanism).__name__, mechanism.sensitivity
    change = _change(before, after)
    if change is None:
        return [Move(name, "shape", math.inf, 0.0)]
    if hasattr(declared, "squared_l2"):
        given = (("l1", declared.l1), ("linf", declared.linf), ("l2", declared.squared_l2))
        return [_move(name, kind, change, Fraction(most)) for kind, most in given]
    most = rational(declared, "sensitivity")
    if len(change) > 1 and norm is None:
        raise InvalidArgument(
            f"{name} declares one number for a vector; say release(…, norm='l1', 'l2' or 'linf')"
        )
    return [_move(name, norm or "l1", change, most**2 if norm == "l2" else most)]


def _move(name: str, norm: str, change: list[Fraction | float], most: Fraction) -> Move:
    """Compare exactly, in squares for l2; the numbers shown are rounded so that a break stays visible."""
    size: Fraction | float
    if norm == "l1":
        size = sum(change, start=Fraction(0))
    elif norm == "linf":
        size = max(change, default=Fraction(0))
    else:
        size = sum((c * c for c in change), start=Fraction(0))
    moved, declared = (
        (math.sqrt(size), math.sqrt(most)) if norm == "l2" else (float(size), float(most))
    )
    if size > most and moved <= declared:
        moved = math.nextafter(declared, math.inf)
    return Move(name, norm, min(moved, declared) if size <= most else moved, declared)


def _change(before: object, after: object) -> list[Fraction | float] | None:
    """Return the exact change of every coordinate; None if the shapes differ."""
    first, second = (np.asarray(v, dtype=object) for v in (before, after))
    if first.shape != second.shape:
        return None
    pairs = zip(first.ravel().tolist(), second.ravel().tolist(), strict=True)
    return [_gap(a, b) for a, b in pairs]


def _gap(a: Any, b: Any) -> Fraction | float:  # noqa: ANN401 - whatever was released
    if plain(a) == plain(b):
        return Fraction(0)
    try:
        return abs(Fraction(a) - Fraction(b))
    except (ValueError, OverflowError, TypeError):  # NaN, infinite, or no number at all
        return math.inf
