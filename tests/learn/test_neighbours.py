"""One row more or less: integer sums move by at most the declared sensitivity, and the worst row reaches it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.learn import noisy_sum
from discreet.learn.coding.design import design_of
from discreet.learn.coding.feature import UNIT
from discreet.learn.coding.label import Amount, amount_of, classes_of
from discreet.learn.frame import read_columns
from discreet.learn.private_sum import FINE, _clipped
from discreet.learn.recipes.moments import LeastSquares, label_unit
from discreet.learn.recipes.steps import Descent
from discreet.learn.recipes.sums import ClassSums
from discreet.learn.task import Task
from discreet.learn.training import steps as steps_module
from discreet.learn.training.gram import ACROSS, ALONG
from discreet.learn.training.influence import Influence
from discreet.learn.training.source import Arrays
from discreet.query.domains.domain import domain_of_column

COLUMNS = {
    "x": dp.Integer(-50, 50),
    "z": dp.Real(0, 1),
    "sex": dp.Category(["f", "m"]),
    "y": dp.Real(0, 10),
}
CLASSES = {**COLUMNS, "y": dp.Category(["a", "b", "c"])}


def task_of(columns, label, *, binned=False) -> tuple[Task, dict]:
    domains = {name: domain_of_column(column) for name, column in columns.items()}
    design = design_of(
        {name: domain for name, domain in domains.items() if name != "y"}, binned=binned
    )
    return Task(design, label("y", domains["y"])), domains


def table(rows) -> dict:
    return {
        name: np.array([row[place] for row in rows], dtype=object)
        for place, name in enumerate(["x", "z", "sex", "y"])
    }


def vector(exact) -> np.ndarray:
    """Write moments as they are released: the upper triangle, √2 as 1393/985."""
    square, cross, own = exact
    rows, columns = np.triu_indices(len(square))
    factors = np.where(rows == columns, ALONG, ACROSS)
    return np.concatenate(
        [square[rows, columns] * factors, (cross * ACROSS).ravel(), own * ALONG]
    ).astype(object)


ROW = st.tuples(
    st.one_of(st.none(), st.integers(-(10**9), 10**9), st.just(float("nan"))),
    st.one_of(st.none(), st.floats(-1e9, 1e9)),
    st.sampled_from(["f", "m", "?", None]),
    st.one_of(st.none(), st.floats(-1e6, 1e6)),
)


class TestMomentsMoveByAtMostTheirSensitivity:
    """‖Σ zzᵀ − Σ z'z'ᵀ‖ ≤ ‖x‖² + ‖y‖² for one row more; √2 times that for one row exchanged."""

    @given(rows=st.lists(ROW, min_size=2, max_size=4))
    @settings(max_examples=40)
    def test_any_row(self, rows):
        task, domains = task_of(COLUMNS, amount_of)
        unit = label_unit(task)

        def moments(part):
            return vector(
                Arrays(read_columns(task, domains, table(part), None)).moments(
                    task.design, task.label, unit
                )
            )

        bound = task.design.squared_norm + unit**2
        assert (
            (moments(rows) - moments(rows[:-1])) ** 2
        ).sum() <= ALONG**2 * Influence().squared_psd(bound)
        exchanged = Influence(neighbours="replace").squared_psd(bound)
        assert (
            (moments(rows[:-1]) - moments([*rows[:-2], rows[-1]])) ** 2
        ).sum() <= ALONG**2 * exchanged

    def test_the_worst_row_reaches_the_claimed_mu(self):
        task, domains = task_of({"x": COLUMNS["x"], "y": COLUMNS["y"]}, amount_of)
        training = LeastSquares().plan(task, dp.GaussianDP(1), Influence())
        unit, noise = label_unit(task), training.releases[0].noise
        worst = {"x": np.array([50]), "y": np.array([10.0])}
        moved = vector(
            Arrays(read_columns(task, domains, worst, None)).moments(task.design, task.label, unit)
        )
        reached = math.sqrt(float((moved**2).sum())) / float(noise.scale)
        assert 0.999 < reached <= 1.0

    def test_a_twin_with_a_norm_off_by_one_is_refuted(self):
        """Who forgets the constant column states less than one row moves."""
        task, domains = task_of({"x": COLUMNS["x"], "y": COLUMNS["y"]}, amount_of)
        unit = label_unit(task)
        worst = {"x": np.array([50]), "y": np.array([10.0])}
        moved = vector(
            Arrays(read_columns(task, domains, worst, None)).moments(task.design, task.label, unit)
        )
        forgotten = task.design.squared_norm - UNIT**2 + unit**2
        assert (moved**2).sum() > ALONG**2 * Influence().squared_psd(forgotten)


class TestStepsMoveByAtMostTheClip:
    """|r|·‖Px‖ ≤ C in whole numbers: the exact gradient of a neighbour differs by at most C, at every step."""

    @pytest.mark.parametrize(("columns", "label"), [(COLUMNS, amount_of), (CLASSES, classes_of)])
    def test_exact_gradients(self, columns, label, monkeypatch):
        task, domains = task_of(columns, label)
        rng, seen = np.random.default_rng(5), []
        ends = (
            np.array(["a", "b", "c"], dtype=object)
            if label is classes_of
            else np.array([0.0, 10.0])
        )
        rows = [
            (rng.integers(-50, 51), rng.random(), "fm"[rng.integers(2)], rng.choice(ends))
            for _ in range(60)
        ]
        rows.append((50, 1.0, "?", ends[0]))
        image = steps_module._image

        def note(whitened, sums, count):
            seen.append((whitened, sums))
            return image(whitened, sums, count)

        monkeypatch.setattr(steps_module, "_image", note)
        recipe = Descent(3, 0.05)
        training = recipe.plan(task, dp.ApproxDP(5, 1e-6), Influence())
        recipe.train(task, training, Arrays(read_columns(task, domains, table(rows), None)))
        assert len(seen) == 3
        whitened, _ = seen[0]
        coded, _ = Arrays(read_columns(task, domains, table(rows), None)).rows(
            task.design, task.label
        )
        caps = steps_module._caps(coded, whitened)
        norms = [math.isqrt(int(s)) + 1 for s in coded.squares(whitened.matrix)]
        wanted = np.full((len(coded), 1 if isinstance(task.label, Amount) else 3), 1 << 14)
        clipped = steps_module._clip(wanted, caps).astype(object)
        assert (np.sqrt((clipped**2).sum(axis=1).astype(float)) > 0).all()
        squared = [
            int((row**2).sum()) * int(s)
            for row, s in zip(clipped, coded.squares(whitened.matrix), strict=True)
        ]
        assert all(product <= whitened.clip**2 for product in squared)
        assert max(squared) > 0.9 * whitened.clip**2  # some row is clipped, so the bound is reached
        assert any(
            (cap + 2) * (norm - 1) > whitened.clip
            for cap, norm in zip(caps.tolist(), norms, strict=True)
        )


class TestSumsByClass:
    def test_a_row_moves_one_class_by_its_own_norm(self):
        task, domains = task_of(CLASSES, classes_of)
        source = Arrays(read_columns(task, domains, table([(50, 1.0, "f", "b")]), None))
        exact = source.sums(task.design, task.label, squares=True)
        assert not exact[[0, 2]].any()
        training = ClassSums(squares=True).plan(task, dp.ZCDP(1), Influence())
        assert (exact.astype(object) ** 2).sum() <= training.releases[
            0
        ].noise.event.squared_sensitivity


class TestNoisySum:
    """Rows of any length and any shape are clipped in whole numbers."""

    @given(
        st.lists(
            st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=3, max_size=3),
            min_size=1,
            max_size=5,
        )
    )
    @settings(max_examples=60)
    def test_no_row_is_longer_than_the_norm(self, rows):
        clean = np.nan_to_num(np.array(rows), nan=0.0, posinf=0.0, neginf=0.0)
        whole = _clipped(clean, 0.7)
        assert ((whole.astype(object) ** 2).sum(axis=1) <= FINE**2).all()

    def test_event_and_refusal(self):
        assert (
            noisy_sum(
                np.zeros((3, 2)), norm=1, multiplier=1, neighbours="replace"
            ).event.squared_sensitivity
            == 4 * FINE**2
        )
        with pytest.raises(dp.InvalidArgument, match="matrix"):
            noisy_sum([1.0], norm=1, multiplier=1)
