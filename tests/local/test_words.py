"""Words nobody listed: what is frequent is found, each person reports once, the rounds are what they say."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.local.estimates.prefixes import PrefixEvidence, no_evidence, rank, weigh
from discreet.testing.bits import UntouchedBits


@pytest.mark.slow
@pytest.mark.statistical
def test_frequent_words_are_found_and_their_intervals_hold():
    """False alarm below 1e-9: at ε = 2 the three words are forty deviations above the rest."""
    counts = {"sea": 27_000, "née": 20_000, "cup": 13_000}
    words = dp.local.Words(bits=24, spend=dp.PureDP(2), top=3)
    found = words.find(np.repeat(list(counts), list(counts.values())))
    assert set(found.names) == {"sea", "cup", words.text(int(words.read("née")[0]))}
    for name, count in counts.items():
        low, high = found.interval(words.text(int(words.read(name)[0])))
        assert low <= count / 60_000 <= high


def test_rounds_add_up_and_candidates_stay_few():
    for bits in (8, 16, 24, 48, 62):
        for epsilon in (1, 4):
            words = dp.local.Words(bits=bits, spend=dp.PureDP(epsilon), top=20)
            assert words.lengths[-1] == bits and list(words.lengths) == sorted(words.lengths)
            rounds = [dp.local.WordRound(words, i, tuple(range(8192 if i else 1))) for i in range(len(words.lengths))]
            assert max(asked.options for asked in rounds) <= (1 << 20) + 1
            with pytest.raises(InvalidArgument):
                dp.local.WordRound(words, len(words.lengths) - 1, tuple(range(8193)))
    assert words.event.epsilon == 4  # once, not once a round


def test_a_word_that_begins_otherwise_is_none_of_them():
    words = dp.local.Words(bits=32, spend=dp.PureDP(200), top=2)
    first = words.lengths[0]
    kept = tuple(sorted(int(words.read(name)[0]) >> (32 - first) for name in ("good", "fine")))
    asked = dp.local.WordRound(words, 1, kept)
    reports = asked.randomize(np.array(["good", "fine", "poor"]))
    counts = asked.family.counts(reports)
    none = asked.options - 1
    assert counts[none] >= 1 and asked.family.counts(asked.randomize(np.array(["poor"])))[none] == 1
    assert dp.local.WordRound.from_json(asked.to_json()) == asked


def test_refusals():
    words = dp.local.Words(bits=32, spend=dp.PureDP(1), top=2)
    for wrong in (
        lambda: dp.local.Words(bits=63, spend=dp.PureDP(1)),
        lambda: dp.local.Words(bits=48, spend=dp.PureDP(0)),
        lambda: words.open().randomize(1.5, bits=UntouchedBits()),
        lambda: words.open().randomize(1 << 32, bits=UntouchedBits()),
        lambda: words.open().estimate(np.array([1])),
        lambda: dp.local.WordRound(words, len(words.lengths) - 1, (0, 1)).estimate(np.array([], dtype=np.int64)),
    ):
        with pytest.raises(InvalidArgument):
            wrong()


def test_texts_come_back_as_they_were_and_others_as_numbers():
    words = dp.local.Words(bits=48, spend=dp.PureDP(1))
    for text in ("é", "coffee", "日本"):
        assert words.text(int(words.read(text)[0])) == text
    assert words.text(0) == "0x0" and words.text((1 << 48) - 1) == f"0x{(1 << 48) - 1:x}"


class TestPrefixes:
    """Estimates of all rounds are averaged by their precision; a child that is clearly there explains its parent."""

    def test_rounds_are_averaged_by_precision(self):
        heard = weigh(no_evidence(2), np.array([[0.3, 0.1]]), 0.04, known=0, length=1, wanted=2)
        assert heard.values.tolist() == [0.3, 0.1] and heard.variances.tolist() == [0.04, 0.04]
        found = weigh(heard, np.array([[0.2, 0.0], [0.1, 0.1]]), 0.01, known=1, length=2, wanted=2)
        assert found.values == pytest.approx([0.22, 0.06, 0.1, 0.1]) and found.variances == pytest.approx([0.008] * 4)
        likely = 0.22**2 / 0.016 - 2 * np.log(2)
        assert found.odds[0] == pytest.approx(likely - np.log(0.5 + np.exp(0.3**2 / 0.08) / 2))

    def test_what_a_heavy_child_accounts_for_speaks_for_no_sibling(self):
        heard = PrefixEvidence(np.array([0.9]), np.array([1e-4]), np.array([400.0]), np.zeros(1))
        found = weigh(heard, np.array([[0.9, 0.02, -0.01]]), 1e-4, known=20, length=27, wanted=20)
        assert found.values == pytest.approx([0.9, 0.04 / 3, -0.02 / 3]) and found.variances[1] == pytest.approx(
            2e-4 / 3
        )
        assert found.odds[0] > 0 > found.odds[1] > found.odds[2]

    def test_sure_words_are_ranked_by_frequency_and_doubtful_ones_follow(self):
        values, odds = np.array([0.1, 0.5, 0.9, 0.2]), np.array([3.0, 1.0, -2.0, -1.0])
        assert rank(PrefixEvidence(values, values, values, odds), 4).tolist() == [1, 0, 3, 2]
