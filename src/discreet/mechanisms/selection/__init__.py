"""Mechanisms that choose one of several candidates; those of places among ranks are loaded when one is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...late import late

if TYPE_CHECKING:
    from . import quantiles as quantiles
    from . import ranks as ranks
    from . import reach as reach

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = late(__name__, {"quantiles": "", "ranks": "", "reach": ""})
