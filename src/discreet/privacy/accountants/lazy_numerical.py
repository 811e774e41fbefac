# ruff: noqa: PLC0414, ANN001, ANN002, ANN003, ANN202 names spelled out twice, once for type checkers
"""The numerical engine, loaded when the first price needs it: most prices are closed forms, and its room is large.

This is the one place that waits for it. The accountants import these names as if they were the engine's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..numerical.accountant import numerical as numerical
    from ..numerical.pair import pairs_of as pairs_of
    from ..pairs.dominating import parts_of as parts_of
else:
    from importlib import import_module

    def _later(package, name):
        """Return a function that calls one of the engine, and imports it only then."""

        def call(*arguments, **options):
            return getattr(import_module(f"discreet.privacy.{package}"), name)(
                *arguments, **options
            )

        call.__name__ = call.__qualname__ = name
        return call

    numerical = _later("numerical.accountant", "numerical")
    pairs_of = _later("numerical.pair", "pairs_of")
    parts_of = _later("pairs.dominating", "parts_of")
