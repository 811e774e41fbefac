"""Frozen values: `@frozen` does what `@dataclass(frozen=True, slots=True)` does, in less time.

Python compiles six methods for each frozen dataclass, which took a third of the time of importing
this package. `@frozen` compiles `__init__` alone; the other methods are closures that all classes
share. `field` and `replace` are those of `dataclasses`. `InitVar` is not supported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, fields
from dataclasses import field as field  # noqa: PLC0414 what goes with `frozen` is found beside it
from dataclasses import replace as replace  # noqa: PLC0414
from operator import attrgetter
from typing import Any, TypeVar, dataclass_transform, overload

Made = TypeVar("Made")
Pick = Callable[[object], tuple[object, ...]]


@overload
def frozen(body: type[Made], /) -> type[Made]: ...
@overload
def frozen(
    *, init: bool = True, repr: bool = True, eq: bool = True
) -> Callable[[type[Made]], type[Made]]: ...
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(
    body: type | None = None,
    /,
    *,
    init: bool = True,
    repr: bool = True,  # noqa: A002 the name that dataclasses use
    eq: bool = True,
) -> object:
    """Return the class as a frozen dataclass with slots.

    It gets `__init__`, `__repr__`, `__eq__` and `__hash__`. A method that the class defines itself
    stays. `init=False` and `repr=False` leave out that method, `eq=False` leaves out both `__eq__`
    and `__hash__`.

    >>> from discreet.frozen import frozen
    >>> @frozen
    ... class Point:
    ...     '''A point of the plane.'''
    ...     x: int
    ...     y: int = 0
    >>> Point(3), Point(3) == Point(3, 0), len({Point(3), Point(y=0, x=3)})
    (Point(x=3, y=0), True, 1)
    >>> Point(3).x = 4
    Traceback (most recent call last):
    ...
    dataclasses.FrozenInstanceError: cannot assign to field 'x'
    """
    return (
        (lambda body: _made(body, init, repr, eq)) if body is None else _made(body, init, repr, eq)
    )


def fill(made: object, /, **values: object) -> None:
    """Set fields of a frozen value under construction.

    >>> from discreet.frozen import fill, frozen
    >>> @frozen(init=False)
    ... class Even:
    ...     half: int
    ...     def __init__(self, number):
    ...         fill(self, half=number // 2)
    >>> Even(6)
    Even(half=3)
    """
    for name, value in values.items():
        object.__setattr__(made, name, value)


def _made(body: type, init: bool, shown: bool, compared: bool) -> type:
    """Return a class with slots and the methods that are asked for; `__init__` alone is compiled."""
    # Without these three `dataclass` compiles no method, which is what makes it slow.
    made: Any = dataclass(init=False, repr=False, eq=False, slots=True)(body)
    known = fields(made)
    methods: dict[str, Callable[..., object]] = {"__getstate__": _state, "__setstate__": _restore}
    if init:
        methods["__init__"] = _init(made, known)
    if shown:
        methods["__repr__"] = _repr([part.name for part in known if part.repr])
    if compared:
        methods["__eq__"] = _eq(_pick([part.name for part in known if part.compare]))
        methods["__hash__"] = _hash(_pick([part.name for part in known if _hashed(part)]))
    own = vars(body)
    for name, method in methods.items():
        if own.get(name) is None:  # a class that defines `__eq__` alone has None for `__hash__`
            setattr(made, name, method)
    made.__setattr__, made.__delattr__ = _refuse_to_set, _refuse_to_delete
    return made  # type: ignore[no-any-return]


def _init(made: type, known: tuple[Field[Any], ...]) -> Callable[..., None]:
    """Compile and return `__init__`; it sets fields by the descriptors of their slots.

    Those set a value also where `__setattr__` refuses to.
    """
    given = sorted((part for part in known if part.init), key=lambda part: part.kw_only is True)
    words, lines, kept = ["self"], [], {}
    for part in given:
        name = part.name
        if part.kw_only and "*" not in words:
            words.append("*")
        kept[f"set_{name}"] = getattr(made, name).__set__
        if part.default_factory is not MISSING:
            kept |= {f"new_{name}": part.default_factory, f"or_{name}": MISSING}
            lines.append(f"set_{name}(self, new_{name}() if {name} is or_{name} else {name})")
        else:
            kept |= {f"or_{name}": part.default} if part.default is not MISSING else {}
            lines.append(f"set_{name}(self, {name})")
        words.append(f"{name}=or_{name}" if f"or_{name}" in kept else name)
    lines += ["self.__post_init__()"] if hasattr(made, "__post_init__") else []
    inner = f" def __init__({', '.join(words)}):\n  {'; '.join(lines) or 'pass'}\n return __init__"
    found: dict[str, Any] = {}
    exec(f"def make({', '.join(kept)}):\n{inner}", vars(sys.modules[made.__module__]), found)  # noqa: S102 names of fields
    method: Callable[..., None] = found["make"](**kept)
    method.__annotations__ = {part.name: part.type for part in given} | {"return": None}
    return method


def _hashed(part: Field[Any]) -> bool:
    return part.compare if part.hash is None else part.hash


def _pick(names: list[str]) -> Pick:
    if not names:
        return lambda _made: ()
    get = attrgetter(*names)
    return get if len(names) > 1 else lambda made: (get(made),)


def _eq(pick: Pick) -> Callable[[object, object], bool]:
    return lambda made, other: (
        pick(made) == pick(other) if other.__class__ is made.__class__ else NotImplemented
    )


def _hash(pick: Pick) -> Callable[[object], int]:
    return lambda made: hash(pick(made))


def _repr(names: list[str]) -> Callable[[object], str]:
    return lambda made: (
        f"{made.__class__.__qualname__}({', '.join([f'{name}={getattr(made, name)!r}' for name in names])})"
    )


def _refuse_to_set(_made: object, name: str, _value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_made: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(made: Any) -> list[object]:  # noqa: ANN401
    return [getattr(made, part.name) for part in fields(made)]


def _restore(made: Any, state: list[object]) -> None:  # noqa: ANN401
    fill(made, **{part.name: value for part, value in zip(fields(made), state, strict=True)})
