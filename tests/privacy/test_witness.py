import pytest

from discreet.privacy.accountants.witness import witness, witnesses
from discreet.privacy.compose import compose
from discreet.privacy.events import (
    DiscreteGaussianNoise,
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
)
from discreet.privacy.measures import ZCDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.pricing.event_parts import flatten

LAP = LaplaceNoise(2, 1)
EXP = ExponentialSelection(1)


@pytest.mark.parametrize(
    ("event", "found"),
    [
        (LAP, LAP),
        (EXP, Promise(PureDP("0.5"))),
        (Promise(ZCDP("0.5")), Promise(GaussianDP(1))),
        (Promise(RenyiDP({2: 1, 8: 2})), Promise(GaussianDP.of_square("0.5"))),
        (DiscreteGaussianNoise(4, 5, 3), DiscreteGaussianNoise(4, 4)),
        (DiscreteGaussianNoise(4, 5, 3, 1), DiscreteGaussianNoise(4, 1)),
        (DiscreteGaussianNoise(4, 5), DiscreteGaussianNoise(4, 5)),
        (GaussianNoise(4, 5, 1, 3), GaussianNoise(4, 4, 1)),
        (GaussianNoise(4, 5, 0, 3), GaussianNoise(4, 5, 0, 3)),
        (Sampled(LAP, "0.5"), Sampled(LAP, "0.5")),
        (Sampled(EXP, "0.5"), Sampled(Sequence([Repeated(Promise(PureDP("0.5")), 1)]), "0.5")),
        (Parallel([LAP, LaplaceNoise(3, 1)]), Sequence([Repeated(LAP, 1)])),
        (Parallel([LaplaceNoise(3, 1), LAP], neighbours="replace"), LaplaceNoise(2, 2)),
        (
            Parallel(
                [Response(1, neighbours="add-remove"), Promise(ZCDP(0))], neighbours="replace"
            ),
            Sequence(
                [
                    Sequence([Repeated(Response(1, neighbours="add-remove"), 1)]),
                    Sequence([Repeated(Promise(GaussianDP(0)), 1)]),
                ]
            ),
        ),
    ],
)
def test_witness(event, found):
    assert witness(event) == found


@pytest.mark.parametrize(
    "event",
    [
        EXP,
        Promise(ZCDP("0.1")),
        Promise(RenyiDP({2: "0.1", 8: "0.3"})),
        DiscreteGaussianNoise(9, 2, 2),
    ],
)
def test_a_witness_costs_no_more_than_the_description(event):
    assert compose(witness(event)).lower.epsilon(1e-6) <= compose(event).epsilon(1e-6)


def test_one_selection_by_itself_is_exact():
    assert compose(EXP).gap(1e-6) < 1e-9


def test_parts_that_are_their_own_witness():
    assert witnesses(flatten([LAP, KeySelection(LAP, "1e-6")])) is None


def test_leaks_stay():
    found = witnesses(flatten([EXP, EXP, KeySelection(LAP, "1e-6")]))
    assert dict(found.atoms) == {Promise(PureDP("0.5")): 2, LAP: 1}
    assert found.leaks == flatten(KeySelection(LAP, "1e-6")).leaks
