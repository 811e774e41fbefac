"""Tracked noise: numbers and arrays that behave as noise, and know what is added to them.

A value is factor · draw + input. Sums and products with plain numbers stay tracked, since the input
of a release is then known exactly. Everything else sees plain numbers: those that the tape holds,
which in a replay are the numbers of the recorded run.

| operation | result |
|---|---|
| noise ± number, noise · number, noise / number, −noise | tracked |
| two independent normal draws, added or subtracted | tracked: one normal draw of the joint scale |
| compare, print, convert, any other function | plain; the element counts as released |
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from numbers import Number
from typing import Any

import numpy as np

from .tape import Node, Step, Values, code_place, current

_OPERATIONS = {
    np.add: "add",
    np.subtract: "subtract",
    np.multiply: "multiply",
    np.true_divide: "divide",
}


def wrap(node: Node, shape: tuple[int, ...]) -> Any:  # noqa: ANN401 - a number or an array
    """Return the elements of a node as a tracked number, or as a tracked array of this shape."""
    return _take(node, np.arange(node.ids.size).reshape(shape))


def _take(node: Node, where: Values) -> Any:  # noqa: ANN401 - a number or an array
    """Return elements of a node, by their positions."""
    if where.shape != ():
        return TrackedArray.of(node, where)
    value = node.value[int(where)]
    if isinstance(value, int):
        return TrackedInt.of(node, where)
    if isinstance(value, Fraction):
        # Exact arithmetic leaves the numbers that can be tracked; its value is the frozen one.
        return value
    return TrackedFloat.of(node, where)


def is_tracked(value: object) -> bool:
    """Return whether a value is noise of a node."""
    return isinstance(value, TrackedFloat | TrackedInt | TrackedArray) and value.node is not None


def look(value: Any, *, shown: bool = False) -> None:  # noqa: ANN401 - a tracked value
    """Mark a tracked value as looked at by the program, which counts as its release.

    `shown` says that the answer may still contain it: so after rounding, not after a comparison.
    """
    if value.node is not None:
        value.node.seen[value.where] = True
        value.node.shown[value.where] |= shown


def _combine(operation: str, left: Any, right: Any) -> Any:  # noqa: ANN401 - numbers or arrays
    """Apply an operation of which one side at least is tracked."""
    if current() is None:
        return NotImplemented
    # Two noises are not an input and its noise.
    if is_tracked(left) and is_tracked(right):
        return _join(operation, left, right)
    noise, other = (left, right) if is_tracked(left) else (right, left)
    if not isinstance(other, Number | np.ndarray | np.generic | list | tuple):
        return NotImplemented
    plain = _plain_operand(other, noise)
    if operation == "multiply":
        return _scaled(noise, plain)
    if operation == "add":
        return _scaled(noise, 1, plain)
    if operation == "divide" and noise is left:
        return _scaled(noise, _inverse(plain))
    if operation == "subtract":
        sign = -1
        if noise is left:
            sign = 1
        return _scaled(noise, sign, -sign * plain)
    # A number divided by noise is no sum any more: Python goes on with plain values.
    return NotImplemented


def _plain_operand(value: object, noise: Any) -> Any:  # noqa: ANN401
    """Return a number as it is, and anything else as an array that keeps exact integers exact."""
    if isinstance(value, np.ndarray | list | tuple):
        exact = noise.node.value.dtype == object
        if exact:
            return np.asarray(value, dtype=object)
        return np.asarray(value, dtype=float)
    if isinstance(value, np.generic):
        return value.item()
    return value


def _inverse(value: Any) -> Any:  # noqa: ANN401 - a number or an array
    """Return 1/value; a zero divisor gives an infinite factor, as NumPy does."""
    with np.errstate(divide="ignore"):
        return np.float64(1) / value


def _scaled(noise: Any, times: Any, plus: Any = None) -> Any:  # noqa: ANN401 - numbers or arrays
    """Return times · noise + plus as a node of its own; bare noise that is multiplied stays bare."""
    node: Node = noise.node
    where = noise.where
    shift = 0 if plus is None else plus
    shape = np.broadcast_shapes(where.shape, np.shape(times), np.shape(shift))
    at = np.broadcast_to(where, shape).ravel()
    multiplied = np.broadcast_to(times, shape).ravel()
    # A copy: the program may write the noisy sum into the same array.
    added = np.broadcast_to(shift, shape).flatten()
    joined: Values | None = added
    if plus is None:
        joined = None
    with np.errstate(invalid="ignore", over="ignore"):
        factor = node.factor[at] * multiplied
        value = node.value[at] * multiplied + added
        if node.input is not None:
            joined = node.input[at] * multiplied + added
    return _new(node.law, node.scale[at], node.ids[at], factor, value, joined, shape, (noise,))


def _new(  # noqa: PLR0917 - the parts of a node
    law: str,
    scale: Values,
    ids: Values,
    factor: Values,
    value: Values,
    joined: Values | None,
    shape: tuple[int, ...],
    parents: tuple[Any, ...],
) -> Any:  # noqa: ANN401 - a number or an array
    """Add a node to the tape, mark its parents as used, and return its elements."""
    tape = current()
    assert tape is not None  # noqa: S101 - checked by `_combine`
    node = Node(law, scale, ids, factor, value, code_place(), joined)
    tape.add(node)
    # The parents are released only if the program also looks at them.
    for parent in parents:
        parent.node.consumed[parent.where] = True
    return wrap(node, shape)


def _join(operation: str, left: Any, right: Any) -> Any:  # noqa: ANN401 - numbers or arrays
    """Add independent normal noise; anything else of two noises is a plain value."""
    first, second = left.node, right.node
    normal = first.law == "normal" and second.law == "normal"
    # Sums of dependent noise have another law than the sum of variances says.
    shared = np.intersect1d(first.ids[left.where], second.ids[right.where]).size
    if operation not in ("add", "subtract") or not normal or shared or left.shape != right.shape:
        return _part(operation, left, right)
    tape = current()
    assert tape is not None  # noqa: S101 - checked by `_combine`
    at, beside = left.where.ravel(), right.where.ravel()
    sign = -1
    if operation == "add":
        sign = 1
    # Standard deviations of independent sums add up in squares.
    scale = np.hypot(
        first.factor[at].astype(float) * first.scale[at],
        second.factor[beside].astype(float) * second.scale[beside],
    )
    value = first.value[at] + sign * second.value[beside]
    inputs = None
    if first.input is not None or second.input is not None:
        inputs = np.zeros(at.shape) if first.input is None else first.input[at]
        if second.input is not None:
            inputs = inputs + sign * second.input[beside]
    ids = tape.new_ids(at.size)
    ones = np.ones(at.shape)
    return _new("normal", scale, ids, ones, value, inputs, left.where.shape, (left, right))


def _part(operation: str, left: Any, right: Any) -> Any:  # noqa: ANN401 - numbers or arrays
    """Return the plain result of an operation on two releases."""
    function = getattr(np, operation)
    return function(plain(left), plain(right))


def plain(value: Any, *, shown: bool = False) -> Any:  # noqa: ANN401 - any value
    """Return a tracked value as a plain one, and note that the program looks at it."""
    if not isinstance(value, TrackedFloat | TrackedInt | TrackedArray):
        return value
    look(value, shown=shown)
    return value.bare()


class Operators:
    """Arithmetic of tracked values; everything that shows them is noted."""

    node: Node | None
    where: Values

    def __add__(self, other: object) -> Any:  # noqa: ANN401
        return _combine("add", self, other)

    def __radd__(self, other: object) -> Any:  # noqa: ANN401
        return _combine("add", other, self)

    def __sub__(self, other: object) -> Any:  # noqa: ANN401
        return _combine("subtract", self, other)

    def __rsub__(self, other: object) -> Any:  # noqa: ANN401
        return _combine("subtract", other, self)

    def __mul__(self, other: object) -> Any:  # noqa: ANN401
        return _combine("multiply", self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: object) -> Any:  # noqa: ANN401
        return _combine("divide", self, other)

    def __neg__(self) -> Any:  # noqa: ANN401
        return _combine("multiply", self, -1)

    def __pos__(self) -> Any:  # noqa: ANN401
        return self


def _shows(name: str, base: type) -> Callable[..., Any]:
    """Return a method of numbers that notes that its value is looked at."""
    method = getattr(base, name)

    def shown(self: Any, *arguments: Any) -> Any:  # noqa: ANN401
        look(self, shown=name in _ROUNDED)
        return method(self.bare(), *(plain(value) for value in arguments))

    return shown


# Methods and functions after which the value is still told, but for its low digits or its sign.
_ROUNDED = ("__int__", "__round__", "__trunc__", "__floor__", "__ceil__", "__format__", "__str__")
_ROUNDING = (np.rint, np.floor, np.ceil, np.trunc, np.maximum, np.minimum, np.clip)

_COMPARED = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__", "__bool__")
_CONVERTED = ("__abs__", "__float__", "__int__", "__trunc__", "__floor__", "__ceil__", "__round__")
_PRINTED = (
    "__repr__",
    "__str__",
    "__format__",
    "__pow__",
    "__rpow__",
    "__mod__",
    "__floordiv__",
    "__rtruediv__",
)


def _number(base: type) -> Callable[[type], type]:
    """Return a class decorator that adds comparisons, conversions and printing of plain numbers.

    Each of these methods marks the tracked number as looked at.
    """

    def completed(body: type) -> type:
        for name in _COMPARED + _CONVERTED + _PRINTED:
            if hasattr(base, name):
                setattr(body, name, _shows(name, base))
        return body

    return completed


@_number(np.float64)
class TrackedFloat(Operators, np.float64):  # type: ignore[misc]
    """One number of noise, a float to everybody else."""

    @classmethod
    def of(cls, node: Node, where: Values) -> TrackedFloat:
        """Return the element of a node at a position."""
        made = cls(float(node.value[int(where)]))
        made.node = node
        made.where = where
        return made

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401
        return ufunc_result(ufunc, method, inputs, options)

    def bare(self) -> np.float64:
        """Return the value as an ordinary number."""
        return np.float64(np.float64.__add__(self, np.float64(0)))


@_number(int)
class TrackedInt(Operators, int):
    """One whole number of noise, an int to everybody else."""

    # NumPy's numbers leave the operation to this class.
    __array_ufunc__ = None

    @property
    def shape(self) -> tuple[int, ...]:
        """No dimensions, as NumPy's numbers have."""
        return ()

    def bare(self) -> int:
        """Return the value as an ordinary number."""
        return int.__add__(self, 0)

    @classmethod
    def of(cls, node: Node, where: Values) -> TrackedInt:
        """Return the element of a node at a position."""
        made = cls(node.value[int(where)])
        made.node = node
        made.where = where
        return made


