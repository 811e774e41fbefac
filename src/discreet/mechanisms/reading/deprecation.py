"""Old ways to call, kept for one release with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from ...errors import InvalidArgument

Called = TypeVar("Called", bound=Callable[..., Any])


def formerly(second: str | None = None, /, **renamed: str) -> Callable[[Called], Called]:
    """Accept, with a DeprecationWarning, a second positional argument by its name of today, and renamed keywords.

    >>> import warnings
    >>> from discreet.mechanisms.reading.deprecation import formerly
    >>> @formerly("b", l0="max_groups")
    ... def call(self, a, *, b=0, max_groups=1):
    ...     return a, b, max_groups
    >>> with warnings.catch_warnings(record=True) as seen:
    ...     warnings.simplefilter("always")
    ...     call(None, 1, 2, l0=3)
    (1, 2, 3)
    >>> [str(warning.message) for warning in seen]
    ['pass b=… by name: version 0.3 takes it so only', 'l0 is called max_groups; version 0.3 knows no l0']

    Refuses an argument under both names.
    """

    def decorate(method: Called) -> Called:
        @wraps(method)
        def call(owner: object, *given: object, **named: object) -> object:
            first = list(given)
            if second is not None and len(first) == 2:
                told = f"pass {second}=… by name: version 0.3 takes it so only"
                warnings.warn(told, DeprecationWarning, stacklevel=2)
                named = _both(named, second, first.pop())
            for old, new in renamed.items():
                if old in named:
                    told = f"{old} is called {new}; version 0.3 knows no {old}"
                    warnings.warn(told, DeprecationWarning, stacklevel=2)
                    named = _both(named, new, named.pop(old))
            return method(owner, *first, **named)

        return cast("Called", call)

    return decorate


def _both(named: dict[str, object], name: str, value: object) -> dict[str, object]:
    if name in named:
        raise InvalidArgument(f"{name} is given twice; give it once, by that name")
    return {**named, name: value}
