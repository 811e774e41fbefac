import math
import pickle
from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP, read_measure

ALL = [PureDP(1), ApproxDP(1, "1e-6"), ZCDP("0.5"), GaussianDP(1), RenyiDP({2: 1, 8: 4})]


def test_amounts_are_exact():
    assert sum([PureDP(0.05)] * 19, PureDP(0.05)) == PureDP(1)
    assert 20 * ApproxDP(0.05, "1e-7") == ApproxDP(1, "2e-6")
    assert ZCDP(0.1) + ZCDP(0.2) == ZCDP("0.3")
    assert 2 * ZCDP("1/8") == ZCDP(0.25)
    assert GaussianDP(3) + GaussianDP(4) == GaussianDP(5)
    assert 4 * GaussianDP(1) == GaussianDP(2)
    assert 2 * RenyiDP({2: "0.5"}) == RenyiDP({2: 1})
    assert RenyiDP({2: "0.5"}) + RenyiDP({2: "0.5"}) == RenyiDP({2: 1})
    assert ApproxDP(1, "0.1") + ApproxDP(2, "0.2") == ApproxDP(3, "0.3")


@pytest.mark.parametrize(
    ("measure", "shown", "spoken"),
    [
        (PureDP("1/3"), "PureDP(1/3)", "ε = 1/3"),
        (PureDP("100001/300001"), "PureDP(100001/300001)", "ε = 0.333336"),
        (ZCDP("1e-400"), f"ZCDP(1/{10**400})", "ρ = 1e-400"),
        (ApproxDP(1, 1e-6), "ApproxDP(1, 1e-06)", "(ε, δ) = (1, 1e-06)"),
        (ZCDP(0.5), "ZCDP(0.5)", "ρ = 0.5"),
        (GaussianDP(2), "GaussianDP(2)", "μ = 2"),
        (GaussianDP(0.6), "GaussianDP(0.6)", "μ = 0.6"),
        (GaussianDP.of_square(2), "GaussianDP.of_square(2)", "μ = 1.41422"),
        (RenyiDP({8: 4, 2: 1}), "RenyiDP({2: 1, 8: 4})", "ε(α) = 1 at 2, 4 at 8"),
    ],
)
def test_printing(measure, shown, spoken):
    assert (repr(measure), str(measure)) == (shown, spoken)


def test_a_long_order_is_shown_rounded_down_and_its_amount_up():
    """A bound holds at all smaller orders, but not at greater ones."""
    promise = RenyiDP({Fraction(4_000_001, 3_000_000): Fraction(1_000_001, 3_000_000)})
    assert str(promise) == "ε(α) = 0.333334 at 1.33333"


def test_mu_is_rounded_up():
    assert Fraction(GaussianDP.of_square(2).mu) ** 2 >= 2
    assert GaussianDP.of_square(4).mu == 2.0


@pytest.mark.parametrize("measure", ALL)
def test_values_are_values(measure):
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert hash(measure) == hash(pickle.loads(pickle.dumps(measure)))
    assert read_measure(measure) is measure
    assert measure.implies(measure)
    assert pickle.loads(pickle.dumps(measure)) <= measure
    with pytest.raises(TypeError):
        measure + 1
    with pytest.raises(TypeError):
        measure <= 1  # noqa: B015


@pytest.mark.parametrize("kind", [PureDP, ZCDP, GaussianDP])
@pytest.mark.parametrize("wrong", [-1, float("nan"), float("inf"), "many", None, True])
def test_bad_amounts_are_refused(kind, wrong):
    with pytest.raises(InvalidArgument):
        kind(wrong)


@pytest.mark.parametrize("delta", [1, 2, -0.1, float("nan")])
def test_bad_delta_is_refused(delta):
    with pytest.raises(InvalidArgument, match="delta"):
        ApproxDP(1, delta)


def test_bad_orders_are_refused():
    for orders in ({}, {1: 1}, {0.5: 1}):
        with pytest.raises(InvalidArgument, match="order"):
            RenyiDP(orders)
    with pytest.raises(InvalidArgument, match="same orders"):
        RenyiDP({2: 1}) + RenyiDP({3: 1})
    with pytest.raises(InvalidArgument, match="times"):
        -1 * PureDP(1)


