"""Optional packages, imported when first needed; a missing one is refused with its pip command."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from .errors import InvalidArgument


class OptionalPackage:
    """Optional package whose names are used as those of an imported module.

    Each name is looked up when it is used, so a missing package is refused there and not earlier.

    >>> from discreet.optional import OptionalPackage
    >>> OptionalPackage("sqlite3", "ledger").sqlite_version_info > (3, 0)
    True
    """

    def __init__(self, module: str, extra: str) -> None:
        self._module = module
        self._extra = extra

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 the module decides what it holds
        return getattr(load(self._module, self._extra), name)


def load(module: str, extra: str) -> Any:  # noqa: ANN401 the module decides what it holds
    """Import a module of an optional package that `pip install 'discreet[extra]'` installs.

    >>> from discreet.optional import load
    >>> load("sqlite3", "ledger").sqlite_version_info > (3, 0)
    True
    >>> load("no_such_package.part", "plot")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: this needs no_such_package, which is not installed: pip install 'discreet[plot]'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as missing:
        package = module.partition(".")[0]
        if missing.name is not None and missing.name.partition(".")[0] != package:
            raise  # the package is there, and something that it needs itself is not
        raise InvalidArgument(
            f"this needs {package}, which is not installed: pip install 'discreet[{extra}]'"
        ) from None