class TrackedArray(Operators, np.ndarray):
    """Array of noise; an ordinary array to everybody else."""

    @classmethod
    def of(cls, node: Node, where: Values) -> TrackedArray:
        """Return elements of a node, by positions, in the shape of the positions."""
        made = node.value[where].view(cls)
        made.node = node
        made.where = where
        return made

    def __array_finalize__(self, source: object) -> None:
        # Views that NumPy makes itself are not tracked: their bare noise is found unused.
        self.node = None
        self.where = np.zeros(0, dtype=int)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:  # noqa: ANN401
        return ufunc_result(ufunc, method, inputs, options)

    def bare(self) -> Values:
        """Return the values as an ordinary array."""
        return np.array(self.view(np.ndarray))

    def _moved(self, name: str, *arguments: Any, **options: Any) -> Any:  # noqa: ANN401
        """Move values and positions alike."""
        if self.node is None:
            return getattr(self.view(np.ndarray), name)(*arguments, **options)
        return _take(self.node, getattr(self.where, name)(*arguments, **options))

    def __getitem__(self, key: Any) -> Any:  # noqa: ANN401
        # A view that NumPy made itself has no node.
        if self.node is None:
            return self.view(np.ndarray)[key]
        return _take(self.node, np.asarray(self.where[key]))

    def reshape(self, *shape: Any, **options: Any) -> Any:  # noqa: ANN401
        """Return the same noise in another shape."""
        return self._moved("reshape", *shape, **options)

    def ravel(self, *order: Any) -> Any:  # noqa: ANN401
        """Return the same noise as a vector."""
        return self._moved("ravel", *order)

    def flatten(self, *order: Any) -> Any:  # noqa: ANN401
        """Return the same noise as a vector."""
        return self._moved("ravel", *order)

    def squeeze(self, *axis: Any) -> Any:  # noqa: ANN401
        """Return the same noise without axes of length 1."""
        return self._moved("squeeze", *axis)

    def transpose(self, *axes: Any) -> Any:  # noqa: ANN401
        """Return the same noise with its axes in another order."""
        return self._moved("transpose", *axes)

    def copy(self, *order: Any) -> Any:  # noqa: ANN401
        """Return the same noise."""
        return self._moved("copy", *order)

    def item(self, *index: Any) -> Any:  # noqa: ANN401
        """Return one number of noise."""
        return self._moved("reshape", -1)[index[0] if index else 0]

    def tolist(self) -> Any:  # noqa: ANN401
        """Return numbers of noise in lists."""
        return [part.tolist() if isinstance(part, np.ndarray) else part for part in self]

    @property
    def T(self) -> Any:  # noqa: ANN401, N802 - NumPy's name
        """The same noise with its axes reversed."""
        return self.transpose()


