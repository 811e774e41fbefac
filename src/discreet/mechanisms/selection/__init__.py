"""Selection mechanisms: choose one of several public candidates by a private score.

The modules about quantiles are loaded lazily, when one of them is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from . import quantile_interval as quantile_interval
    from . import quantiles as quantiles
    from . import ranks as ranks

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__, {"quantiles": "", "ranks": "", "quantile_interval": ""}
    )
