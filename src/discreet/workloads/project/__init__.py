"""What is made of estimates for nothing, since only what was released is read: tables that are nearer, or whole."""

from .denoise import denoised, distance, shrunk
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
    "whole_parts",
    "whole_rows",
]
