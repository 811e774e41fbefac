import math

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.advise import NOT_PROMISED, advise, meaning
from discreet.privacy.compose import compose
from discreet.privacy.events import Promise
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP


@pytest.mark.parametrize(
    ("delta", "n", "fine", "word"),
    [
        (0, 10, True, "pure"),
        ("1e-9", 10**6, True, "Fine"),
        ("1e-6", 10**4, True, "Fine"),
        ("1e-5", 10**4, False, "take δ ≤ 1e-06"),
        ("1e-4", 10**4, False, "one random record"),
        ("0.5", 10**4, False, "one random record"),
    ],
)
def test_delta_against_n(delta, n, fine, word):
    advice = advise(delta, n)
    assert advice.fine is fine
    assert word in str(advice)


@pytest.mark.parametrize(("delta", "n"), [(1, 10), (-1, 10), ("1e-6", 0), ("1e-6", 1.5)])
def test_bad_delta_or_n(delta, n):
    with pytest.raises(InvalidArgument):
        advise(delta, n)


@pytest.mark.parametrize(
    ("epsilon", "word"),
    [("0.1", "very strong"), (1, "good"), (3, "moderate"), (8, "weak"), (20, "hardly")],
)
def test_words_for_epsilon(epsilon, word):
    assert word in str(meaning(PureDP(epsilon)))


def test_numbers_for_one_person():
    said = meaning(PureDP(1))
    assert said.odds == pytest.approx(math.e)
    assert said.advantage == pytest.approx(math.tanh(0.5))
    low, high = said.posterior("0.5")
    assert high == pytest.approx(math.e / (1 + math.e))
    assert low == pytest.approx(1 / (1 + math.e))
    assert said.best.true_positive == pytest.approx(0.05 * math.e, rel=1e-2)
    assert all(sentence in str(said) for sentence in NOT_PROMISED)


def test_promises_with_a_delta():
    said = meaning(ApproxDP(1, "1e-6"))
    assert str(said).count("except with probability at most 2.368e-06") == 2
    assert said.epsilon == 1.0
    assert said.odds == pytest.approx(2 * math.e)
    for measure in (ZCDP("0.1"), GaussianDP("0.3"), RenyiDP({2: "0.1", 16: 1})):
        read = meaning(measure, "1e-6")
        assert read.epsilon == compose(Promise(measure)).epsilon("1e-6")
        assert read.best.true_positive < 1
        with pytest.raises(InvalidArgument, match="at which delta"):
            meaning(measure)
    assert meaning(ApproxDP(1, "1e-6"), "1e-3").epsilon < 1


def test_no_mechanism_of_an_approximate_promise_moves_odds_further_than_said():
    """Loss ε + t almost always is (ε, δ)-DP for a small t: the factor e^ε itself is passed with probability ≈ 0.73."""
    said, leak = meaning(ApproxDP(1, "1e-6")), 1e-6
    for t in (1e-5, 0.1, math.log(2) * (1 + 1e-12), 2.0, 50.0):
        often = min(
            1.0, leak / -math.expm1(-t), 1 / (1 + math.exp(-1 - t))
        )  # P[L = 1 + t], as (1, δ) allows
        assert often <= (said.chance if 1 + t > said.loss else 1.0)


def test_gaussian_noise_passes_its_epsilon_more_often_than_delta():
    """μ = 1 at δ = 1e-5: the loss N(1/2, 1) is beyond ε = 4.3772 with chance 5.28e-5, by the normal law alone."""
    said = meaning(GaussianDP(1), "1e-5")
    beyond = math.erfc((said.loss - 0.5) / math.sqrt(2)) / 2
    assert beyond == pytest.approx(5.28375e-5, rel=1e-4)
    assert beyond <= said.chance < 3 * beyond


def test_a_negligible_curve_is_read_at_twice_the_odds():
    said = meaning(GaussianDP("0.001"), "1e-3")
    assert said.epsilon == 0
    assert said.odds == 2
    assert said.chance < 1e-100


def test_a_hopeless_promise_says_nothing():
    assert meaning(PureDP(2000)).best.true_positive == 1.0
    assert meaning(PureDP(2000)).posterior("0.5") == (0.0, 1.0)
    assert [meaning(PureDP(2000)).posterior(p) for p in (0, 1)] == [(0.0, 0.0), (1.0, 1.0)]
    nothing = meaning(RenyiDP({2: 1}), 0)
    assert (nothing.odds, nothing.chance) == (math.inf, 0.0)


def test_refusals():
    with pytest.raises(InvalidArgument, match="a measure is expected"):
        meaning(1)
    with pytest.raises(InvalidArgument, match="prior"):
        meaning(PureDP(1)).posterior(2)
