"""Synthetic tables as answers: noisy counts of columns and pairs, with error bars, and records made from them for free.

    Synthesizer            from a data frame, in SDV's manner; `curator.synthesize` does it for a store
    Synthetic              what comes back: tables with error bars, weighted and whole records, their quality
    synthetic_from_json    read it from a file; `synthetic_to_json` writes it

Start at `request` (what is asked), then `shares` (what is worth measuring), `plan`, `measure` (the one step that reads
data), and `denoise` and `records`, which read only what was released.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .plan import SyntheticPlan as SyntheticPlan
    from .quality import SyntheticQuality as SyntheticQuality
    from .released_table import ReleasedTable as ReleasedTable
    from .stored import synthetic_from_json as synthetic_from_json
    from .stored import synthetic_to_json as synthetic_to_json
    from .synthesizer import Synthesizer as Synthesizer
    from .synthetic import Synthetic as Synthetic

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "plan": "SyntheticPlan",
            "quality": "SyntheticQuality",
            "released_table": "ReleasedTable",
            "stored": "synthetic_from_json synthetic_to_json",
            "synthesizer": "Synthesizer",
            "synthetic": "Synthetic",
        },
    )
