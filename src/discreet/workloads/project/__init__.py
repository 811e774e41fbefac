"""Post-processing of estimates: tables that are nearer to the truth, nonnegative, or whole.

It is free of charge, since it reads released numbers only.
"""

from .denoise import denoised, distance, shrunk, single_tables
from .nearest import isotonic, simplex, whole_parts, whole_rows
from .pairs import fit_pair, moved_pairs

__all__ = [
    "denoised",
    "distance",
    "fit_pair",
    "isotonic",
    "moved_pairs",
    "shrunk",
    "simplex",
    "single_tables",
    "whole_parts",
    "whole_rows",
]
