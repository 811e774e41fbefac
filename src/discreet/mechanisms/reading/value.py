"""Readers of a mechanism's arguments: values, a budget to spend, and deprecated spellings.

A released value has the type of the value that was given.

| given | returned |
|---|---|
| int | int |
| float | float |
| NumPy array of integers | int64 array |
| NumPy array of floats | float64 array |

Refusals depend on the type of a value, or on a NaN or an infinity in it, which is not shown. They
happen before a bit is drawn.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeAlias, TypeVar, assert_never, cast

import numpy as np

from ...arithmetic.arrays import Floats, Integers
from ...arithmetic.rational import INT64_HIGH, INT64_LOW
from ...errors import InvalidArgument
from ...privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP

Whole = TypeVar("Whole", int, Integers)
"""Argument and answer of a mechanism on the integers."""
Number = TypeVar("Number", int, float, Integers, Floats)
"""Argument and answer of a mechanism on the lattice."""
Exact: TypeAlias = int | float | Integers | Floats
"""Value that was read: its numbers are exactly the given ones."""

# The samplers' noise stays below 2^62; with a value below it the sum fits in int64.
_MAX_NOISE = 1 << 62

_NOT_FINITE = "value must be finite; replace NaN and infinities by a declared number first"


def read_number(value: object) -> Exact:
    """Read the argument of a mechanism on the lattice: an int, a float or an array of either.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.value import read_number
    >>> read_number(np.int32(3)), read_number(0.5), read_number(np.array([1, 2], dtype=np.uint8)).dtype
    (3, 0.5, dtype('int64'))

    Refuses: booleans, text, lists and other objects; arrays that are masked, or of uint64,
    longdouble or complex numbers; NaN and infinities (InvalidArgument).

    >>> read_number([1, 2])
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: value must be an int, a float or a NumPy array of either, got list; try np.array
    """
    if isinstance(value, float | np.floating):
        return _finite(float(value))
    value = _plain_array(value)
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.dtype.itemsize <= 8:
        floats = value.astype(np.float64, copy=False)
        if not np.isfinite(floats).all():
            raise InvalidArgument(_NOT_FINITE)
        return floats
    return _integers(value, "an int, a float or a NumPy array of either")


def read_whole(value: object) -> int | Integers:
    """Read the argument of a mechanism on the integers: an int or an array of integers.

    >>> from discreet.mechanisms.reading.value import read_whole
    >>> read_whole(7)
    7
    >>> read_whole(7.0)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: value must be an int or a NumPy array of integers, got float; round it first
    """
    return _integers(value, "an int or a NumPy array of integers")


def _integers(value: object, wanted: str) -> int | Integers:
    """Read an int or an array of integers; refuse all else, saying what was `wanted`."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return int(value)
    value = _plain_array(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
        if value.dtype == np.uint64:
            raise InvalidArgument(
                "arrays of uint64 do not fit in int64; hand in value.astype(np.int64)"
            )
        return value.astype(np.int64, copy=False)
    if isinstance(value, np.ndarray):
        given = f"an array of {value.dtype}"
        hint = "hand in value.astype(np.int64)"
    else:
        given = type(value).__name__
        hint = "round it first" if given == "float" else "try np.array"
    raise InvalidArgument(f"value must be {wanted}, got {given}; {hint}")


def _plain_array(value: object) -> object:
    """Return an array of any subclass as a plain one; other values as they are."""
    # A mask would be lost in the plain array, and the masked values released.
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidArgument(
            "a masked array hides values that would be released; hand in value.filled(…)"
        )
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    return value


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise InvalidArgument(_NOT_FINITE)
    return value


def is_whole(value: Exact) -> bool:
    """Return whether a value from `read_number` is an int or an array of integers.

    Its release is whole then.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.value import is_whole
    >>> is_whole(3), is_whole(np.array([0.5]))
    (True, False)
    """
    if isinstance(value, np.ndarray):
        return value.dtype.kind == "i"
    return isinstance(value, int)


def count_coordinates(value: Exact, dimension: int | None) -> int:
    """Count the coordinates of a value, and check them against a declared dimension.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.value import count_coordinates
    >>> count_coordinates(3, None), count_coordinates(np.zeros((2, 3)), 6)
    (1, 6)
    >>> count_coordinates(np.zeros(3), 2)
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: 3 coordinates were handed in, the mechanism is made for 2; make it with dimension=3
    """
    count = value.size if isinstance(value, np.ndarray) else 1
    if dimension is not None and count > dimension:
        made = f"the mechanism is made for {dimension}; make it with dimension={count}"
        raise InvalidArgument(f"{count} coordinates were handed in, {made}")
    return count


def add_saturating(value: int | Integers, noise: int | Integers) -> int | Integers:
    """Add whole noise: Python ints have no limit, arrays stop at the ends of int64.

    Stopping is post-processing: the range of int64 is public. The array `noise` is overwritten.

    >>> import numpy as np
    >>> from discreet.mechanisms.reading.value import add_saturating
    >>> add_saturating(2**70, -1) == 2**70 - 1, add_saturating(np.array([2**63 - 1, 0]), np.array([5, 5])).tolist()
    (True, [9223372036854775807, 5])
    """
    if not isinstance(value, np.ndarray) or not isinstance(noise, np.ndarray):
        return value + noise
    if value.size and not (value.min() > -_MAX_NOISE and value.max() < _MAX_NOISE):
        # Only large values can overflow: cut the noise where the sum would leave int64.
        least = INT64_LOW - np.minimum(value, 0)
        most = INT64_HIGH - np.maximum(value, 0)
        noise = np.clip(noise, least, most)
    # In place: the noise is fresh and nobody else holds it.
    noise += value
    return noise


def read_budget(measure: object) -> Measure:
    """Check a budget; (ε, 0) is read as pure ε.

    >>> import discreet as dp
    >>> from discreet.mechanisms.reading.value import read_budget
    >>> read_budget(dp.ApproxDP(1, 0))
    PureDP(1)

    Refuses: anything but a measure, and a budget of zero, which no finite noise keeps
    (InvalidArgument).

    >>> read_budget(dp.PureDP(0))
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: PureDP(0) leaves nothing to spend, only infinite noise keeps it; give more than 0
    """
    if not isinstance(measure, Measure):
        given = type(measure).__name__
        raise InvalidArgument(
            f"a measure such as PureDP(1) or ApproxDP(1, 1e-6) is expected, got {given}"
        )
    if isinstance(measure, ApproxDP) and measure.delta == 0:
        measure = PureDP(measure.epsilon)
    if _is_zero(measure):
        raise InvalidArgument(
            f"{measure!r} leaves nothing to spend, only infinite noise keeps it; give more than 0"
        )
    return measure


def _is_zero(measure: Measure) -> bool:
    """Return whether no finite noise keeps this budget."""
    match measure:
        case PureDP(epsilon=amount) | ZCDP(rho=amount) | GaussianDP(squared=amount):
            return amount == 0
        case RenyiDP(orders=orders):
            # One order at zero already asks for infinite noise.
            return any(epsilon == 0 for _, epsilon in orders)
        case ApproxDP():
            # (0, δ) with δ > 0 is kept by finite noise.
            return False
        case _:
            assert_never(measure)


def refuse_pure(measure: object, noise: str, others: str) -> Measure:
    """Check a budget for noise whose privacy loss is unbounded, such as Gaussian noise.

    >>> import discreet as dp
    >>> from discreet.mechanisms.reading.value import refuse_pure
    >>> refuse_pure(dp.PureDP(1), "Gaussian", "ApproxDP, ZCDP, GaussianDP or Laplace")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: Gaussian noise has no pure ε; use ApproxDP, ZCDP, GaussianDP or Laplace
    """
    budget = read_budget(measure)
    if isinstance(budget, PureDP):
        raise InvalidArgument(f"{noise} noise has no pure ε; use {others}")
    return budget


Called = TypeVar("Called", bound=Callable[..., Any])


def deprecated_call(second: str | None = None, /, **renamed: str) -> Callable[[Called], Called]:
    """Return a decorator that accepts deprecated arguments of a method, with a warning.

    | deprecated | parameter | passed on as |
    |---|---|---|
    | a second positional argument | `second="beta"` | `beta=…` |
    | an old keyword | `l0="max_groups"` | `max_groups=…` |

    >>> import warnings
    >>> from discreet.mechanisms.reading.value import deprecated_call
    >>> @deprecated_call("b", l0="max_groups")
    ... def call(self, a, *, b=0, max_groups=1):
    ...     return a, b, max_groups
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     call(None, 1, 2, l0=3)
    (1, 2, 3)
    >>> [str(warning.message) for warning in seen]
    ['pass b=… by name: version 0.3 takes it so only', 'l0 is called max_groups; version 0.3 knows no l0']

    Refuses: an argument under both names (InvalidArgument).
    Law: tests/mechanisms/test_dialect.py::TestFormerly
    """

    def decorate(method: Called) -> Called:
        @wraps(method)
        def call(owner: object, *given: object, **keywords: object) -> object:
            positional = list(given)
            if second is not None and len(positional) == 2:
                # stacklevel 2 is the line of the caller, who has to change it.
                told = f"pass {second}=… by name: version 0.3 takes it so only"
                warnings.warn(told, DeprecationWarning, stacklevel=2)
                keywords = _with_keyword(keywords, second, positional.pop())
            for old, new in renamed.items():
                if old in keywords:
                    told = f"{old} is called {new}; version 0.3 knows no {old}"
                    warnings.warn(told, DeprecationWarning, stacklevel=2)
                    value = keywords.pop(old)
                    keywords = _with_keyword(keywords, new, value)
            return method(owner, *positional, **keywords)

        return cast("Called", call)

    return decorate


def _with_keyword(keywords: dict[str, object], name: str, value: object) -> dict[str, object]:
    if name in keywords:
        raise InvalidArgument(f"{name} is given twice; give it once, by that name")
    return {**keywords, name: value}
