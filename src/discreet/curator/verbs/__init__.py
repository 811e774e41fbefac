"""Requests to the curator other than questions: bounds, models, synthetic tables and rehearsals.

All but rehearsals are charged, run and stored as questions are. The modules are imported lazily, because
most questions need none of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from . import bounds as bounds
    from . import learn as learn
    from . import rehearse as rehearse
    from . import synthesize as synthesize

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__, {"bounds": "", "learn": "", "rehearse": "", "synthesize": ""}
    )
