"""Synthetic tables as answers: noisy counts of columns and pairs, with error bars, and records.

    Synthesizer            from a data frame, in SDV's manner; `curator.synthesize` for a store
    Synthetic              the result: tables with error bars, weighted and whole records, quality
    synthetic_from_json    read it from a file; `synthetic_to_json` writes it

Start at `request` (the tables asked), then `plan` (those worth measuring, and their noise),
`measure` (the one step that reads data), and `synthetic` and `records`, which read only released
numbers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazy_names

if TYPE_CHECKING:
    from .plan import SyntheticPlan as SyntheticPlan
    from .stored import synthetic_from_json as synthetic_from_json
    from .stored import synthetic_to_json as synthetic_to_json
    from .synthesizer import Synthesizer as Synthesizer
    from .synthetic import ReleasedTable as ReleasedTable
    from .synthetic import Synthetic as Synthetic
    from .synthetic import SyntheticQuality as SyntheticQuality

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__,
        {
            "plan": "SyntheticPlan",
            "stored": "synthetic_from_json synthetic_to_json",
            "synthesizer": "Synthesizer",
            "synthetic": "ReleasedTable Synthetic SyntheticQuality",
        },
    )
