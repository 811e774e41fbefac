"""Recalibration and correction: bounded by their clips, priced in one sequence, and right in what they say."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet import learn
from discreet.errors import InvalidArgument
from discreet.learn.coding.contrasts import centring, idle_directions
from discreet.learn.coding.design import design_of
from discreet.learn.coding.feature import UNIT
from discreet.learn.coding.rows import CodedRows
from discreet.learn.recipes import steps as recipe
from discreet.learn.recipes.moments import shrinkage_of
from discreet.learn.recipes.steps import Descent, widest_clip
from discreet.learn.stored import model_from_json, model_to_json
from discreet.learn.training import correction, recalibration
from discreet.learn.training.influence import Influence
from discreet.learn.training.recalibration import (
    CLIP,
    Recalibrated,
    Standard,
    gradient_of,
    scores_of,
    spread_of,
)
from discreet.learn.training.residual import FULL
from discreet.privacy.events import Repeated
from discreet.privacy.events import Sequence as InOrder
from discreet.query.domains.domain import domain_of_column

COLUMNS = {
    "age": dp.Integer(0, 99),
    "income": dp.Real(0, 1000),
    "sex": dp.Category(["f", "m"]),
    "y": dp.Boolean(),
}
SCHEMA = dp.Schema("people", dp.Rows(), COLUMNS)
BUDGET = dp.ApproxDP(50, "1e-4")
SPEND = dp.ApproxDP(2, "1e-6")


def ledger():
    return dp.open_ledger(":memory:", BUDGET)


def rows_of(scores: int) -> CodedRows:
    return CodedRows(
        np.full((scores, 1), 1024.0), np.ones((scores, 1), dtype=np.int64), np.ones(scores, int), 2
    )


def people(n=20_000, seed=1):
    rng = np.random.default_rng(seed)
    age, sex = rng.integers(18, 90, n), rng.integers(0, 2, n)
    income = np.clip(rng.normal(400, 150, n), 0, 1000)
    margin = -1 + 0.06 * (age - 50) + 0.004 * (income - 400) + 0.8 * sex
    chance = 1 / (1 + np.exp(-margin))
    table = {"age": age, "income": income, "sex": np.array(["f", "m"])[sex]}
    return {**table, "y": rng.random(n) < chance}, chance


class TestARowMovesAStepByAtMostTheClip:
    """‖(Σ r·s, r_1, …)‖ ≤ CLIP in integers, whatever a row's scores and residuals are."""

    @given(
        st.lists(st.integers(-6 * UNIT, 6 * UNIT), min_size=1, max_size=4),
        st.lists(st.integers(-FULL, FULL), min_size=4, max_size=4),
    )
    @settings(max_examples=200)
    def test_any_row(self, scores, residuals):
        given = np.array([residuals[: len(scores)]])
        moved = gradient_of(np.array([scores]), given, rows_of(1))
        assert sum(int(value) ** 2 for value in moved.tolist()) <= CLIP**2

    @given(st.integers(1, 400), st.integers(-6 * UNIT, 6 * UNIT), st.integers(-6 * UNIT, 6 * UNIT))
    @settings(max_examples=100)
    def test_any_row_that_standardises_however_many_classes(self, classes, first, other):
        scores = np.full((1, classes), other)
        scores[0, 0] = first
        moved = spread_of(scores, rows_of(1))
        assert sum(int(value) ** 2 for value in moved.tolist()) <= CLIP**2

    def test_the_worst_row_reaches_the_clip_and_the_price_is_that_of_the_clip(self):
        worst = gradient_of(np.array([[6 * UNIT]]), np.array([[FULL]]), rows_of(1))
        assert sum(int(value) ** 2 for value in worst.tolist()) > 0.99 * CLIP**2
        model = learn.LogisticRegression(SCHEMA, "y", SPEND)
        for unit, relation in ((1, "add-remove"), (64, "add-remove"), (64, "replace")):
            influence = Influence(3 * unit, unit, relation)
            release = model.plan(influence=influence).releases[2]
            twice = 4 if relation == "replace" else 1
            wanted = twice * (3 * unit * CLIP) ** 2
            assert release.noise.event.squared_sensitivity == wanted
            assert release.times == recalibration.STEPS

    @given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2), st.floats(1e-9, 1e9))
    @settings(max_examples=60)
    def test_scores_are_integers_within_six(self, coefficients, deviation):
        found = scores_of(
            rows_of(3),
            np.array([[value] for value in coefficients]),
            Standard(np.zeros(1), deviation),
        )
        assert found.dtype == np.int64 and np.abs(found).max() <= 6 * UNIT

    def test_a_score_follows_from_its_row_alone(self):
        rng = np.random.default_rng(3)
        numbers = rng.integers(-UNIT, UNIT + 1, (400, 2)).astype(float)
        rows = CodedRows(numbers, np.full((400, 1), 2), np.ones(400, int), 3)
        weights = rng.normal(size=(3, 2))
        standard = Standard(np.array([0.1, -0.2]), 0.7)
        together = scores_of(rows, weights, standard)
        for place in (0, 17, 399):
            one = slice(place, place + 1)
            alone = CodedRows(numbers[one], rows.codes[one], rows.weights[one], 3)
            assert (scores_of(alone, weights, standard) == together[one]).all()


