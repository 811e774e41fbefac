"""Words nobody listed: what is frequent is found, each person reports once, the rounds are what they say."""

from __future__ import annotations

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.local.search.prefixes import (
    PrefixEvidence,
    add_round,
    certain_words,
    clear_fraction,
    no_evidence,
    rank,
    without_extensions,
)
from discreet.local.search.rounds import groups_of
from discreet.testing.bits import ScriptedBits, UntouchedBits


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
        words = dp.local.Words(bits=bits, spend=dp.PureDP(4), top=20)
        ends = [(stage.known, stage.length) for stage in words.stages]
        search = ends[[known for known, _ in ends].index(0, min(1, len(ends) - 1)) :]
        assert [length for _, length in search[:-1]] == [
            known for known, _ in search[1:]
        ] and words.lengths[-1] == bits
        for index, stage in enumerate(words.stages):
            asked = dp.local.WordRound(words, index, tuple(range(stage.most)))
            assert asked.options <= (1 << 20) + 1
            with pytest.raises(InvalidArgument):
                dp.local.WordRound(words, index, tuple(range(stage.most + 1)))
    assert words.event.epsilon == 4  # once, not once a round


def test_every_person_has_one_round_with_the_chances_said():
    words = dp.local.Words(bits=48, spend=dp.PureDP(1))
    total = sum(stage.people for stage in words.stages)
    groups = groups_of(words.stages, np.arange(total))
    assert np.bincount(groups).tolist() == [stage.people for stage in words.stages]
    assert words.draw_group(bits=ScriptedBits(bytes(64))) == 0


def test_a_word_that_begins_otherwise_or_is_found_is_none_of_them():
    words = dp.local.Words(bits=32, spend=dp.PureDP(200), top=2)
    good, fine, poor = (int(words.read(name)[0]) for name in ("good", "fine", "poor"))
    search = next(i for i, stage in enumerate(words.stages) if i and stage.known == 0) + 1
    kept = tuple(sorted(word >> (32 - words.stages[search].known) for word in (good, fine)))
    for field in (0, 3):
        asked = dp.local.WordRound(words, search, kept, (good,), field)
        counts = asked.family.counts(asked.randomize(np.array(["good", "fine", "poor"])))
        option = (kept.index(fine >> 12) << asked.step) + (
            (fine >> (12 - asked.step)) & ((1 << asked.step) - 1)
        )
        assert counts[-1] == 2 and counts[option] >= 1
        assert dp.local.WordRound.from_json(asked.to_json()) == asked
    last = dp.local.WordRound(words, len(words.stages) - 1, tuple(sorted((good, poor))))
    assert last.estimate(last.randomize(np.array(["good"] * 9 + ["fine"]))).names[0] == "good"


def test_scouts_find_words_and_the_search_leaves_them_out():
    """Scouts who all hold one word are sure of it; everybody then counts as none, with a set apart; it is counted last."""
    words = dp.local.Words(bits=24, spend=dp.PureDP(8), top=2)
    held, asked = np.full(2000, int(words.read("sea")[0])), words.open()
    while asked.index + 1 < len(words.stages):
        asked = asked.narrow(asked.draw(held))
        if asked.index > 0 and asked.stage.known == 0:
            assert int(held[0]) in asked.found and asked.field
    assert int(held[0]) in asked.prefixes and len(asked.prefixes) <= 6
    assert asked.estimate(asked.draw(held)).names[0] == "sea"
    with pytest.raises(InvalidArgument):
        asked.narrow(asked.draw(held))


def test_refusals():
    words = dp.local.Words(bits=32, spend=dp.PureDP(1), top=2)
    for wrong in (
        lambda: dp.local.Words(bits=63, spend=dp.PureDP(1)),
        lambda: dp.local.Words(bits=48, spend=dp.PureDP(0)),
        lambda: words.open().randomize(1.5, bits=UntouchedBits()),
        lambda: words.open().randomize(1 << 32, bits=UntouchedBits()),
        lambda: words.open().estimate(np.array([1])),
        lambda: dp.local.WordRound(words, 3, (0,), (5, 4)),
        lambda: dp.local.WordRound(words, 3, (0,), (1 << 32,)),
        lambda: dp.local.WordRound(words, 3, (0,), (1, 2, 3)),
        lambda: dp.local.WordRound(words, 3, ()),
        lambda: dp.local.WordRound(words, 3, (0,), field=6),
        lambda: dp.local.WordRound(words, 0, (0,), field=3),
        lambda: dp.local.WordRound(words, len(words.stages) - 1, (0,), field=3),
        lambda: dp.local.WordRound(words, len(words.stages) - 1, (0, 1)).estimate(
            np.array([], dtype=np.int64)
        ),
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
        heard = add_round(no_evidence(2), np.array([[0.3, 0.1]]), 0.04, known=0, length=1, wanted=2)
        assert heard.values.tolist() == [0.3, 0.1] and heard.variances.tolist() == [0.04, 0.04]
        found = add_round(
            heard, np.array([[0.2, 0.0], [0.1, 0.1]]), 0.01, known=1, length=2, wanted=2
        )
        assert found.values == pytest.approx(
            [0.22, 0.06, 0.1, 0.1]
        ) and found.variances == pytest.approx([0.008] * 4)
        likely = 0.22**2 / 0.016 - 2 * np.log(2)
        assert found.odds[0] == pytest.approx(likely - np.log(0.5 + np.exp(0.3**2 / 0.08) / 2))

    def test_what_a_heavy_child_accounts_for_speaks_for_no_sibling(self):
        heard = PrefixEvidence(np.array([0.9]), np.array([1e-4]), np.array([400.0]), np.zeros(1))
        found = add_round(
            heard, np.array([[0.9, 0.02, -0.01]]), 1e-4, known=20, length=27, wanted=20
        )
        assert found.values == pytest.approx([0.9, 0.04 / 3, -0.02 / 3]) and found.variances[
            1
        ] == pytest.approx(2e-4 / 3)
        assert found.odds[0] > 0 > found.odds[1] > found.odds[2]

    def test_a_word_alone_is_no_rival_of_its_own(self):
        found = add_round(
            no_evidence(2), np.array([[0.9, 0.5, 0.1]]), 0.01, known=0, length=2, wanted=2
        )
        assert certain_words(found, 5).tolist() == [0, 1] and certain_words(found, 1).tolist() == [
            0
        ]
        assert clear_fraction(np.array([0.9, 0.5, 0.1]), 0.01, np.array([0, 2])) == 0.9
        counted = add_round(
            without_extensions(found, 2),
            np.array([[0.9], [0.5], [0.1]]),
            0.01,
            known=2,
            length=2,
            wanted=2,
        )
        assert (counted.odds - found.odds) == pytest.approx(np.array([0.9, 0.5, 0.1]) ** 2 / 0.02)

    def test_sure_words_are_ranked_by_frequency_and_doubtful_ones_follow(self):
        values, odds = np.array([0.1, 0.5, 0.9, 0.2]), np.array([3.0, 1.0, -2.0, -1.0])
        assert rank(PrefixEvidence(values, values, values, odds), 4).tolist() == [1, 0, 3, 2]
