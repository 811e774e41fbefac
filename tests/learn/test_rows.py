"""Rows as whole numbers: nothing is clipped, every sum is exact, and no row's part in it depends on the others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.learn.coding.column_cells import Listed, read_cells, steps_of
from discreet.learn.coding.design import ModelDesign, design_of
from discreet.learn.coding.feature import UNIT
from discreet.learn.coding.rows import CodedRows
from discreet.query.domains.domain import domain_of_column
from discreet.workloads.public_bins import public_edges

COLUMNS = {
    "age": dp.Integer(-3, 120),
    "income": dp.Real(0, 250_000, step="0.01"),
    "born": dp.Date("1900-01-01", "2020-12-31"),
    "sex": dp.Category(["f", "m"]),
    "ok": dp.Boolean(null_key=True),
    "floor": dp.Category([1, 2, 3]),
}
DOMAINS = {name: domain_of_column(column) for name, column in COLUMNS.items()}


def coded(binned: bool, count: int = 50, seed: int = 0) -> tuple[ModelDesign, CodedRows]:
    rng = np.random.default_rng(seed)
    design = design_of(DOMAINS, binned=binned)
    cells = {
        "age": steps_of([None, *rng.integers(-(10**6), 10**6, count - 1).tolist()]),
        "income": steps_of(rng.integers(-(2**40), 2**40, count).tolist()),
        "born": steps_of(rng.integers(-30_000, 20_000, count).tolist()),
        "sex": Listed(rng.choice(np.array(["f", "m", "x", None], dtype=object), count).tolist()),
        "ok": Listed(rng.choice(np.array([True, False, None], dtype=object), count).tolist()),
        "floor": Listed(rng.integers(0, 5, count).tolist()),
    }
    return design, design.code(cells, rng.integers(1, 64, count).tolist())


def whole(rows: CodedRows) -> list[list[int]]:
    """Write the rows out in Python's integers."""
    return [[round(value * UNIT) for value in row] for row in rows.dense().tolist()]


class TestNoRowIsLongerThanItsBound:
    """‖x‖² ≤ UNIT²·(features + 1) for every row, whatever its cells hold."""

    @pytest.mark.parametrize("binned", [False, True])
    def test_hostile_cells(self, binned):
        design, rows = coded(binned)
        assert all(sum(value**2 for value in row) <= design.squared_norm for row in whole(rows))
        assert design.width == len(design.labels) == rows.width

    @given(low=st.integers(-1000, 1000), width=st.integers(0, 10**6), bins=st.integers(1, 40))
    @settings(max_examples=50)
    def test_edges_lie_inside_and_rise(self, low, width, bins):
        edges = public_edges(low, low + width, bins)
        assert list(edges) == sorted(set(edges))
        assert all(low < edge <= low + width for edge in edges)


class TestSumsAreExact:
    """Margins, pushes, squared norms and moments equal those of Python's integers, in any order and any company."""

    @pytest.mark.parametrize("binned", [False, True])
    def test_against_integers(self, binned):
        design, rows = coded(binned, 20)
        table, rng = whole(rows), np.random.default_rng(1)
        vector = rng.integers(1 - 2**31, 2**31, design.width)
        matrix = rng.integers(-(2**14), 2**14, (design.width, design.width))
        factors = rng.integers(-(2**18), 2**18, len(rows))
        expected = [sum(x * int(v) for x, v in zip(row, vector, strict=True)) for row in table]
        assert rows.margins(vector).tolist() == expected
        pushed = [
            sum(
                int(w) * int(f) * row[j]
                for w, f, row in zip(rows.weights, factors, table, strict=True)
            )
            for j in range(design.width)
        ]
        assert rows.push(factors).tolist() == pushed
        images = np.array(matrix, dtype=object) @ np.array(table, dtype=object).T
        assert rows.squares(matrix).tolist() == (images**2).sum(axis=0).tolist()
        labels = rng.integers(-(2**14), 2**14, (len(rows), 2))
        square, cross, own = rows.gram(labels)
        weighted = np.array(table, dtype=object) * rows.weights[:, None].astype(object)
        assert square.tolist() == (np.array(table, dtype=object).T @ weighted).tolist()
        assert cross.tolist() == (weighted.T @ labels.astype(object)).tolist()
        assert own.tolist() == (rows.weights.astype(object) @ labels.astype(object) ** 2).tolist()

    def test_company_changes_nothing(self):
        design, rows = coded(False, 300)
        vector = np.random.default_rng(2).integers(-(2**31), 2**31, design.width)
        order = np.random.default_rng(3).permutation(len(rows))
        mixed = CodedRows(rows.numbers[order], rows.codes[order], rows.weights[order], rows.width)
        alone = [
            CodedRows(
                rows.numbers[i : i + 1], rows.codes[i : i + 1], rows.weights[i : i + 1], rows.width
            ).margins(vector)
            for i in range(len(rows))
        ]
        assert rows.margins(vector).tolist() == np.concatenate(alone).tolist()
        assert rows.margins(vector)[order].tolist() == mixed.margins(vector).tolist()


class TestCells:
    def test_what_cannot_be_read_is_null(self):
        cells = read_cells(DOMAINS["age"], np.array(["7", "x", None, "1e99"], dtype=object))
        assert (cells.steps.tolist(), cells.missing.tolist()) == (
            [7, 0, 0, 120],
            [False, True, True, False],
        )
        assert read_cells(DOMAINS["sex"], ["f", None, "F"]).values == ["f", None, "F"]
        assert read_cells(DOMAINS["born"], ["1970-01-02", "?", "2999-01-01"]).steps.tolist() == [
            1,
            0,
            18627,
        ]
        assert read_cells(DOMAINS["floor"], np.array([1.0, np.nan, 2.5])).values == [1, None, None]

    def test_refusals(self):
        with pytest.raises(InvalidArgument, match="free text"):
            design_of({"name": domain_of_column(dp.Text(20))})
        with pytest.raises(InvalidArgument, match="no edge of age"):
            design_of(DOMAINS, binned=True, edges={"age": [500]})
        with pytest.raises(InvalidArgument, match="listed value"):
            design_of(DOMAINS, binned=True, edges={"sex": [1]})
        with pytest.raises(InvalidArgument, match="at least one column"):
            design_of({})
        assert (
            design_of(
                {"age": DOMAINS["age"]}, binned=True, edges={"age": [18, "64.5" and 64.5]}
            ).width
            == 5
        )