class TestOneSequence:
    """Moments, steps, recalibration and correction are one event, charged before a row is read."""

    def test_the_event_and_its_price(self):
        for kind, count in ((learn.LogisticRegression, 4), (learn.AdditiveClassifier, 3)):
            event = kind(SCHEMA, "y", SPEND).plan().event
            assert isinstance(event, InOrder) and len(event.events) == count
            assert [getattr(one, "times", 1) for one in event.events] == [1, 60, 20, 1][:count]
            assert isinstance(event.events[1], Repeated)
            assert dp.compose([event]).delta(epsilon=SPEND.epsilon) <= SPEND.delta

    def test_every_release_is_made_once_as_planned(self, monkeypatch):
        """Each use draws its own noise, so the number of draws is that of the event: no more, no fewer."""
        seen = []
        noisy = recipe.Release.noisy

        def note(self, exact, bits=None):
            seen.append((self.times, exact.size))
            return noisy(self, exact, bits)

        monkeypatch.setattr(recipe.Release, "noisy", note)
        rows, _ = people(300)
        learn.LogisticRegression(SCHEMA, "y", SPEND, steps=7).fit(rows, ledger=ledger())
        grouped = [(times, len(list(uses))) for times, uses in itertools.groupby(seen)]
        assert [uses for _, uses in grouped] == [1, 7, 20, 1]
        assert [times for (times, _), _ in grouped] == [1, 7, 20, 1]

    def test_a_row_replayed_at_a_neighbour_moves_each_exact_sum_by_at_most_its_sensitivity(
        self, monkeypatch
    ):
        """The same noise on both sides, so that every later step starts from the same released numbers."""
        exact: list[list[np.ndarray]] = [[], []]
        replies: list[np.ndarray] = []
        side = 0
        noisy = recipe.Release.noisy

        def note(self, sums, bits=None):
            exact[side].append((self.noise.event.squared_sensitivity, sums.astype(object).ravel()))
            if side == 0:
                replies.append(noisy(self, sums, bits))
            return replies[len(exact[side]) - 1]

        monkeypatch.setattr(recipe.Release, "noisy", note)
        rows, _ = people(200)
        hostile = {"age": 10**9, "income": -1e300, "sex": "?", "y": True}
        more = {name: np.append(rows[name], [hostile[name]]) for name in COLUMNS}
        more["sex"] = np.array([*rows["sex"], "?"], dtype=object)
        for side, table in enumerate((rows, more)):  # noqa: B007 read by `note`
            learn.LogisticRegression(SCHEMA, "y", SPEND, steps=5).fit(table, ledger=ledger())
        assert len(exact[0]) == len(exact[1]) == 1 + 5 + 20 + 1
        moved = 0
        for (squared, one), (_, other) in zip(*exact, strict=True):
            distance = sum(int(value) ** 2 for value in one - other)
            assert distance <= squared
            moved += distance > 0
        # The moments and the first step always move; later a hostile row may be told apart already.
        assert moved >= 2


