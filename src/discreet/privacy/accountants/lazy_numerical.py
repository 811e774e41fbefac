# ruff: noqa: PLC0414, ANN001, ANN002, ANN003, ANN202 names twice, once for type checkers
"""Lazy import of the numerical accountant: loaded when the first price needs it.

Most prices are closed forms, and importing the numerical packages takes long. Only this module
defers them; the accountants import these names as if they were the numerical package's own.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..numerical.accountant import numerical as numerical
    from ..numerical.pair import pairs_of as pairs_of
    from ..pairs.dominating import parts_of as parts_of
else:
    from importlib import import_module

    def _lazy_function(module_name, name):
        """Return a function that imports the named one when it is called, and calls it."""

        def call(*arguments, **options):
            module = import_module(f"discreet.privacy.{module_name}")
            function = getattr(module, name)
            return function(*arguments, **options)

        call.__name__ = name
        call.__qualname__ = name
        return call

    numerical = _lazy_function("numerical.accountant", "numerical")
    pairs_of = _lazy_function("numerical.pair", "pairs_of")
    parts_of = _lazy_function("pairs.dominating", "parts_of")
