"""Statistics, one file each: required releases, error propagation, estimate, interval, stored form.

Plans and answers use all statistics alike; `catalogue.recipe_of` alone maps a node of the question's
tree to its file. Start at `recipe` (the interface of a statistic), then read `mean`.

    count  sum  mean  variance  covariance  correlation  quantile  mode  distinct
    releases    noisy totals and private choices that statistics are made from
    laws        bounds on the error and confidence intervals from the laws of the noise

The rarer ones are loaded on first use.
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
