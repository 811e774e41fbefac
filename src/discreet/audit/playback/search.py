"""Search for the generators and random functions that a program holds, so that they can be replaced.

| search | looks at |
|---|---|
| `modules` | names of all modules, attributes of the classes and objects that stand there |
| `reached` | what a function reaches: names it uses, closures, defaults, its object, containers |
| `process` | all objects of the process: slow in a large program, so only if the others missed one |
"""

from __future__ import annotations

import gc
import sys
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property, partial
from itertools import islice
from typing import Any, TypeGuard

import numpy as np

# A thing that was found, what holds it, and under which name; without a holder it cannot be replaced.
Part = tuple[Any, Any, Any]

_KINDS = (np.random.Generator, np.random.RandomState)
# Methods of a generator are one or the other, by the version of NumPy.
_METHODS = (types.BuiltinMethodType, types.MethodType)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.ndarray)
# Values of modules that are searched only from a function that reaches them, if at all.
_NO_OBJECTS = {*_PLAIN, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, dict, list}
# A function reaches its own objects first, and whole libraries after them.
_MOST_OBJECTS = 2_000
_MOST_ELEMENTS = 1_000
# Objects that hold others, and under which names.
_HOLDERS: dict[type, tuple[str, ...]] = {
    types.MethodType: ("__self__", "__func__"),
    partial: ("func", "args", "keywords"),
    staticmethod: ("__func__",),
    classmethod: ("__func__",),
    property: ("fget",),
    cached_property: ("func",),
}


class Search:
    """Replaces sources of randomness by traced ones, wherever a search finds them.

    `known` lists objects and their replacements; they are found by identity. Every generator of
    NumPy is replaced by `traced(generator)`.
    `put(holder, name, value)` sets an attribute, a key or an element until the audit ends.
    """

    def __init__(
        self,
        known: list[tuple[object, object]],
        traced: Callable[[object], object],
        put: Callable[[Any, Any, object], None],
    ) -> None:
        # Old objects are kept beside the new ones, so that no id is given away.
        self._new = {id(old): (old, new) for old, new in known}
        self._traced = traced
        self._put = put
        self._walked: dict[int, object] = {}
        self._types = {*_KINDS, *_METHODS, *(type(old) for old, _ in known)}

    def modules(self) -> None:
        """Replace the sources of randomness that modules hold, and their classes and objects."""
        for module in tuple(sys.modules.values()):
            names = _attributes(module)
            own = str(names.get("__name__", ""))
            # This package keeps the true sources.
            if own.startswith(__package__):
                continue
            self._swap_values(names, names)
            for value in tuple(names.values()):
                if _is_a(value, type):
                    # An imported class is searched where it is defined.
                    if value.__module__ == own:
                        self._swap_values(value, vars(value))
                elif type(value) not in _NO_OBJECTS:
                    attributes = _attributes(value)
                    self._swap_values(attributes, attributes)

    def reached(self, root: object) -> None:
        """Replace the sources that a function or object reaches, the nearest first.

        At most _MOST_OBJECTS objects are looked at.
        """
        waiting = deque([root])
        most = len(self._walked) + _MOST_OBJECTS
        while waiting and len(self._walked) < most:
            value = waiting.popleft()
            if type(value) in _PLAIN or id(value) in self._walked or _own(value):
                continue
            self._walked[id(value)] = value
            parts = list(_parts(value))
            if _is_a(value, types.FunctionType):
                parts += _used(value)
            elif not _is_a(value, type):
                # Methods of an object are those of its class.
                parts.append((type(value), None, None))
            waiting += [part[0] for part in parts if not self._swap(*part)]

    def process(self) -> None:
        """Replace the sources that any object of the process holds."""
        found = []
        for known in gc.get_objects():
            if _is_a(known, type) and not _own(known):
                for part in _parts(known):
                    self._swap(*part)
            elif self._replacement(known) is not None:
                found.append(known)
        for holder in gc.get_referrers(*found):
            # The dictionary of a class is not written past the class, which would keep the old value.
            if not _own(holder) and not (type(holder) is dict and "__module__" in holder):
                for part in _parts(holder):
                    self._swap(*part)

    def _swap_values(self, holder: object, values: Mapping[str, object]) -> None:
        """Replace the values of a namespace that are sources of randomness."""
        # One look at the types spares nearly all namespaces a look at each value.
        if not self._types.isdisjoint(map(type, values.values())):
            for name, value in tuple(values.items()):
                self._swap(value, holder, name)

    def _swap(self, value: object, holder: object, name: object) -> bool:
        """Replace a part if it is a source of randomness; return whether it is one."""
        new = self._replacement(value)
        if new is not None and holder is not None:
            self._put(holder, name, new)
        return new is not None

    def _replacement(self, value: Any) -> object | None:  # noqa: ANN401 - any object
        """Return what replaces a value; None if it stays."""
        known = self._new.get(id(value))
        if known is not None:
            return known[1]
        new = None
        if type(value) in _KINDS:
            new = self._traced(value)
        elif type(value) in _METHODS and type(value.__self__) in _KINDS:
            # NumPy's functions are methods of one hidden generator.
            new = getattr(self._replacement(value.__self__), value.__name__)
        if new is not None:
            self._new[id(value)] = (value, new)
        return new


