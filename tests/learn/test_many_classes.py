"""Many classes: log loss falls with the spend, and is not above that of the shares of the classes."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.learn.models.naive_bayes import _log_table
from discreet.learn.training.believed import believed_counts

COLUMNS, CLASSES, ROWS = 64, 10, 1_400
SCHEMA = dp.Schema(
    "scans",
    dp.Rows(),
    {f"x{place}": dp.Real(-1, 1) for place in range(COLUMNS)}
    | {"y": dp.Category(list(range(CLASSES)))},
)


def scans(rows, apart, seed):
    """Return rows about a mean for each class; `apart` is the deviation of the means."""
    means = np.random.default_rng(99).normal(0, apart, (CLASSES, COLUMNS))
    rng = np.random.default_rng(seed)
    y = rng.integers(0, CLASSES, rows)
    x = np.clip(means[y] + rng.normal(0, 0.4, (rows, COLUMNS)), -1, 1)
    return {f"x{place}": x[:, place] for place in range(COLUMNS)} | {"y": y}


def excess(epsilon, apart, seed):
    """Return by how much the recommended model's log loss exceeds that of the shares of the classes."""
    spend = dp.ApproxDP(epsilon, "1e-6")
    seen, new = scans(ROWS, apart, seed), scans(2_000, apart, 1000 + seed)
    model = learn.recommend(ROWS, COLUMNS, CLASSES, spend).make(SCHEMA, "y", spend)
    model.fit(seen, ledger=dp.open_ledger(":memory:", dp.ApproxDP(50, "1e-4")))
    chances = np.maximum(model.predict_proba(new)[np.arange(2_000), new["y"]], 1e-12)
    shares = np.bincount(seen["y"], minlength=CLASSES) / ROWS
    return float(np.log(shares[new["y"]]).mean() - np.log(chances).mean())


@pytest.mark.statistical
class TestManyClasses:
    def test_log_loss_falls_with_the_spend(self):
        """Means of two fits are −1.74 ± .03 at ε = 1 and −2.11 ± .015 at ε = 3: ten deviations off (1e-20)."""
        little, much = (
            np.mean([excess(epsilon, 0.3, seed) for seed in (1, 2)]) for epsilon in (1, 3)
        )
        assert little < -1.45 and much < -1.9

    @pytest.mark.parametrize(("epsilon", "most"), [("0.3", 0.05), ("3", 0.12)])
    def test_nothing_to_learn_costs_nothing(self, epsilon, most):
        """At ε = .3 noise in the shares adds .0008·χ² with 9 degrees in each fit: 1e-15 for .05 in the mean.

        At ε = 3 fits are 0 ± .004; rows learnt by heart, were all of it believed, would add .05 to .09.
        """
        assert np.mean([excess(epsilon, 0.0, seed) for seed in (1, 2)]) < most


def test_counts_of_two_classes_are_smoothed_and_never_pooled():
    """One column that noise nearly hides is all that a model of few rows has."""
    schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 9), "y": dp.Boolean()})
    model = learn.CategoricalNB(schema, "y", dp.ApproxDP(1, "1e-6"), bins=1)
    rows = {"x": np.arange(10), "y": np.arange(10) > 4}
    model.fit(rows, ledger=dp.open_ledger(":memory:", dp.ApproxDP(2, "1e-5")))
    design = model.task_.design
    sums = np.arange(2.0 * design.width).reshape(2, -1)
    assert (believed_counts(sums, 50.0, design) == sums + 50.0).all()


def test_a_naive_bayes_model_of_an_earlier_release_predicts_as_before():
    spend = dp.ApproxDP(1, "1e-6")
    rows = scans(300, 0.3, 1)
    model = learn.CategoricalNB(SCHEMA, "y", spend, features=["x0"], bins=4)
    model.fit(rows, ledger=dp.open_ledger(":memory:", dp.ApproxDP(50, "1e-4")))
    old = {name: model.fitted_[name] for name in ("sums", "squares", "deviations")}
    start = max(1.0, float(old["deviations"][0]))
    by_class = np.maximum(old["sums"][:, -1], 0.0) + start
    table = _log_table(model.task_, old)
    assert np.allclose(table[:, -1], np.log(by_class / by_class.sum()))
    model.fitted_ = old
    assert model.predict(rows).shape == (300,)
