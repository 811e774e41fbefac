"""Display of answers as tables and plots, imported when one is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from . import answer as answer
    from . import plot as plot

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(__name__, {"answer": "", "plot": ""})
