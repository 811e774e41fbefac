"""Statistics: one file each, with what it needs released, how noise moves it, its estimate, interval and stored form.

Plans and answers both stand on this room, and neither knows one statistic from another: `of.recipe_of` is the one place
where a node of the question's tree meets its file. Start at `recipe` (what a statistic must say), then read `mean`.

    count  sum  mean  variance  covariance  correlation  quantile  mode  distinct
    releases    what statistics are made from: noisy totals, chosen cells
    laws        how far noise moves what is made from them

The rarer ones are loaded when one is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from . import correlation as correlation
    from . import covariance as covariance
    from . import distinct as distinct
    from . import mode as mode
    from . import quantile as quantile

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__, {"correlation": "", "covariance": "", "distinct": "", "mode": "", "quantile": ""}
    )
