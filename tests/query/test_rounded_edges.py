"""Decimals against real columns: values and literals are rounded by one rule, so decimals compare as they are written."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import ceil, floor

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import discreet as dp
from discreet.query.algebra.expression import Call, Constant, Field, Function
from discreet.query.algebra.tally import Free, Tally, Term
from discreet.query.algebra.tree import Scan
from discreet.query.domains.arithmetic import half_up
from discreet.query.domains.domain import Whole, domain_of_column
from discreet.query.domains.domain_of import domain_of
from discreet.query.domains.rounded_edges import rounded_bin, rounded_test
from discreet.query.meaning.evaluate import evaluate

F = Function
X = Field("x")
ONE = Term(Constant(True), 1, 0, 1)
places = st.integers(-4000, 4000).map(lambda cents: Fraction(cents, 100))
columns = st.sampled_from(
    [dp.Real(-50, 50), dp.Real(0, 500), dp.Real(-40, 3), dp.Real(0, 45, step=0.01)]
)


def inside(column, value):
    return min(max(value, column.low), column.high)


class TestDecimals:
    """For decimals of two places, far coarser than the grid, every comparison with a·x + b is the exact one."""

    @example(dp.Real(-50, 50), Fraction(1, 10), Fraction(1, 10), F.UNEQUAL, False)
    @given(
        columns,
        places,
        places,
        st.sampled_from([F.EQUAL, F.UNEQUAL, F.LESS, F.AT_MOST]),
        st.booleans(),
    )
    def test_comparisons(self, column, value, literal, function, turned):
        value, domains = inside(column, value), {"x": domain_of_column(column)}
        row = {"x": column.read(str(float(value)))}
        sides = (Constant(literal), X) if turned else (X, Constant(literal))
        x, y = (literal, value) if turned else (value, literal)
        exact = {F.EQUAL: x == y, F.UNEQUAL: x != y, F.LESS: x < y, F.AT_MOST: x <= y}[function]
        assert evaluate(Call(function, sides), row, domains) is exact
        shifted = Call(F.SUBTRACT, (Constant(3), Call(F.MULTIPLY, (Constant(Fraction(1, 2)), X))))
        moved = Constant(3 - literal / 2)
        flipped = (shifted, moved) if turned else (moved, shifted)  # 3 − x/2 turns the order around
        assert evaluate(Call(function, flipped), row, domains) is exact

    @given(columns, places, st.lists(places, min_size=1, max_size=4))
    def test_lists(self, column, value, literals):
        value = inside(column, value)
        row, domains = {"x": column.read(float(value))}, {"x": domain_of_column(column)}
        found = evaluate(Call(F.AMONG, (X, *map(Constant, literals))), row, domains)
        assert found is (value in literals)

    @given(
        columns,
        places,
        st.sampled_from(
            [Fraction(10), Fraction(100), Fraction(-10), Fraction(1, 7), Fraction(20, 3)]
        ),
        places,
        st.sampled_from([(F.FLOOR, floor), (F.CEILING, ceil), (F.ROUND, half_up)]),
    )
    def test_bins(self, column, value, times, plus, way):
        function, exact = way
        value = inside(column, value)
        row, domains = {"x": column.read(float(value))}, {"x": domain_of_column(column)}
        scaled = Call(F.ADD, (Call(F.MULTIPLY, (X, Constant(times))), Constant(plus)))
        bins = Call(function, (scaled,))
        found, domain = evaluate(bins, row, domains), domain_of(bins, domains)
        assert found == exact(value * times + plus)
        assert domain.low <= found <= domain.high

    @given(
        st.integers(-300, 300),
        st.integers(1, 40),
        st.integers(-40, 40),
        st.integers(1, 40),
        st.booleans(),
    )
    def test_a_bin_is_the_last_edge_that_is_not_above(self, steps, top, plus, bottom, down):
        """The closed form, against the definition: edges rounded one by one, halves to even."""
        times, grid = Fraction(-top if down else top, bottom), Fraction(1, 16)
        domain = {"x": Whole(grid, -300, 300, rounded=True)}
        scaled = Call(
            F.SUBTRACT, (Call(F.MULTIPLY, (Constant(times), X)), Constant(Fraction(plus, 7)))
        )
        rule = rounded_bin(Call(F.FLOOR, (scaled,)), domain)
        if rule is None:
            return
        side = -1 if down else 1
        edge = lambda j: round((j + Fraction(plus, 7)) / (abs(times) * grid))  # noqa: E731
        found = rule.at(steps)
        assert edge(found) <= side * steps < edge(found + 1)


@cache
def store():
    return dp.DuckDB({"t": pa.table({"x": TestStores.CELLS})})


class TestStores:
    """All stores mean the same: three rows each of 0.0, 0.1 … 1.9 in a column without a declared step."""

    CELLS = [float(Decimal(i) / 10) for i in range(20) for _ in range(3)]
    SCHEMA = dp.Schema("t", dp.Rows(), {"x": dp.Real(0, 2)})

    def totals(self, expression):
        tally = Tally(Scan(self.SCHEMA), (expression,), (ONE,), Free())
        found = store().tally(tally)
        assert found == dp.Memory({"t": [{"x": cell} for cell in self.CELLS]}).tally(tally)
        return {key[0]: total[0] for key, total in found.items()}

    @pytest.mark.untraced
    def test_thresholds(self):
        for tenth in (0, 1, 3, 7, 19):
            literal = Constant(Fraction(tenth, 10))
            assert self.totals(Call(F.AT_MOST, (literal, X))).get(True, 0) == 60 - 3 * tenth
            assert self.totals(Call(F.AMONG, (X, literal)))[True] == 3

    @pytest.mark.untraced
    @pytest.mark.parametrize("function", [F.FLOOR, F.CEILING, F.ROUND])
    @pytest.mark.parametrize("sign", [1, -1])
    def test_bins(self, function, sign):
        tenths = Call(function, (Call(F.DIVIDE, (X, Constant(Fraction(sign, 10)))),))
        assert self.totals(tenths) == {sign * tenth: 3 for tenth in range(20)}


def test_what_is_exact_is_left_alone():
    grid = {"x": Whole(Fraction(1, 8), 0, 80, rounded=True), "n": Whole(Fraction(1), 0, 9), "y": Whole(Fraction(1), 0, 2**61, rounded=True)}  # fmt: skip
    third, text = Constant(Fraction(1, 3)), Constant("a")
    for call in (
        Call(F.LESS, (X, Constant(Fraction(3, 8)))),  # on the grid
        Call(F.LESS, (Field("n"), third)),  # whole numbers were not rounded to it
        Call(F.LESS, (X, X)),
        Call(F.LESS, (X, text)),
        Call(F.LESS, (X,)),
        Call(F.EQUAL, (Call(F.MULTIPLY, (X, Constant(0))), third)),
        Call(F.EQUAL, (Call(F.MULTIPLY, (X, X)), third)),
        Call(F.EQUAL, (Call(F.ABSOLUTE, (X,)), third)),
        Call(F.LESS, (X, Constant(Fraction(2**70, 3)))),
        Call(F.NOT, (X,)),
    ):
        assert rounded_test(call, grid) is None
    for inner in (X, Field("n"), Call(F.MULTIPLY, (X, X)), Call(F.MULTIPLY, (Field("y"), third))):
        assert rounded_bin(Call(F.FLOOR, (inner,)), grid) is None
    assert rounded_bin(Call(F.NEGATE, (X,)), grid) is None
    assert rounded_test(
        Call(F.LESS, (Call(F.ADD, (Constant(1), Call(F.NEGATE, (X,)))), third)), grid
    ).turned
    null = Call(F.LESS, (X, Constant(Fraction(1, 3))))
    assert evaluate(null, {"x": None}, grid) is None


def test_a_declared_step_is_compared_exactly():
    price = {"x": domain_of_column(dp.Real(0, 45, step=0.01))}
    above = Call(F.LESS, (Constant(Fraction("19.999")), X))
    assert evaluate(above, {"x": Fraction(20)}, price) is True
    assert (
        evaluate(Call(F.EQUAL, (X, Constant(Fraction("19.999")))), {"x": Fraction(20)}, price)
        is False
    )
