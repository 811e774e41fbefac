"""Tape of one run: every random draw, every release with its private input, and their place in code.

A run on D records; a run on D' replays. In a replay each release shows what it showed on D, whatever
goes in, so that nothing random is left and inputs can be compared (record and replay).

| step | what is kept |
|---|---|
| `Node` | noise of known law and scale, or a sum of such noise and a value: the input of a release |
| `MechanismCall` | call of a library's mechanism, seen by an adapter: input, output, price of a move |

Draws of no known law (uniform, integers, bytes) are no steps. They are made anew from a seed, their
place and their number at that place, so that equal calls of both runs get equal values (coupling).
"""

from __future__ import annotations

import sys
import zlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]

# Kept before the audit replaces it.
_GENERATOR = np.random.Generator

_HERE = str(Path(__file__).parent)
_LIBRARY = str(Path(np.__file__).parent)


class Diverged(BaseException):
    """The replay cannot go on: it makes a step that was not recorded at this place.

    It is no `Exception`, so that the audited program does not catch it.
    """


class Node:
    """Noise, or noise with a value added to it: factor · draw + input, element by element.

    `scale` is the scale of the draw, `value` the noisy result. `ids` name the draws: two nodes of
    one id share their noise. `input` is None for bare noise, to which nothing was added. `place` is
    the line of code.
    """

    def __init__(  # noqa: PLR0917 - the parts of a node
        self,
        law: str,
        scale: Values,
        ids: Values,
        factor: Values,
        value: Values,
        place: str,
        input: Values | None = None,  # noqa: A002 - the usual word
    ) -> None:
        self.law = law
        self.scale = scale
        self.ids = ids
        self.factor = factor
        self.value = value
        self.place = place
        self.input = input
        # A location that a source was given: 0 there is no input.
        self.located = False
        # Elements that went on into another node, that the program looked at, that the answer tells.
        self.consumed = np.zeros(ids.shape, dtype=bool)
        self.seen = np.zeros(ids.shape, dtype=bool)
        self.shown = np.zeros(ids.shape, dtype=bool)

    @property
    def bare(self) -> bool:
        """Whether nothing was added to the noise yet."""
        return self.input is None or (self.located and not np.any(self.input))

    @property
    def title(self) -> str:
        """Law and number of elements, as a report shows them."""
        count = self.ids.size
        if count == 1:
            return self.law
        return f"{self.law} × {count}"

    def same_step(self, other: object) -> bool:
        """Return whether another run makes the same step: one law, one shape, the same draws."""
        if not isinstance(other, Node):
            return False
        bare = (self.input is None) == (other.input is None)
        return bare and self.law == other.law and np.array_equal(self.ids, other.ids)


@dataclass(eq=False)
class MechanismCall:
    """Call of a mechanism of a library: its input, its output, and how a move is priced.

    `price(before, after)` takes the inputs of both runs. It returns the move, the scale as text and
    the `Loss`, or a sentence why there is no price. `declared` are the settings of the call as
    text.
    """

    name: str
    place: str
    input: object
    price: Callable[[Any, Any], Any]
    declared: str
    output: Any = None

    @property
    def title(self) -> str:
        """Name of the mechanism."""
        return self.name

    def same_step(self, other: object) -> bool:
        """Return whether another run calls a mechanism of the same name, with any settings."""
        return isinstance(other, MechanismCall) and self.name == other.name


Step = Node | MechanismCall

_active: list[Tape] = []


def current() -> Tape | None:
    """Return the tape of the run under way."""
    return _active[-1] if _active else None


