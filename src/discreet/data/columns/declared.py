"""Base of column types: rule for NULL, bounds, whole steps from low to high, limit of listed keys.

Each column declares one rule for NULL, which all engines follow.

A stored value is first read as its column's type (`cell`). NULL, NaN and every value that cannot be
read are NULL. Then

    drop      NULL is absent: COUNT(column) skips it, SUM adds nothing,
              a row with a NULL key is in no group
    default   NULL counts as one public value of the column, everywhere
    key       as drop, but rows with a NULL key are one group of their own, which always appears
"""

from __future__ import annotations

from abc import abstractmethod
from datetime import date
from fractions import Fraction
from typing import Generic, Literal, TypeAlias, TypeVar

from ...arithmetic.rational import plain, read_flag
from ...errors import InvalidArgument

Nulls: TypeAlias = Literal["drop", "default", "key"]
Bound: TypeAlias = int | Fraction | date
Ends: TypeAlias = tuple[int, int]
"""The lowest and the highest value, in whole steps."""
MAX_KEYS = 1000
"""A range is listed up to this many keys unless more are asked for."""
Outside: TypeAlias = Literal["clip", "null"]
T_co = TypeVar("T_co", covariant=True)


class DeclaredColumn:
    """Base of every column type: its rule for NULL, its declared options, and its `repr`.

    `repr` writes the constructor call that makes an equal column.
    """

    __slots__: tuple[str, ...] = ()
    default: object
    null_key: bool

    def __repr__(self) -> str:
        options = self.options()
        # Bounds are written without their names, and an option at its default not at all.
        bounds = [options.pop(name) for name in ("low", "high") if name in options]
        return call(type(self).__name__, *bounds, **options)

    def options(self) -> dict[str, object]:
        """Return the fields as they are declared; a field at its default is None."""
        options = {}
        for name in self.__slots__:
            options[name] = declared_option(name, getattr(self, name))
        return options

    @property
    def nulls(self) -> Nulls:
        """The rule for NULL: drop, default or key."""
        return nulls(self.default, self.null_key)


def declared_option(name: str, value: object) -> object:
    """Return the value of a field as it is declared; None if that is the field's default.

    >>> from discreet.data.columns.declared import declared_option
    >>> declared_option("strip", False), declared_option("aliases", (("E.R.", "emergency"),))
    (None, {'E.R.': 'emergency'})
    """
    if name in ("null_key", "strip", "fold"):
        return value or None
    if name == "outside":
        return None if value == "clip" else value
    if name in ("aliases", "units", "labels") and isinstance(value, tuple):
        return dict(value)
    if name in ("null", "format") and isinstance(value, tuple):
        return list(value)
    return value


# Without the metaclass ABCMeta: it slows every `isinstance`, which is asked for each cell.
class SteppedColumn(Generic[T_co]):
    """Base of the ordered column types, whose values are whole steps from the low end to the high.

    Law: tests/data/test_columns.py::TestOrdered
    """

    __slots__ = ()
    null_key: bool

    @property
    @abstractmethod
    def ends(self) -> Ends:
        """The lowest and the highest value, in whole steps; of times since 1970."""

    @abstractmethod
    def steps(self, value: object) -> int | None:
        """Read a stored value as whole steps, of times since 1970; None is NULL."""

    @abstractmethod
    def at(self, steps: int) -> T_co:
        """Turn whole steps back into a value."""

    def width(self) -> int:
        """Count the steps from low to high: how far one value can move."""
        bottom, top = self.ends
        return top - bottom

    def read(self, value: object) -> T_co | None:
        """Return the value that a stored value counts as, exactly; None is NULL."""
        steps = self.steps(value)
        if steps is None:
            return None
        return self.at(steps)

    def keys(self, most: int | None = None) -> tuple[T_co | None, ...]:
        """List every value as a public key, if there are at most `most` (1,000 by default).

        >>> import discreet as dp
        >>> dp.Integer(1, 3, null_key=True).keys()
        (1, 2, 3, None)
        """
        few(self.width() + 1, MAX_KEYS if most is None else most, repr(self))
        bottom, top = self.ends
        keys = tuple(map(self.at, range(bottom, top + 1)))
        if self.null_key:
            return (*keys, None)
        return keys


def few(count: int, most: int | None, what: str) -> None:
    """Refuse a list of keys that is longer than asked for.

    >>> from discreet.data.columns.declared import few
    >>> few(121, 100, "Integer(0, 120)")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: Integer(0, 120) has 121 keys, more than 100; group by coarser bins, or ask for more
    """
    if most is not None and count > most:
        raise InvalidArgument(
            f"{what} has {count} keys, more than {most}; group by coarser bins, or ask for more"
        )


def nulls(default: object, null_key: bool) -> Nulls:
    """Return the rule that a default and a NULL key declare together.

    >>> from discreet.data.columns.declared import nulls
    >>> nulls(None, False), nulls(0, False), nulls(None, True)
    ('drop', 'default', 'key')

    Refuses: both at once, with InvalidArgument.
    """
    if default is not None and null_key:
        raise InvalidArgument(
            "default and null_key=True exclude each other: with a default no NULL is left; drop one"
        )
    if default is not None:
        return "default"
    if null_key:
        return "key"
    return "drop"


def check_nulls(default: object, null_key: object) -> bool:
    """Return a checked `null_key`; refuse one beside a default."""
    flag = read_flag(null_key, "null_key")
    nulls(default, flag)
    return flag


def check_order(low: Bound, high: Bound, kind: str, remedy: str) -> None:
    """Refuse a low bound that is not below the high one; `remedy` says what would work."""
    if low >= high:  # type: ignore[operator]
        raise InvalidArgument(
            f"{kind} needs low < high, got {_shown(low)} and {_shown(high)}; {remedy}"
        )


def check_default(default: Bound | None, low: Bound, high: Bound) -> None:
    """Refuse a default that lies outside the bounds."""
    if default is not None and not low <= default <= high:  # type: ignore[operator]
        raise InvalidArgument(
            f"default must lie from {_shown(low)} to {_shown(high)}, got {_shown(default)}"
        )


def check_outside(outside: object) -> Outside:
    """Check what becomes of values beyond the bounds: they are clipped, or NULL.

    >>> from discreet.data.columns.declared import check_outside
    >>> check_outside("drop")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: outside must be 'clip' or 'null', got 'drop'
    """
    if outside == "clip":
        return "clip"
    if outside == "null":
        return "null"
    raise InvalidArgument(f"outside must be 'clip' or 'null', got {outside!r}")


def _shown(bound: Bound) -> object:
    if isinstance(bound, date):
        return bound.isoformat()
    return plain(bound)


def call(name: str, *arguments: object, **options: object) -> str:
    """Write the call that makes a value again; options that are None are left out.

    >>> from discreet.data.columns.declared import call
    >>> from fractions import Fraction
    >>> call("Real", Fraction(0), Fraction(1, 2), step=None, null_key=True)
    'Real(0, 0.5, null_key=True)'
    """
    written = [_literal(argument) for argument in arguments]
    for key, value in options.items():
        if value is not None:
            written.append(f"{key}={_literal(value)}")
    return f"{name}({', '.join(written)})"


def _literal(value: object) -> str:
    """Write a value as Python code: exact numbers shortly, days and times as ISO text."""
    if isinstance(value, dict):
        pairs = [f"{_literal(key)}: {_literal(inner)}" for key, inner in value.items()]
        return "{" + ", ".join(pairs) + "}"
    if isinstance(value, Fraction):
        return repr(plain(value))
    if isinstance(value, date):
        return repr(value.isoformat())
    return repr(value)
