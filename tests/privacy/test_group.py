from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.events import (
    Batch,
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    Parallel,
    Promise,
    Repeated,
    Response,
    Sampled,
    Sequence,
    TruncatedGeometricNoise,
)
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.pricing.group import delta_factor, group_privacy, parallel_price
from discreet.privacy.pricing.group_event import group_event
from discreet.privacy.pricing.pure import price_pure
from discreet.privacy.pricing.zcdp import price_zcdp

LAP = LaplaceNoise(2, 1)
GAUSS = GaussianNoise.of(2, 1)


class TestMeasures:
    """A promise to one unit is a promise to K, at a known price."""

    @pytest.mark.parametrize(
        ("one", "three"),
        [
            (PureDP("0.1"), PureDP("0.3")),
            (ApproxDP("0.1", 0), ApproxDP("0.3", 0)),
            (ApproxDP(0, "0.01"), ApproxDP(0, "0.03")),
            (ZCDP("0.1"), ZCDP("0.9")),
            (GaussianDP("0.1"), GaussianDP("0.3")),
            (RenyiDP({4: 1, 8: 2, 16: 3}), RenyiDP({2: 18, 4: 27})),
        ],
    )
    def test_three(self, one, three):
        assert group_privacy(one, 3) == three
        assert group_privacy(one, 1) is one

    def test_delta_grows_by_a_geometric_series(self):
        two = group_privacy(ApproxDP(1, "1e-6"), 3)
        assert two.epsilon == 3
        assert float(two.delta) == pytest.approx(11.107337927389695e-6, rel=1e-11)
        assert two.delta > Fraction("11.107337927389695e-6")

    def test_the_factor_overflows_to_infinity(self):
        assert delta_factor(100.0, 8) == float("inf")
        assert delta_factor(0.0, 8) == 8.0

    def test_refusals(self):
        with pytest.raises(InvalidArgument, match="δ reaches 1"):
            group_privacy(ApproxDP(10, "1e-3"), 2)
        with pytest.raises(InvalidArgument, match="order of at least 4"):
            group_privacy(RenyiDP({2: 1}), 2)
        with pytest.raises(InvalidArgument, match="size"):
            group_privacy(PureDP(1), 0)


class TestEvents:
    """Additive noise meets K times the sensitivity; the rest is known by its promise."""

    @pytest.mark.parametrize(
        ("one", "three"),
        [
            (LaplaceNoise(2, 1, "1/4"), LaplaceNoise(2, 3, "1/4")),
            (DiscreteLaplaceNoise(2, 1), DiscreteLaplaceNoise(2, 3)),
            (TruncatedGeometricNoise(2, 1, 0, 9), TruncatedGeometricNoise(2, 3, 0, 9)),
            (GaussianNoise(4, 2, 1, 5), GaussianNoise(4, 18, 1, 5)),
            (DiscreteGaussianNoise(4, 2, 3, 1), DiscreteGaussianNoise(4, 18, 3, 3)),
            (DiscreteGaussianNoise(4, 2, 3), DiscreteGaussianNoise(4, 18, 3)),
            (BinomialNoise(9, 1), BinomialNoise(9, 3)),
            (ExponentialSelection(1), ExponentialSelection(3)),
            (Repeated(LAP, 2), Repeated(LaplaceNoise(2, 3), 2)),
            (Sequence([LAP]), Sequence([LaplaceNoise(2, 3)])),
            (Batch([LAP]), Batch([LaplaceNoise(2, 3)])),
            (Parallel([LAP, LAP]), LaplaceNoise(2, 3)),
            (Response(1, 4), Promise(PureDP(3), neighbours="replace")),
            (Promise(ZCDP(1)), Promise(ZCDP(9))),
            (Sampled(GAUSS, "0.5"), Promise(GaussianDP(Fraction(3, 2)))),
            (Parallel([GAUSS, GaussianNoise.of(4, 1)]), Promise(GaussianDP(Fraction(3, 2)))),
        ],
    )
    def test_three(self, one, three):
        assert group_event(one, 3) == three
        assert group_event(one, 1) is one

    def test_keys_shared_by_a_group_leak_more_than_size_times(self):
        noise = KeySelection(LaplaceNoise(1, 1), "1e-9")
        three = group_event(noise, 3)
        assert three.measure.epsilon == 3
        assert three.measure.delta > 11 * noise.delta

    def test_only_zcdp_is_known(self):
        event = Parallel([Promise(ZCDP(1)), Promise(ZCDP(2))])
        assert group_event(event, 2) == Promise(ZCDP(8))

    def test_unknown_is_refused(self):
        with pytest.raises(InvalidArgument, match="no promise of Sampled to a group of 2"):
            group_event(Sampled(BinomialNoise(9, 1), "0.5"), 2)


class TestParallel:
    """Max over public parts under add/remove; under replace the worst two, or a group of two."""

    def test_prices(self):
        parts = [LaplaceNoise(1, 1), LaplaceNoise(4, 1)]
        assert price_pure(Parallel(parts)) == 1
        assert price_pure(Parallel(parts, neighbours="replace")) == 2

    def test_unknown_parts(self):
        assert price_pure(Parallel([LAP, GAUSS])) is None

    def test_a_group_of_two_costs_at_most_what_its_measure_says(self):
        event = Parallel([Response("0.01", 9, neighbours="add-remove")], neighbours="replace")
        assert price_zcdp(event) == 4 * price_zcdp(Response("0.01", 9))
        known = lambda e: Fraction(1) if isinstance(e, Response) else None  # noqa: E731
        only_one = parallel_price(event, known, 4, lambda _event, _size: Promise(PureDP(1)))
        assert only_one == 4


@pytest.mark.parametrize("size", [1, 3])
def test_refuses_what_is_no_measure(size):
    with pytest.raises(InvalidArgument, match="a measure is expected"):
        group_privacy("x", size)
