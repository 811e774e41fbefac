"""Lazy imports: a name of a package is imported when it is first used.

The stub `__init__.pyi` beside a package's `__init__.py` is the only list of its names. Type checkers
read it as any stub; the running program reads it here. It has these forms and no other:

    from .module import Name as Name        a name of a module
    from . import module as module          a module
    from .module import *                   the names of the argument `starred` of `lazy_names`
    from .module import other as _other     a name under another name, with the next line
    name = _other
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def lazy_names(
    package: str, starred: Iterable[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """Return `__getattr__`, `__dir__` and `__all__` of a package, made from its stub.

    `starred` lists the names that a line `from .module import *` of the stub stands for.

    >>> from discreet.lazy import lazy_names
    >>> load, known, names = lazy_names("discreet.query")
    >>> load("col")("age"), "col" in names, set(names) <= set(known())
    (age, True, True)
    """
    sources = _read_stub(package, starred)

    def load(name: str) -> object:
        if name not in sources:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home, original = sources[name]
        found = _find(package, home, original)
        # The next use finds the name in the package itself, without this function.
        setattr(sys.modules[package], name, found)
        return found

    def list_names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *sources})

    return load, list_names, sorted(sources)


def _find(package: str, home: str, name: str) -> object:
    """Import `name` from module `home`; a module if the stub says `from . import name`."""
    if not home.strip("."):
        return import_module(f"{home}{name}", package)
    return getattr(import_module(home, package), name)


def _read_stub(package: str, starred: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return, for each name that the stub exports, the module and the name it is imported from."""
    spec = sys.modules[package].__spec__
    # The loader also reads packages inside zip archives; `open` would not.
    text = spec.loader.get_data(f"{spec.origin}i").decode()  # type: ignore[union-attr]
    sources: dict[str, tuple[str, str]] = {}
    for line in text.splitlines():
        if line.endswith(" import *"):
            home = line.split()[1]
            sources |= {name: (home, name) for name in starred}
        elif line.startswith("from "):
            _, home, _, original, _, name = line.split()
            sources[name] = (home, original)
        elif line and not line.startswith(("#", "def ", "__")):
            name, _, hidden = line.split()
            sources[name] = sources.pop(hidden)
    return sources
