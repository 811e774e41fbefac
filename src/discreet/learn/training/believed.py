"""Counts by class as far as they are more than noise, from released numbers alone.

Counts of classes scatter because of their noise and because they differ. With more than three
classes they are moved towards their mean by the share of the scatter that noise explains (James,
Stein). With three classes or more, the counts of values by class are compared with those of all
classes together. If they scatter no more than noise does, all classes get the same counts of
values, so that a prediction depends on how common the classes are and not on the values.
"""

from __future__ import annotations

import math

import numpy as np

from ...arithmetic.arrays import Floats
from ..coding.design import ModelDesign

_SURE = 3.0
"""Deviations by which the scatter of counts exceeds that of noise where they say something."""


def believed_counts(sums: Floats, noise: float, design: ModelDesign) -> Floats:
    """Return positive counts, a row for each class, from noisy ones; the last column is the class.

    `noise` is the deviation of each count.
    """
    # A count below the noise says nothing, so that each begins with as much (smoothing).
    counts = np.maximum(sums, 0.0) + max(1.0, noise)
    # Two classes have so few cells that their scatter says too little of what noise explains.
    if len(sums) == 2:
        return counts
    # The same holds of the counts of three classes, but not of their values.
    if len(sums) > 3:
        # Half a deviation: a class that noise has pushed to 0 may be as large.
        counts[:, -1] = np.maximum(_shrunk(sums[:, -1], noise), max(noise / 2, 0.5))
    listed = np.arange(design.numbers, design.width - 1)
    shares = counts[:, -1:] / counts[:, -1].sum()
    pooled = shares * sums[:, listed].sum(axis=0)
    # The sum over classes has no scatter about itself.
    cells = max(1, pooled.size - len(listed))
    scatter = float(((sums[:, listed] - pooled) ** 2).sum())
    # A sum of so many squares of noise has the mean 1 and the deviation √(2/cells), each.
    if scatter <= noise**2 * cells * (1 + _SURE * math.sqrt(2 / cells)):
        counts[:, listed] = counts[:, listed].sum(axis=0)
    return counts


def _shrunk(counts: Floats, noise: float) -> Floats:
    """Return noisy counts, moved towards their mean by the share of their scatter that is noise."""
    apart = counts - counts.mean()
    scatter = max(float((apart**2).sum()), 1e-12)
    # James and Stein: one direction is the mean's, two more are what keeps the estimate better.
    noisy = max(0, len(counts) - 3) * noise**2
    return np.asarray(counts.mean() + max(0.0, 1 - noisy / scatter) * apart)
