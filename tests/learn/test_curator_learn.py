"""curator.learn: the store's own sums, one charge, one receipt, free again; people with many rows are kept in bounds."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet import learn
from discreet.curator.receipt_check import verify_receipt
from discreet.learn.coding.design import design_of
from discreet.learn.coding.feature import UNIT
from discreet.learn.coding.label import amount_of, classes_of
from discreet.learn.frame import read_columns
from discreet.learn.store.source import FULL_WEIGHT, Stored, influence_of
from discreet.learn.task import Task
from discreet.learn.training.source import Arrays, label_matrix
from discreet.query.algebra.tree import Scan
from discreet.query.bounds.relation_facts import columns_of

COLUMNS = {
    "age": dp.Integer(0, 99),
    "income": dp.Real(0, 1000, step="0.01"),
    "sex": dp.Category(["f", "m"]),
    "works": dp.Boolean(),
    "weight": dp.Real(0, 200),
    "height": dp.Real(0, 3, step="1/7"),
}
SPEND = dp.ApproxDP(1, "1e-6")


def rows(n=400, seed=3):
    rng = np.random.default_rng(seed)
    return [
        {
            "age": int(rng.integers(-5, 110)),
            "income": None if rng.random() < 0.1 else round(float(rng.uniform(-10, 1100)), 2),
            "sex": str(rng.choice(["f", "m", "?"])),
            "works": [True, False, None][rng.integers(3)],
            "weight": [float("nan"), 0.0, 200.0, 71.3][rng.integers(4)],
            "height": [0.0, 3.0, 1.76, None][rng.integers(4)],
            "id": int(rng.integers(0, 60)),
        }
        for _ in range(n)
    ]


def frame(made):
    return {name: np.array([row[name] for row in made], dtype=object) for name in COLUMNS}


class TestTheStoreAndTheArraysAgreeToTheLastDigit:
    """Σ xxᵀ, Σ xy, Σ y² and sums by class are the same integers from totals of a store, from its rows, and from arrays."""

    @pytest.mark.parametrize("store", [dp.Memory, dp.DuckDB])
    @pytest.mark.parametrize(
        ("target", "label"), [("income", amount_of), ("works", classes_of), ("sex", classes_of)]
    )
    def test_moments(self, store, target, label):
        made, schema = rows(), dp.Schema("people", dp.Rows(), COLUMNS)
        if store is dp.DuckDB:
            import pandas as pd

            engine = dp.DuckDB({"people": pd.DataFrame(made)})
        else:
            engine = dp.Memory({"people": made})
        domains = columns_of(Scan(schema))
        design = design_of({name: domain for name, domain in domains.items() if name != target})
        task = Task(design, label(target, domains[target]))
        arrays, stored = (
            Arrays(read_columns(task, domains, frame(made), None)),
            Stored(engine, Scan(schema)),
        )
        one, two = (
            arrays.moments(design, task.label, 2048),
            stored.moments(design, task.label, 2048),
        )
        coded, found = stored.rows(design, task.label)
        three = coded.gram(label_matrix(task.label, found, 2048))
        assert all(
            (a == b).all() and (a == c).all() for a, b, c in zip(one, two, three, strict=True)
        )
        if label is classes_of:
            for squares in (False, True):
                assert (
                    arrays.sums(design, task.label, squares=squares)
                    == stored.sums(design, task.label, squares=squares)
                ).all()


class TestPeople:
    def test_a_person_counts_at_most_as_declared(self):
        schema = dp.Schema("visits", dp.People("id", max_rows=3), COLUMNS)
        influence = influence_of(Scan(schema))
        assert (influence.weight, influence.unit) == (3 * FULL_WEIGHT, FULL_WEIGHT)
        made = [{**row, "id": 7} for row in rows(50)]
        coded, _ = Stored(dp.Memory({"visits": made}), Scan(schema)).rows(
            design_of({"age": columns_of(Scan(schema))["age"]}), None
        )
        assert 0 < coded.weights.sum() <= influence.weight

    def test_rows_without_a_label_are_rows_of_their_person(self):
        """One labelled row of four, 2 of which count: it weighs 1/2, by totals, by classes and row by row."""
        schema = dp.Schema("visits", dp.People("id", max_rows=2), COLUMNS)
        made = [{**row, "id": 7, "sex": "?"} for row in rows(4)]
        made[0]["sex"] = "f"
        stored, domains = (
            Stored(dp.Memory({"visits": made}), Scan(schema)),
            columns_of(Scan(schema)),
        )
        design, label = design_of({"works": domains["works"]}), classes_of("sex", domains["sex"])
        coded, _ = stored.rows(design, label)
        assert coded.weights.sum() == FULL_WEIGHT // 2
        square, _, _ = stored.moments(design, label, 2048)
        assert square[-1, -1] == FULL_WEIGHT // 2 * UNIT**2
        assert stored.sums(design, label, squares=False)[:, -1].sum() == FULL_WEIGHT // 2 * UNIT

    def test_fit_sends_people_to_the_curator(self):
        schema = dp.Schema("visits", dp.People("id", max_rows=3), COLUMNS)
        with pytest.raises(dp.InvalidArgument, match="train through a curator"):
            learn.LinearRegression(schema, "income", SPEND).fit(frame(rows(9)), ledger=None)


class TestTheCurator:
    def curator(self):
        schema = dp.Schema("people", dp.Rows(), COLUMNS)
        return dp.Curator(
            dp.Memory({"people": rows()}),
            [schema],
            dp.open_ledger(":memory:", dp.ApproxDP(3, "1e-5")),
        )

    def test_the_same_model_is_free_and_its_receipt_verifies(self):
        curator, sql = self.curator(), "SELECT age, sex, works FROM people WHERE age < 90"
        model = learn.LogisticRegression(target="works", steps=5)
        first = curator.learn(sql, model, SPEND)
        left = curator.left()
        assert not hasattr(model, "fitted_")
        again = curator.learn(sql.lower(), model, SPEND)
        assert (again.fitted_["coefficients"] == first.fitted_["coefficients"]).all()
        assert curator.left() == left
        verify_receipt(first.receipt_, ledger=curator.ledger)
        curator.learn(sql, learn.LogisticRegression(target="works", steps=6), SPEND)
        assert curator.left() != left

    def test_refused_before_the_charge(self):
        curator = self.curator()
        before = curator.left()
        for sql, model, words in (
            ("SELECT COUNT(*) FROM people", learn.LinearRegression(target="age"), "aggregates"),
            ("SELECT age FROM people", learn.LinearRegression(target="age"), "at least one column"),
            ("SELECT nope FROM people", learn.LinearRegression(target="age"), "nope"),
            ("SELECT age, income FROM people", "a model", "takes a model"),
        ):
            with pytest.raises(dp.DiscreetError, match=words):
                curator.learn(sql, model, SPEND)
        with pytest.raises(dp.BudgetExceeded):
            curator.learn(
                "SELECT age, income FROM people",
                learn.LinearRegression(target="age"),
                dp.ApproxDP(90, "1e-6"),
            )
        assert curator.left() == before
