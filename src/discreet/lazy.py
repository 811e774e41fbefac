"""Names of a package that are imported when they are touched: a question pays for no room that it does not enter.

A package that waits spells its names out for type checkers (`if TYPE_CHECKING`) and in a table, module by module, for
the running program; a test keeps the two equal.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package whose modules give these names, or give themselves.

    >>> from discreet.lazy import lazy_names
    >>> touch, known, names = lazy_names("discreet.privacy", {"measures": "PureDP ZCDP", "convert": ""})
    >>> touch("PureDP")(2), touch("convert").__name__, set(names) <= set(known()), names
    (PureDP(2), 'discreet.privacy.convert', True, ['PureDP', 'ZCDP', 'convert'])
    """
    home_of = {name: home for home, names in homes.items() for name in names.split() or [home]}

    def touch(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f".{home_of[name]}", package)
        found = getattr(module, name) if homes[home_of[name]] else module
        setattr(sys.modules[package], name, found)
        return found

    return touch, lambda: sorted({*vars(sys.modules[package]), *home_of}), sorted(home_of)