def test_no_measure():
    with pytest.raises(InvalidArgument, match="a measure is expected"):
        read_measure("ε = 1")
    with pytest.raises(InvalidArgument, match="a measure is expected"):
        PureDP(1).implies(3)


class TestOrder:
    """a <= b: whoever keeps a keeps b."""

    @pytest.mark.parametrize(
        ("small", "large"),
        [
            (PureDP(1), PureDP(2)),
            (PureDP(1), ApproxDP(1, 0)),
            (PureDP(1), ApproxDP("0.99", "0.01")),
            (ApproxDP(1, 0), PureDP(1)),
            (ApproxDP(1, "1e-6"), ApproxDP(1, "1e-6")),
            (ApproxDP(1, "1e-6"), ApproxDP("0.9", "0.1")),
            (PureDP(1), ZCDP("0.463")),
            (PureDP(1), GaussianDP("1.2321")),
            (PureDP(1), RenyiDP({2: "0.7354"})),
            (GaussianDP(1), ZCDP("0.5")),
            (GaussianDP(1), ApproxDP(1, "0.12694")),
            (ZCDP("0.5"), RenyiDP({2: "1.0000001", 8: "4.000001"})),
            (ZCDP("0.5"), ApproxDP("5.2216", "1e-6")),
            (RenyiDP({2: 1, 8: 2}), ApproxDP("3.6", "1e-6")),
            (RenyiDP({2: 1, 8: 2}), RenyiDP({2: "1.001"})),
        ],
    )
    def test_within(self, small, large):
        assert small <= large
        assert large >= small

    @pytest.mark.parametrize(
        ("large", "small"),
        [
            (PureDP(2), PureDP(1)),
            (ApproxDP(1, "1e-6"), PureDP(9)),
            (ApproxDP(1, "1e-6"), ApproxDP(9, "1e-7")),
            (PureDP(1), ZCDP("0.462")),
            (ZCDP("0.5"), GaussianDP(9)),
            (ZCDP("0.5"), PureDP(99)),
            (GaussianDP(1), ApproxDP(1, "0.12693")),
            (RenyiDP({2: 1}), RenyiDP({3: 9})),
            (RenyiDP({2: 1}), ZCDP(9)),
        ],
    )
    def test_not_within(self, large, small):
        assert not large <= small


def test_curves():
    assert ZCDP("0.5").epsilon(1e-6) == pytest.approx(5.2215344445)
    assert ZCDP("0.5").delta(epsilon=5.2215344445301) == pytest.approx(1e-6)
    assert GaussianDP(1).delta(1) == pytest.approx(0.12693673750664)
    assert RenyiDP({6: 3}).epsilon(1e-6) == pytest.approx(
        3 + math.log(1e6 / 6) / 5 + math.log(5 / 6)
    )
    with pytest.raises(InvalidArgument, match="delta"):
        ZCDP(1).epsilon(1)
    with pytest.raises(InvalidArgument, match="epsilon"):
        ZCDP(1).delta(-1)


class TestRenyiOrders:
    @pytest.mark.parametrize("given", [[1, 2], 3, "2: 1", None])
    def test_takes_a_mapping(self, given):
        with pytest.raises(InvalidArgument, match="takes a mapping"):
            RenyiDP(given)

    def test_every_order_once(self):
        with pytest.raises(InvalidArgument, match="twice"):
            RenyiDP({2: 1, "2": 3})

    def test_lower_orders_follow_exactly(self):
        assert RenyiDP({2: 1}) <= RenyiDP({1.5: 1})
        assert RenyiDP({2: 1, 3: 2}) <= RenyiDP({"5/2": "5/3"})
        assert not RenyiDP({2: 1, 3: 2}) <= RenyiDP({"5/2": "1.66666"})
        assert not RenyiDP({2: 1}) <= RenyiDP({"2.1": 100})


def test_amounts_beyond_the_floats_print():
    assert repr(PureDP(10**400)) == f"PureDP({10**400})"
