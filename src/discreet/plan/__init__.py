"""Planner package: releases, noise, price and predicted error of a question.

Everything here is public: a plan reads no data, costs nothing and can be shown. Start at `plan`,
then `choose`.
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
