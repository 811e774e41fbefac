"""Permute-and-flip: select an index by its score, exactly, with all coins flipped at once."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from ..arithmetic.rational import Number
from .bits import Bits, ByteWords, RandomWords, readable
from .exact_search import STEP, below
from .score_gaps import CHANCE_ERROR, ScoreArray, Scores, scores_of
from .uniform import Uniform

_WIDTH = 64


def heads(
    scores: Scores, draw: RandomWords, *, width: int = _WIDTH, step: int = STEP
) -> NDArray[np.intp]:
    """Flip one coin of bias exp(−e) for every candidate; return the indices of the heads.

    The exponent e = |rate|·(best − score) is 0 for the best candidates, which always fall heads.
    """
    words = draw.words(scores.values.size, width)
    one = 0.5**width
    gap = scores.chances() - words * one
    is_heads: NDArray[np.bool_] = gap > 0
    # 2^-52 for the rounding of a word to a float; within the margin the exact decision is made.
    margin = CHANCE_ERROR + 2.0**-52
    is_near = (gap <= margin + one) & (gap >= -margin)
    for at in np.flatnonzero(is_near):
        bounds = partial(scores.bounds, int(at))
        word = int(words[at])
        is_heads[at] = below(word, width, bounds, draw, step=step)
    return np.flatnonzero(is_heads)


def flip(scores: Scores, draw: RandomWords, *, width: int = _WIDTH, step: int = STEP) -> int:
    """Flip all coins and return the index of one of those that fell heads, each equally likely."""
    candidates = heads(scores, draw, width=width, step=step)
    chosen = Uniform(candidates.size, width).sample(1, draw)[0]
    return int(candidates[chosen])


def permute_and_flip(scores: ScoreArray, rate: Number, *, bits: Bits | None = None) -> int:
    """Draw an index by permute-and-flip, exactly: McKenna and Sheldon (2020).

    The mechanism visits the candidates in uniform random order, flips a coin of bias
    exp(rate·(score − best)) for each, and returns the first that falls heads. The same law, all at
    once: flip every coin first, independently of the order. The first of the set H of heads in a
    uniform random order is uniform in H (by symmetry, given H). Coins that would not have been
    flipped do not matter. H is never empty: the best candidate's coin has bias 1. So: flip all
    coins, then draw one of the heads uniformly. (Also the law of report-noisy-max with exponential
    noise, Ding et al. 2021.)

    >>> from discreet.noise import permute_and_flip
    >>> permute_and_flip([0, 10**6, 3], 1)
    1

    Guarantee: every index has exactly the probability of the mechanism.

    Refuses: InvalidArgument for no scores, NaN or infinite ones, and a rate that is no rational,
        before any bit is drawn.

    Law: tests/noise/test_trees.py::TestChoices
    Proved: proofs/PermuteFlip.v::permute_and_flip, proofs/PermuteFlip.v::coins_and_permutation
    """
    checked = scores_of(scores, rate)
    draw = ByteWords(readable(bits))
    return flip(checked, draw)
