"""Exact targets: the whole way from question to answer, with no noise added to what the store returned."""

from __future__ import annotations

from contextlib import contextmanager

import numpy as np
import pytest

from discreet.answer import ask
from discreet.workloads.strategy_noise import Measurement


@contextmanager
def without_noise():
    """Add no noise; give a list that gets (mechanism, exact numbers) of every release.

    These two functions are the only ones that add noise to totals.
    """
    released = []

    def add_noise(mechanism, values, *, bits=None):
        released.append((mechanism, list(values)))
        return list(values)

    def release(self, exact, *, bits=None):
        steps = np.asarray(exact).astype(object) * self.grid
        released.append((self.mechanism, steps.ravel().tolist()))
        return steps

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ask, "add_noise", add_noise)
        patch.setattr(Measurement, "release", release)
        yield released