def _is_a(value: object, kind: Any) -> TypeGuard[Any]:  # noqa: ANN401 - as of isinstance
    """Return whether a value is of a type, without asking the value: an object may refuse."""
    return issubclass(type(value), kind)


def _own(value: object) -> bool:
    """Return whether an object belongs to this package, which keeps the true sources."""
    home = type(value)
    if _is_a(value, type | types.FunctionType):
        home = value
    return str(home.__module__).startswith(__package__)


def _attributes(value: object) -> dict[str, Any]:
    """Return the attributes of an object without its own code, which lazy objects would run."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, dict) else {}


def _parts(value: Any) -> Iterator[Part]:  # noqa: ANN401 - any object
    """Yield what an object holds directly."""
    if _is_a(value, types.FunctionType):
        for cell in value.__closure__ or ():
            yield from _parts(cell)
        for position, default in enumerate(value.__defaults__ or ()):
            yield default, value, position
        yield from _parts(value.__kwdefaults__ or {})
    elif _is_a(value, types.CellType):
        # A cell is empty before its variable is set.
        with suppress(ValueError):
            yield value.cell_contents, value, "cell_contents"
    elif _is_a(value, type):
        for name, part in tuple(vars(value).items()):
            yield part, value, name
        for base in value.__bases__:
            yield base, None, None
    elif type(value) in _HOLDERS:
        for name in _HOLDERS[type(value)]:
            yield getattr(value, name), None, None
    elif _is_a(value, dict):
        for name, part in tuple(islice(value.items(), _MOST_ELEMENTS)):
            yield part, value, name
    elif _is_a(value, list):
        for position, part in enumerate(value[:_MOST_ELEMENTS]):
            yield part, value, position
    elif _is_a(value, tuple | set | frozenset):
        for part in tuple(islice(value, _MOST_ELEMENTS)):
            yield part, None, None
    elif not _is_a(value, types.ModuleType):
        yield from _parts(_attributes(value))
        # Not getattr: a lazy object would run its own code.
        for name in vars(type(value)).get("__slots__", ()):
            with suppress(AttributeError):
                yield object.__getattribute__(value, name), value, name


def _used(function: types.FunctionType) -> Iterator[Part]:
    """Yield the globals that a function names, through modules: `library.part.generator`."""
    names = set(_names(function.__code__))
    waiting = [function.__globals__]
    # The list grows while it is read: modules within modules.
    for namespace in waiting:
        for name in names & namespace.keys():
            value = namespace[name]
            if not _is_a(value, types.ModuleType):
                yield value, namespace, name
            elif all(_attributes(value) is not known for known in waiting):
                waiting.append(_attributes(value))


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield the names that code uses, functions within it included."""
    yield from code.co_names
    for part in code.co_consts:
        if _is_a(part, types.CodeType):
            yield from _names(part)
