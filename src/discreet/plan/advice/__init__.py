"""Advice: objections to a question from public facts, before its charge; loaded on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from . import impossible_conditions as impossible_conditions
    from . import warnings as warnings

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__, {"impossible_conditions": "", "warnings": ""}
    )
