"""A model whose moments are all noise: it is trained all the same, since it was paid for before anybody could know."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet import learn


@pytest.mark.parametrize("clip", [1, 100])
def test_noise_alone_trains_a_model_that_says_nothing(clip):
    """P, rounded to whole numbers, is then singular: that must not end in a failure after the charge."""
    columns = {f"x{k}": dp.Integer(0, 120) for k in range(30)}
    table = dp.Schema(
        "t", dp.People("id", max_rows=4), columns | {"y": dp.Category(["a", "b", "c"])}
    )
    for _ in range(3):
        curator = dp.Curator(dp.Memory({"t": []}), [table], dp.open_ledger(":memory:", dp.ZCDP(1)))
        model = learn.LogisticRegression(target="y", steps=2, clip=clip)
        found = curator.learn(f"SELECT {', '.join(columns)}, y FROM t", model, dp.ZCDP("1/1000"))
        assert np.isfinite(found.fitted_["coefficients"]).all()