class Tape:
    """Steps of one run. With `recorded`, a replay of the run that made these steps.

    All draws follow from `seed`. `forced` sets noise instead (steering): it gets the law and the
    ids of draws, and returns the noise of each in scales.
    """

    def __enter__(self) -> Tape:
        _active.append(self)
        return self

    def __exit__(self, *error: object) -> None:
        _active.remove(self)

    def __init__(
        self,
        seed: int = 0,
        recorded: list[Step] | None = None,
        forced: Callable[[str, Values], Values] | None = None,
    ) -> None:
        self.seed = seed
        self.recorded = recorded
        self.forced = forced
        self.steps: list[Step] = []
        self.differences: list[tuple[str, str]] = []
        # Draws of no known law: how many at each place, and with which arguments.
        self.other_draws: Counter[str] = Counter()
        self.arguments: dict[tuple[str, int], str] = {}
        # Reasons why what this tape shows is no proof.
        self.doubts: list[str] = []
        self.draws = 0
        # Depth of mechanisms that adapters see: only the outermost counts.
        self.inside = 0
        self.calls: Counter[str] = Counter()

    def generator(self, place: str) -> np.random.Generator:
        """Return a new source for one call at a place; equal calls of both runs get equal draws."""
        number = self.calls[place]
        self.calls[place] += 1
        # Place and number, not the order of all calls: a call more moves no other.
        entropy = [self.seed, zlib.crc32(place.encode()), number]
        return _GENERATOR(np.random.PCG64(entropy))

    def other(self, name: str, arguments: str) -> np.random.Generator:
        """Note a draw of no known law and return the source that makes it."""
        place = f"{name} at {code_place()}"
        if not self.inside:
            self.arguments[place, self.other_draws[place]] = arguments
            self.other_draws[place] += 1
        return self.generator(place)

    def noise(self, law: str, scale: object, shape: tuple[int, ...], whole: bool = False) -> Node:
        """Draw noise of a known law as a new node."""
        place = code_place()
        scales = np.broadcast_to(np.asarray(scale, dtype=float), shape).ravel().copy()
        unit = self._unit(law, f"{law} at {place}", scales)
        values = unit * scales
        factor = np.ones(scales.shape)
        if whole:
            # Python integers: a lattice may be wider than a float or a machine word.
            values = np.array([round(value) for value in values.tolist()], dtype=object)
            factor = np.array([1] * scales.size, dtype=object)
        node = Node(law, scales, self.new_ids(scales.size), factor, values, place)
        self.add(node)
        return node

    def new_ids(self, count: int) -> Values:
        """Return names of so many new draws."""
        first = self.draws
        self.draws += count
        return np.arange(first, self.draws)

    def _unit(self, law: str, place: str, scales: Values) -> Values:
        """Return noise of scale 1; steering sets it."""
        source = self.generator(place)
        if law == "laplace":
            drawn = source.laplace(size=scales.shape)
        else:
            drawn = source.standard_normal(size=scales.shape)
        if self.forced is None or self.inside:
            return drawn
        return self.forced(law, np.arange(self.draws, self.draws + scales.size))

    def add(self, step: Step) -> None:
        """Append a step; in a replay it must be the recorded one, and shows what that one showed."""
        # What a mechanism does inside is its own affair.
        if self.inside:
            return
        position = len(self.steps)
        self.steps.append(step)
        if self.recorded is None:
            return
        if position >= len(self.recorded):
            self.doubt_chain(step, self.recorded)
            self.differ(step.place, f"{step.title} on the second input only")
            raise Diverged
        before = self.recorded[position]
        if not before.same_step(step):
            self.doubt_chain(step, self.steps[:-1])
            self.differ(step.place, _parted(before, step))
            raise Diverged
        if isinstance(step, Node) and isinstance(before, Node):
            # A copy: the program may write into what it gets.
            step.value = before.value.copy()
        elif isinstance(step, MechanismCall) and isinstance(before, MechanismCall):
            step.output = before.output

    def doubt_chain(self, step: Step, earlier: list[Step]) -> None:
        """Doubt a difference that is one more addition to noise with an input: a loop over rows."""
        for known in earlier:
            if isinstance(step, Node) and isinstance(known, Node) and known.input is not None:
                if np.array_equal(known.ids, step.ids):
                    self.doubt(
                        f"at {step.place} noise is added to in as many steps as there are rows"
                    )

    def show(self, numbers: Values) -> None:
        """Mark the released values that are among the numbers of the answer."""
        for step in self.steps:
            if isinstance(step, Node) and step.input is not None:
                step.shown |= np.isin(step.value.astype(float), numbers)

    def differ(self, place: str, text: str) -> None:
        """Note a difference between the runs that is no move of an input."""
        self.differences.append((place, text))

    def doubt(self, reason: str) -> None:
        """Note why what follows is no proof."""
        if reason not in self.doubts:
            self.doubts.append(reason)


def watched(call: MechanismCall, run: Callable[[], Any]) -> Any:  # noqa: ANN401 - a mechanism's output
    """Run a mechanism as one step of the tape; its own draws are no steps.

    In a replay it runs too, since it may raise, but shows what it showed in the recorded run.
    """
    tape = current()
    assert tape is not None  # noqa: S101 - adapters ask `outermost` first
    tape.inside += 1
    try:
        call.output = run()
    finally:
        tape.inside -= 1
    tape.add(call)
    return call.output


def outermost() -> bool:
    """Return whether a mechanism called now is a step: a tape runs, no other mechanism calls it."""
    tape = current()
    return tape is not None and not tape.inside


def _parted(before: Step, after: Step) -> str:
    """Describe two steps that should be one."""
    first = _described(before)
    second = _described(after)
    if before.place != after.place:
        first += f" at {before.place}"
        second += f" at {after.place}"
    return f"{first} on the first input, {second} on the second"


def _described(step: Step) -> str:
    if isinstance(step, MechanismCall):
        return f"{step.title} ({step.declared})"
    return step.title


def code_place() -> str:
    """Return file and line of the innermost frame that is neither the auditor's nor NumPy's."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the usual way to find a caller
    while frame is not None and _is_inner(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return "unknown"
    return f"{_short(frame.f_code.co_filename)}:{frame.f_lineno}"


def _is_inner(name: str) -> bool:
    """Return whether a file only carries out what another one asks for."""
    if name.startswith((_HERE, _LIBRARY, "<frozen")) or "/site-packages/pandas/" in name:
        return True
    return name.endswith(("/random.py", "/secrets.py"))


def _short(name: str) -> str:
    """Return a file's path below its packages folder or below the current folder."""
    for marker in ("/site-packages/", "/dist-packages/"):
        if marker in name:
            return name.rpartition(marker)[2]
    here = str(Path.cwd()) + "/"
    return name.removeprefix(here)


def place_of(function: object) -> str:
    """Return file and line where a function is defined."""
    code = getattr(function, "__code__", None)
    if code is None:
        return "unknown"
    return f"{_short(code.co_filename)}:{code.co_firstlineno}"