def ufunc_result(ufunc: Any, method: str, inputs: tuple[Any, ...], options: dict[str, Any]) -> Any:  # noqa: ANN401
    """Apply a NumPy function: sums and products stay tracked, everything else is plain."""
    out = options.pop("out", None)
    result: Any = NotImplemented
    if method == "__call__" and not options and any(is_tracked(value) for value in inputs):
        if ufunc is np.negative:
            result = _combine("multiply", inputs[0], -1)
        elif ufunc in _OPERATIONS:
            result = _combine(_OPERATIONS[ufunc], *inputs)
    if result is NotImplemented:
        shown = ufunc in _ROUNDING
        result = getattr(ufunc, method)(*(plain(value, shown=shown) for value in inputs), **options)
    if out is None or isinstance(out[0], TrackedArray):
        return result
    # The program's own array takes the values; they are frozen already.
    out[0][...] = plain(result)
    return out[0]


def unused_noise(before: list[Step], after: list[Step]) -> list[str]:
    """Return the places of noise that was looked at, or left, before anything was added to it."""
    places = []
    for first, second in zip(before, after, strict=False):
        if not isinstance(first, Node) or not isinstance(second, Node):
            continue
        if first.bare and second.bare and (first.seen.any() or not first.consumed.any()):
            places.append(first.place)
    return places
