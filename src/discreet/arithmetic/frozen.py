"""Frozen values: how they are declared without a slow import, and how they fill their own fields, once.

The standard decorator writes and compiles six methods for every class while its module is imported: half a millisecond
a class, nearly half of the time that importing a curator took. `dataclass` here takes the same arguments and makes the
same class: fields, text, equality, hash, copies, errors. But equality, hash and text are plain functions, and the
constructor is compiled, by the standard decorator, when the first value is made or somebody looks at it. What is rare
(values that change, order, fields that are inherited) is left to the standard decorator. Type checkers read the
standard one.
"""

# ruff: noqa: ANN001, ANN003, ANN201, ANN401 - whatever class is declared

from __future__ import annotations

import dataclasses
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass

__all__ = ["dataclass", "fill"]


def fill(made: object, /, **fields: object) -> None:
    """Set fields of a frozen value under construction.

    >>> from discreet.arithmetic.frozen import dataclass, fill
    >>> @dataclass(frozen=True, init=False)
    ... class Even:
    ...     half: int
    ...     def __init__(self, number):
    ...         fill(self, half=number // 2)
    >>> Even(6)
    Even(half=3)
    """
    for name, value in fields.items():
        object.__setattr__(made, name, value)


if not TYPE_CHECKING:

    def dataclass(cls=None, /, **asked):
        """Return a class as `dataclasses.dataclass` would, its methods made when they are needed.

        >>> from discreet.arithmetic.frozen import dataclass
        >>> @dataclass(frozen=True, slots=True)
        ... class Point:
        ...     x: int
        ...     y: int = 0
        >>> Point(1), Point(1) == Point(1, 0), {Point(1): 2}[Point(1)]
        (Point(x=1, y=0), True, 2)
        """
        return (lambda declared: _declare(declared, asked)) if cls is None else _declare(cls, asked)


_KNOWN = {"frozen", "slots", "init", "repr", "eq"}


def _declare(cls: type, asked: dict[str, bool]) -> type:
    inherited = any(dataclasses.is_dataclass(base) for base in cls.__mro__[1:])
    if inherited or not asked.get("frozen") or not asked.keys() <= _KNOWN:
        return dataclasses.dataclass(**asked)(cls)
    written = set(vars(cls))
    made: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=asked.get("slots", False))(cls)
    made.__dataclass_params__.frozen = True  # those who inherit are held to it
    fields = dataclasses.fields(made)
    if asked.get("init", True) and "__init__" not in written:
        made.__init__ = _Constructor(made)
    if asked.get("repr", True) and "__repr__" not in written:
        made.__repr__ = _text(tuple(field.name for field in fields if field.repr))
    if asked.get("eq", True):
        _compare(made, fields, written)
    _freeze(made, frozenset(field.name for field in fields))
    if asked.get("slots") and "__getstate__" not in written:
        made.__getstate__, made.__setstate__ = _state, _restore
    return made  # type: ignore[no-any-return]


class _Constructor:
    """A constructor that is compiled when it is first looked at, and then stands in its own place."""

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def __get__(self, made: object | None, owner: type) -> Any:
        written = _constructor(self.cls)
        self.cls.__init__ = written  # type: ignore[misc]
        return written if made is None else written.__get__(made, owner)


def _constructor(cls: Any) -> Any:
    """Return the constructor that the standard decorator gives a class with the same fields."""
    fields = dataclasses.fields(cls)
    body = {field.name: field for field in fields} | {
        "__annotations__": {field.name: field.type for field in fields},
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
    }
    if hasattr(cls, "__post_init__"):
        body["__post_init__"] = cls.__post_init__
    twin: Any = dataclasses.dataclass(frozen=True, repr=False, eq=False, match_args=False)(type(cls.__name__, (), body))
    return twin.__init__


def _compare(cls: Any, fields: tuple[dataclasses.Field[Any], ...], written: set[str]) -> None:
    key = _key([field.name for field in fields if field.compare])

    def equal(self: object, other: object) -> Any:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    own_hash = vars(cls).get("__hash__") is not None
    if "__eq__" not in written:
        cls.__eq__ = equal
    if not own_hash:
        hashed = _key([f.name for f in fields if (f.compare if f.hash is None else f.hash)])
        cls.__hash__ = lambda self: hash(hashed(self))


def _key(names: list[str]) -> Callable[[Any], tuple[object, ...]]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda made: tuple(getattr(made, name) for name in names)


def _text(names: tuple[str, ...]) -> Callable[[Any], str]:
    @recursive_repr()
    def text(self: Any) -> str:
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    return text


def _freeze(cls: Any, names: frozenset[str]) -> None:
    def assign(self: object, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete(self: object, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    cls.__setattr__, cls.__delattr__ = assign, delete


def _state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _restore(self: Any, state: list[object]) -> None:
    fill(self, **{field.name: value for field, value in zip(dataclasses.fields(self), state, strict=True)})