class TestClipFromNoisyFacts:
    def test_it_widens_with_the_rows_and_stops_at_two(self):
        release = learn.LogisticRegression(SCHEMA, "y", SPEND).plan().releases[1]
        found = [widest_clip(release, float(n), 6) for n in (1, 300, 3_000, 10**9)]
        assert found == sorted(found) and found[-1] == 2.0 and found[0] < 0.01

    def test_it_changes_no_price(self):
        wide, narrow = (
            learn.LogisticRegression(SCHEMA, "y", SPEND, clip=clip).plan().event
            for clip in (0.001, 2.0)
        )
        assert wide == narrow


class TestWhatAModelSays:
    @pytest.mark.statistical
    def test_coefficients_and_chances_are_on_the_datas_scale(self):
        """No bias of clipping: each interval of 1 − 1e-9 holds the truth, so four fail in 4e-9."""
        rows, chance = people(40_000)
        model = learn.LogisticRegression(SCHEMA, "y", SPEND).fit(rows, ledger=ledger())
        wanted = {"age": 0.06, "income": 0.004, "sex=m": 0.4, "sex=f": -0.4}
        reach = model.coef_interval(1 - 1e-9)
        for name, truth in wanted.items():
            low, high = reach[name]
            assert low < truth < high
        assert reach["age"][1] - reach["age"][0] < 0.06
        low, high = model.proba_interval(rows, 1 - 1e-9)
        assert np.mean((low <= chance) & (chance <= high)) > 0.97
        assert abs(float(model.predict_proba(rows)[:, 1].mean() - chance.mean())) < 0.02

    @pytest.mark.statistical
    def test_chances_of_additive_models_are_calibrated(self):
        """Log loss within a fiftieth of that of the true chances; noise moves it by 1/1,000 (1e-9)."""
        rows, chance = people(20_000)
        model = learn.AdditiveClassifier(SCHEMA, "y", SPEND, bins=8).fit(rows, ledger=ledger())
        found = np.clip(model.predict_proba(rows)[:, 1], 1e-9, 1 - 1e-9)
        wanted = -np.mean(chance * np.log(chance) + (1 - chance) * np.log(1 - chance))
        loss = -np.mean(chance * np.log(found) + (1 - chance) * np.log(1 - found))
        assert loss < 1.02 * wanted

    @pytest.mark.statistical
    def test_intervals_are_as_wide_as_estimates_spread(self):
        """Of 120 intervals of 50 % in 30 fits, 60 ± 6.7 hold: 18 is 6.2 deviations below (3e-10).

        Two of each four are one number and its negative. Wider intervals hold at most 112.
        """
        wanted = {"age": 0.06, "income": 0.004, "sex=m": 0.4, "sex=f": -0.4}
        held = 0
        for seed in range(30):
            rows, _ = people(4000, seed)
            model = learn.LogisticRegression(SCHEMA, "y", SPEND).fit(rows, ledger=ledger())
            for name, (low, high) in model.coef_interval(0.5).items():
                held += name in wanted and low < wanted[name] < high
        assert 18 <= held <= 112

    @pytest.mark.statistical
    def test_linear_intervals_hold_and_reach_predictions(self):
        """Intervals of 1 − 1e-9 hold the truth, so two fail in 2e-9."""
        rng = np.random.default_rng(2)
        rows, _ = people()
        target = 200 + 3 * rows["age"] + 100 * (rows["sex"] == "m") + rng.normal(0, 30, 20_000)
        schema = dp.Schema("people", dp.Rows(), {**COLUMNS, "y": dp.Real(0, 1000)})
        model = learn.LinearRegression(schema, "y", SPEND).fit(
            {**rows, "y": target}, ledger=ledger()
        )
        ends = model.coef_interval(1 - 1e-9)
        assert ends["age"][0] < 3 < ends["age"][1] and ends["sex=m"][0] < 50 < ends["sex=m"][1]
        # Listed values are compared with their mean, so that noise along their sum is gone.
        assert ends["sex=m"][1] - ends["sex=m"][0] < 60
        low, high = model.predict_interval(rows, 1 - 1e-9)
        assert (low <= high).all() and np.mean((low <= target) & (target <= high)) > 0.1
        assert len(model.coefficients()) == len(model.columns_) + 1

    def test_nothing_is_corrected_where_recalibration_found_nothing(self, monkeypatch):
        """The correction's chance excess over its noise would be believed: .1 of log loss at ε = .1."""
        nothing = lambda rows, labels, found, *_, **__: Recalibrated(0 * found, False, 1.0)  # noqa: E731
        monkeypatch.setattr(recipe, "recalibrate", nothing)
        rows, _ = people(2000)
        model = learn.LogisticRegression(SCHEMA, "y", SPEND).fit(rows, ledger=ledger())
        assert not model.fitted_["coefficients"].any()
        assert all(one.low < 0 < one.high for one in model.coefficients())

    def test_an_unsure_score_keeps_its_order_at_a_slope_that_costs_little(self, monkeypatch):
        """Descent orders rows long before the slope can be told from 0; with few rows nothing is known."""
        no_slope = lambda point, *_: np.append(0.0, point[1:])  # noqa: E731
        monkeypatch.setattr(recalibration, "_believed", no_slope)
        rows, chance = people(20_000)
        model = learn.LogisticRegression(SCHEMA, "y", SPEND).fit(rows, ledger=ledger())
        margins = model.image(rows) @ model.fitted_["coefficients"][:, 0]
        assert 0.03 < margins.std() < 0.08 and np.corrcoef(margins, chance)[0, 1] > 0.9
        few = {name: cells[:100] for name, cells in rows.items()}
        model = learn.AdditiveClassifier(SCHEMA, "y", dp.ApproxDP("1/10", "1e-6"))
        model.fit(few, ledger=ledger())
        assert not model.fitted_["coefficients"][:-1].any()

    def test_bars_of_effects_are_as_wide_as_effects_spread(self):
        """Bins of 300 rows and more, 8 fits at ε = 10, 21 effects: the ratio is 1.45 ± .15."""
        rows, _ = people(20_000)
        values, bars = [], []
        for _ in range(8):
            model = learn.AdditiveClassifier(SCHEMA, "y", dp.ApproxDP(10, "1e-6"), bins=10)
            effects = model.fit(rows, ledger=ledger()).effects_.columns
            seen = [model.fitted_["seen"][start:] for start in model.task_.design.starts]
            often = [ends[: len(one.values)] > 300 for one, ends in zip(effects, seen, strict=True)]
            pairs = list(zip(effects, often, strict=True))
            values.append(np.concatenate([np.array(one.values)[kept] for one, kept in pairs]))
            bars.append(np.concatenate([np.array(one.deviations)[kept] for one, kept in pairs]))
        ratio = np.sqrt(np.mean(np.square(bars)) / np.var(values, axis=0, ddof=1).mean())
        assert 0.9 < ratio < 2.1

    def test_bars_grow_with_what_the_steps_wander(self, monkeypatch):
        """Twice the movement is twice the bar, for steps that do not move there is none."""
        rows, _ = people(2_000)
        found = []
        seen = recipe._wandered

        def note(design, moments, wander, by_formula):
            for factor in (0, 1, 2):
                found.append(seen(design, moments, factor * wander, by_formula))
            return np.full_like(by_formula, 1e6)

        monkeypatch.setattr(recipe, "_wandered", note)
        model = learn.AdditiveClassifier(SCHEMA, "y", SPEND, bins=10).fit(rows, ledger=ledger())
        assert not found[0].any() and found[1].any()
        assert np.allclose(found[2], 2 * found[1])
        assert model.fitted_["deviations"].min() > 1e4

    def test_rare_bins_do_not_move_the_mean_of_effects(self):
        rows, _ = people(5_000)
        model = learn.AdditiveClassifier(SCHEMA, "y", SPEND, bins=10).fit(rows, ledger=ledger())
        starts = model.task_.design.starts
        for effect, start in zip(model.effects_.columns, starts, strict=True):
            counts = model.fitted_["seen"][start : start + len(effect.values)]
            assert abs(counts @ effect.values) < 1e-6 * counts.sum()
        # Models of earlier releases know no rows of single bins.
        del model.fitted_["seen"]
        assert all(abs(sum(effect.values)) < 1e-9 for effect in model.effects_.columns)

    def test_where_noise_hides_all_but_one_value_nothing_is_known_and_nothing_fails(
        self, monkeypatch
    ):
        """The fit is charged already: with few rows no difference between values may be left."""
        facts = {"sex": dp.Category(["f", "m"]), "b": dp.Boolean(), "y": dp.Boolean()}
        schema = dp.Schema("people", dp.Rows(), facts)
        table = {"sex": ["f"] * 402, "b": [True, False, None] * 134, "y": [True, False] * 201}
        # The noise of a count is 3.2: 402 are seen, 134 are not, 36 deviations off either way.
        monkeypatch.setattr(correction, "_SEEN", 78.0)
        model = learn.LogisticRegression(schema, "y", dp.ApproxDP(20, "1e-6"), steps=3)
        model.fit(table, ledger=ledger())
        assert all(one.high - one.low > 10 for one in model.coefficients()[:-1])

    def test_several_classes_have_intervals_each(self):
        rows, _ = people(6000)
        kind = np.array(["a", "b", "c"])[np.minimum(rows["age"] // 33, 2)]
        schema = dp.Schema(
            "t", dp.Rows(), {"age": dp.Integer(0, 99), "k": dp.Category(["a", "b", "c"])}
        )
        model = learn.LogisticRegression(schema, "k", SPEND).fit(
            {"age": rows["age"], "k": kind}, ledger=ledger()
        )
        assert model.coef_interval(of="a")["age"][1] < 0 < model.coef_interval(of="c")["age"][0]
        for of in (None, "z"):
            with pytest.raises(InvalidArgument, match="of is a class"):
                model.coef_interval(of=of)
        with pytest.raises(InvalidArgument, match="two classes"):
            model.proba_interval({"age": [1]})

    def test_summary_and_html_are_in_the_columns_own_units(self):
        rows, _ = people()
        model = learn.LogisticRegression(SCHEMA, "y", SPEND)
        assert "LogisticRegression" in model._repr_html_()
        model.fit(rows, ledger=ledger())
        text = model.summary()
        assert "2.5 %" in text and "intercept" in text and "bias" in text and "Fraction" not in text
        assert "<table" in model._repr_html_() and "sex=m" in model._repr_html_()
        again = model_from_json(
            model_to_json(model), {"LogisticRegression": learn.LogisticRegression}
        )
        assert again.summary().splitlines()[1:] == text.splitlines()[1:]
        effects = learn.AdditiveClassifier(SCHEMA, "y", SPEND, bins=4).fit(rows, ledger=ledger())
        assert "noise alone" in effects.summary() and "<table" in effects._repr_html_()
        for level in (0, 1, float("nan"), "x", True):
            with pytest.raises(InvalidArgument, match="level is a share"):
                model.coef_interval(level)

    def test_a_model_of_an_earlier_release_still_predicts_and_says_what_it_lacks(self):
        rows, _ = people(2000)
        model = learn.LogisticRegression(SCHEMA, "y", SPEND).fit(rows, ledger=ledger())
        old = {name: model.fitted_[name] for name in ("coefficients", "deviations", "count")}
        model.fitted_ = old
        assert model.predict(rows).shape == (2000,)
        assert "LogisticRegression" in model.summary()
        with pytest.raises(InvalidArgument, match="earlier release"):
            model.coef_interval()


class TestBarsOfARegressor:
    """Bars of `AdditiveRegressor` hold what the ridge penalty took away from its effects."""

    def test_an_even_penalty_is_seen_as_it_is(self):
        """K = k and no errors: over all bins the squares of k·w are the squares of `shrinkage`."""
        domains = {name: domain_of_column(column) for name, column in COLUMNS.items()}
        design = design_of(domains, binned=True, bins=4)
        truth = np.random.default_rng(1).normal(size=design.width)
        none = np.zeros((1, design.width, design.width))
        found = shrinkage_of(design, 0.4 * np.eye(design.width), 0.6 * truth, none)
        missed = 0.0
        for feature, start in zip(design.features, design.starts, strict=True):
            block = 0.4 * truth[start : start + feature.width]
            missed += ((block - block.mean()) ** 2).sum()
        assert (found**2).sum() == pytest.approx(missed)

    @pytest.mark.statistical
    def test_they_hold_where_noise_alone_does_not(self):
        """At ρ = .0002 in .99 of bins, without in .66; means of 8 fits spread by .01: alarm ≤ 1e-9."""
        schema = dp.Schema("people", dp.Rows(), {**COLUMNS, "y": dp.Real(0, 100)})
        held = []
        for seed in range(8):
            rows, chance = people(seed=seed)
            rows["y"] = 100 * chance
            fits = []
            for spend in (dp.ZCDP(10**9), dp.ZCDP("0.0002")):
                model = learn.AdditiveRegressor(schema, "y", spend, features=["age"], bins=16)
                kept = dp.open_ledger(":memory:", dp.ZCDP(10**10))
                fits.append(model.fit(rows, ledger=kept).effects_)
            bare, noisy = (np.array(fit.columns[0].values) for fit in fits)
            deviations = np.array(fits[1].columns[0].deviations)
            # Bins from 19 to 88 years, in which there are people; their mean says nothing.
            seen = [
                place
                for place, label in enumerate(fits[1].columns[0].labels)
                if label[4:6].isdigit() and 18 < int(label[4:6]) < 88
            ]
            apart = (bare - noisy)[seen]
            held.append(np.abs(apart - apart.mean()) <= 2 * deviations[seen])
        assert np.mean(held) > 0.85

    def test_labels_are_in_the_columns_own_units(self):
        columns = {"paid": dp.Real(0, 1000), "on": dp.Date("2024-01-01", "2024-12-31")}
        schema = dp.Schema("t", dp.Rows(), {**columns, "y": dp.Real(0, 1)})
        rows = {"paid": [0.5] * 50, "on": ["2024-03-01"] * 50, "y": [0.5] * 50}
        model = learn.AdditiveRegressor(schema, "y", SPEND, bins=4).fit(rows, ledger=ledger())
        paid, on = model.effects_.columns
        assert paid.labels[-2] == "paid[750,1000)" and on.labels[0] == "on[2024-01-01,2024-01-02)"
        assert "shrinkage" in model.summary() and "noise alone" not in str(model.effects_)


class TestContrasts:
    def test_centring_changes_no_prediction(self):
        domains = {name: domain_of_column(column) for name, column in COLUMNS.items()}
        design = design_of(domains)
        rng = np.random.default_rng(4)
        weights = rng.normal(size=design.width)
        rows = np.zeros((20, design.width))
        rows[:, :2] = rng.uniform(-1, 1, (20, 2))
        for feature, start in zip(design.features, design.starts, strict=True):
            if feature.width > 1:
                rows[np.arange(20), start + rng.integers(0, feature.width, 20)] = 1.0
        rows[:, -1] = 1.0
        assert np.allclose(rows @ weights, rows @ (centring(design) @ weights))
        assert np.allclose(rows @ idle_directions(design), 0.0)


class TestDescentAsBefore:
    def test_quantiles_have_no_recalibration(self):
        schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 9), "y": dp.Integer(0, 9)})
        assert len(learn.QuantileRegression(schema, "y", SPEND).plan().releases) == 2
        assert Descent(at=0.5).intervals is False
