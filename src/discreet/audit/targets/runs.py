"""Runs of a mechanism on two inputs; any result, an exception too, is an output."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import numpy as np

from ...arithmetic.arrays import AnyArray
from ...arithmetic.rational import one_of
from ...errors import InvalidArgument
from ...frozen import frozen

Vector: TypeAlias = Literal["auto", "size", "array", "no"]
Progress: TypeAlias = Callable[[int], None]
Run: TypeAlias = Callable[..., object]
"""Callable under audit: it gets an input, or many at once."""
Raw: TypeAlias = AnyArray | list[object]

# Runs asked for at once: a bound on memory.
_CHUNK = 1 << 17
# Single runs between two reports of progress.
_REPORTED = 256


class NotARun(InvalidArgument):
    """Raised by a runnable that cannot be run as asked; it ends the audit.

    Other exceptions are outputs.
    """


@frozen
class RaisedOutput:
    """Exception as an output: its type and text are seen by the analyst, so they may leak."""

    kind: str
    words: str


def read_vector(run: Run, vector: Vector) -> Vector:
    """Return how to ask for many runs at once: "auto" looks for an argument called `size`.

    >>> from discreet.audit.targets.runs import read_vector
    >>> read_vector(lambda x, size: x, "auto"), read_vector(lambda x: x, "auto")
    ('size', 'no')
    """
    one_of(vector, "vector", "auto", "size", "array", "no")
    if vector != "auto":
        return vector
    try:
        parameters = inspect.signature(run).parameters
    except (TypeError, ValueError):
        # Some built-in functions have no signature.
        return "no"
    return "size" if "size" in parameters else "no"


def collect(
    run: Run,
    inputs: tuple[object, object],
    samples: int,
    *,
    vector: Vector = "auto",
    progress: Progress | None = None,
) -> tuple[Raw, Raw]:
    """Run `samples` times on each input; return the outputs for the first and for the second.

    Single runs come in a random order, which no drift of the mechanism can follow. Where many can
    be asked for at once, the inputs alternate in chunks of 131,072 runs.

    >>> from discreet.audit.targets.runs import collect
    >>> collect(lambda x: x + 1, (0, 1), 3)
    ([1, 1, 1], [2, 2, 2])

    Law: `tests/audit/test_runs.py::test_one_by_one_in_no_order_of_its_own`
    """
    report = progress if progress is not None else _ignore
    mode = read_vector(run, vector)
    if mode == "no":
        return _one_by_one(run, inputs, samples, report)
    left: list[Raw] = []
    right: list[Raw] = []
    for start in range(0, samples, _CHUNK):
        count = min(_CHUNK, samples - start)
        # The inputs alternate from chunk to chunk.
        for side, value in ((left, inputs[0]), (right, inputs[1])):
            side.append(_many(run, value, count, mode))
            report(count)
    return _joined(left), _joined(right)


def _ignore(_: int) -> None:
    """Report no progress."""


def _one_by_one(
    run: Run, inputs: tuple[object, object], samples: int, report: Progress
) -> tuple[Raw, Raw]:
    """Run both inputs in a random order, one run at a time."""
    sides: tuple[list[object], list[object]] = ([], [])
    order = np.random.default_rng().permutation(np.repeat([0, 1], samples))
    for done, which in enumerate(order):
        sides[which].append(_once(run, inputs[which]))
        if done % _REPORTED == _REPORTED - 1:
            report(_REPORTED)
    report(2 * samples % _REPORTED)
    return sides


def _once(run: Run, value: object) -> object:
    """Run once; an exception becomes an output, but for NotARun."""
    try:
        return run(value)
    except NotARun:
        raise
    except Exception as error:  # noqa: BLE001 - an exception is an output too: it may leak
        return RaisedOutput(type(error).__name__, str(error))


def _many(run: Run, value: object, count: int, mode: Vector) -> Raw:
    """Ask for many runs at once; refuse an exception, which belongs to no single run."""
    try:
        drawn = run(value, size=count) if mode == "size" else run(np.full(count, value))
    except NotARun:
        raise
    except Exception as error:
        cause = f"asking for {count} runs at once raised {type(error).__name__}: {error}"[:300]
        raise InvalidArgument(
            f"{cause}; ask for one run at a time (vector='no'), and exceptions are outputs"
        ) from error
    is_list = isinstance(drawn, Sequence | np.ndarray) and not isinstance(drawn, str)
    if not is_list or len(drawn) != count:  # type: ignore[arg-type]
        raise InvalidArgument(
            f"asked for {count} runs at once, something else came back; use vector='no'"
        )
    return drawn if isinstance(drawn, np.ndarray) else list(drawn)  # type: ignore[call-overload]


def _joined(parts: list[Raw]) -> Raw:
    """Join chunks: as one array if all are arrays of one type and shape, else as a list."""
    arrays = [part for part in parts if isinstance(part, np.ndarray)]
    forms = {(array.dtype, array.shape[1:]) for array in arrays}
    if len(arrays) == len(parts) and len(forms) == 1:
        return np.concatenate(arrays)
    joined: list[object] = []
    for part in parts:
        joined.extend(part)
    return joined
