"""Run a mechanism many times on two inputs; whatever comes back, an exception too, is an output."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument
from ...frozen import frozen

Vector: TypeAlias = Literal["auto", "size", "array", "no"]
Progress: TypeAlias = Callable[[int], None]
Raw: TypeAlias = NDArray[Any] | list[object]

_CHUNK = 1 << 17


class NotARun(InvalidArgument):
    """Raised by a runnable that cannot be run as asked; it ends the audit, where other exceptions are outputs."""


@frozen
class Raised:
    """An exception as an output: its type and its words are seen by the analyst, so they may leak."""

    kind: str
    words: str


def read_vector(run: Callable[..., object], vector: Vector) -> Vector:
    """Find out how to ask for many runs at once: "auto" looks for an argument called `size`.

    >>> from discreet.audit.targets.runs import read_vector
    >>> read_vector(lambda x, size: x, "auto"), read_vector(lambda x: x, "auto")
    ('size', 'no')
    """
    if vector not in ("auto", "size", "array", "no"):
        raise InvalidArgument(f"vector must be 'auto', 'size', 'array' or 'no', got {vector!r}")
    if vector != "auto":
        return vector
    try:
        return "size" if "size" in inspect.signature(run).parameters else "no"
    except (TypeError, ValueError):  # some built-in functions have no signature
        return "no"


def collect(
    run: Callable[..., object],
    inputs: tuple[object, object],
    samples: int,
    *,
    vector: Vector = "auto",
    progress: Progress | None = None,
) -> tuple[Raw, Raw]:
    """Run `samples` times on each input, in an order that no drift of the mechanism can follow.

    >>> from discreet.audit.targets.runs import collect
    >>> collect(lambda x: x + 1, (0, 1), 3)
    ([1, 1, 1], [2, 2, 2])
    """
    told = progress if progress is not None else lambda _: None
    mode = read_vector(run, vector)
    if mode == "no":
        return _one_by_one(run, inputs, samples, told)
    left: list[Raw] = []
    right: list[Raw] = []
    for start in range(0, samples, _CHUNK):
        many = min(_CHUNK, samples - start)
        for side, value in ((left, inputs[0]), (right, inputs[1])):
            side.append(_many(run, value, many, mode))
            told(many)
    return _joined(left), _joined(right)


def _one_by_one(
    run: Callable[..., object], inputs: tuple[object, object], samples: int, told: Progress
) -> tuple[Raw, Raw]:
    sides: tuple[list[object], list[object]] = ([], [])
    order = np.random.default_rng().permutation(np.repeat([0, 1], samples))
    for done, which in enumerate(order):
        sides[which].append(_once(run, inputs[which]))
        if done % 256 == 255:
            told(256)
    told(2 * samples % 256)
    return sides


def _once(run: Callable[..., object], value: object) -> object:
    try:
        return run(value)
    except NotARun:
        raise
    except Exception as error:  # noqa: BLE001 - an exception is an output too: it may leak
        return Raised(type(error).__name__, str(error))


def _many(run: Callable[..., object], value: object, many: int, mode: Vector) -> Raw:
    try:
        drawn = run(value, size=many) if mode == "size" else run(np.full(many, value))
    except NotARun:
        raise
    except Exception as error:
        words = f"asking for {many} runs at once raised {type(error).__name__}: {error}"[:300]
        raise InvalidArgument(
            f"{words}; ask for one run at a time (vector='no'), and exceptions are outputs"
        ) from error
    if not isinstance(drawn, Sequence | np.ndarray) or isinstance(drawn, str) or len(drawn) != many:
        raise InvalidArgument(
            f"asked for {many} runs at once, something else came back; use vector='no'"
        )
    return drawn if isinstance(drawn, np.ndarray) else list(drawn)


def _joined(parts: list[Raw]) -> Raw:
    arrays = [p for p in parts if isinstance(p, np.ndarray)]
    if len(arrays) == len(parts) and len({(a.dtype, a.shape[1:]) for a in arrays}) == 1:
        return np.concatenate(arrays)
    return [output for part in parts for output in part]
