"""Synthetic tables as answers: noisy counts of columns and pairs, with error bars, and records.

    Synthesizer            from a data frame, in SDV's manner; `curator.synthesize` for a store
    Synthetic              the result: tables with error bars, weighted and whole records, quality
    synthetic_from_json    read it from a file; `synthetic_to_json` writes it

Start at `request` (the tables asked), then `plan` (those worth measuring, and their noise),
`measure` (the one step that reads data), and `synthetic`, `records` and `quality`, which read only
released numbers.
"""

from ..lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
