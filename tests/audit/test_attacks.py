"""Attacks work where there is no privacy, and fail where there is."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.audit import membership, reconstruct
from discreet.learn import CategoricalNB


class TestReconstruction:
    """k subset sums with noise far below √n give the bits away; a total (ε, δ) over all of them does not."""

    def test_accurate_answers_give_the_secret_away_and_private_ones_do_not(self):
        rng = np.random.default_rng(1)
        secret, queries = rng.integers(0, 2, 128), rng.integers(0, 2, (512, 128))
        exact = queries @ secret
        assert (reconstruct(exact + rng.normal(0, 1, 512), queries) == secret).mean() > 0.98
        noise = dp.Gaussian.spending(
            dp.ApproxDP(1, "1e-6"), sensitivity=dp.Sensitivity(512, 512, 1, changed=512)
        )
        assert (reconstruct(noise.release(exact.astype(float)), queries) == secret).mean() < 0.8

    def test_shapes(self):
        with pytest.raises(dp.InvalidArgument, match="a row for each answer"):
            reconstruct([1, 2], [[1, 0]])


class TestMembership:
    def scores(self, spend):
        """Learn from half of rows that are nearly unique, and score each by the chance of its own class."""
        rng = np.random.default_rng(2)
        columns = {f"c{place}": dp.Category(list(range(8))) for place in range(12)}
        schema = dp.Schema("t", dp.Rows(), {**columns, "y": dp.Boolean()})
        rows = {name: rng.integers(0, 8, 400) for name in columns} | {
            "y": rng.integers(0, 2, 400) == 1
        }
        model = CategoricalNB(schema, "y", spend)
        with pytest.warns(UserWarning, match="nothing is recorded"):
            model.fit({name: values[:60] for name, values in rows.items()}, ledger=None)
        own = model.predict_proba(rows)[np.arange(400), rows["y"].astype(int)]
        return own[:60], own[60:]

    def test_a_model_without_privacy_tells_and_a_private_one_does_not(self):
        bare = membership(*self.scores(dp.ApproxDP(10_000, "1e-6")))
        safe = membership(
            *self.scores(dp.ApproxDP("1/2", "1e-6")), alpha=1e-9
        )  # so rarely is it too large by chance
        assert bare.epsilon > 0 and bare.advantage > 0.15
        assert safe.epsilon <= 0.5
        assert "advantage" in str(bare)

    def test_too_few_say_nothing(self):
        with pytest.raises(dp.InvalidArgument, match="at least 20"):
            membership([1.0], [2.0])
