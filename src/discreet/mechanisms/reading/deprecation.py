"""Deprecated ways to call a mechanism, accepted until version 0.3 with a DeprecationWarning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from ...errors import InvalidArgument

Called = TypeVar("Called", bound=Callable[..., Any])


def deprecated_call(second: str | None = None, /, **renamed: str) -> Callable[[Called], Called]:
    """Return a decorator that accepts deprecated arguments of a method, with a warning.

    | deprecated | parameter | passed on as |
    |---|---|---|
    | a second positional argument | `second="beta"` | `beta=…` |
    | an old keyword | `l0="max_groups"` | `max_groups=…` |

    >>> import warnings
    >>> from discreet.mechanisms.reading.deprecation import deprecated_call
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
