"""Choice: the best member, unbiased frequencies, intervals that hold, inputs that are refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.local import Choice, Randomizer
from discreet.local.choose import choose
from discreet.local.designs.subset import subset_facts
from discreet.local.estimates.consistent import project
from discreet.local.estimates.inversion import frequency_intervals, tail_bound
from discreet.local.law import TwoLevelLaw
from discreet.mechanisms.response.count import frequency_intervals as one_by_one
from discreet.privacy.measures import ZCDP, ApproxDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits


class TestChooser:
    """The member taken has the least variance, or is within 2 % of it with a shorter report."""

    @given(st.integers(2, 400), st.fractions(Fraction(1, 10), 6))
    @settings(max_examples=30, deadline=None)
    def test_within_two_percent(self, options, epsilon):
        ranking = choose(options, epsilon)
        least = min(row.variance for row in ranking.rows)
        assert ranking.taken.variance <= 1.02 * least
        assert all(
            row.facts.width >= ranking.taken.facts.width
            for row in ranking.rows
            if row.variance < 1.02 * least
        )

    @pytest.mark.parametrize("epsilon", ["0.25", "0.5", "0.75", "1", "1.04", "1.5", "2", "3", "4"])
    def test_within_two_percent_of_subset_selection_for_a_thousand_options(self, epsilon):
        e = Fraction(epsilon)
        middle = round(1000 / (math.exp(e) + 1))
        best = min(
            TwoLevelLaw(subset_facts(1000, k), e).total_variance
            for k in range(max(1, middle - 2), middle + 3)
        )
        taken = choose(1000, e).taken
        assert taken.facts.member == "geometry"
        assert taken.facts.bits <= 24
        assert taken.variance <= 1.02 * best

    def test_limits_are_kept(self):
        assert choose(60, Fraction(1), member="hadamard").taken.facts.member == "hadamard"
        assert choose(60, Fraction(1), bits=6).taken.facts.bits == 6
        with pytest.raises(InvalidArgument, match="shortest report has 6 bits"):
            choose(60, Fraction(1), bits=5)
        with pytest.raises(InvalidArgument, match="member must be"):
            choose(60, Fraction(1), member="olh")

    def test_says_why(self):
        ranking = Choice(1000, PureDP(1)).why
        assert "geometry 4" in str(ranking) and "taken" in str(ranking)
        assert "<td>geometry 4</td>" in ranking._repr_html_()


class TestIntervals:
    """For every number of holders the interval holds with probability at least 1 − β, exactly, by the law of the count."""

    @pytest.mark.parametrize(
        ("n", "p", "q"), [(1, 0.7, 0.3), (17, 0.73, 0.27), (40, 0.5, 0.12), (25, 0.95, 0.01)]
    )
    @pytest.mark.parametrize("beta", [0.05, 0.3])
    def test_exact_coverage(self, n, p, q, beta):
        low, high = frequency_intervals(np.arange(n + 1), n, p, q, beta)
        for t in range(n + 1):
            tails = [1.0, *(tail_bound(c, n, t, p, q) for c in range(1, n + 1)), 0.0]
            chance = -np.diff(tails)
            covered = (low * n <= t + 1e-9) & (t - 1e-9 <= high * n)
            assert chance[covered].sum() >= 1 - beta - 1e-6

    @given(
        st.integers(2, 3000),
        st.floats(0, 1),
        st.sampled_from([(0.73, 0.27), (0.6, 0.05), (0.99, 0.98)]),
    )
    @settings(max_examples=30, deadline=None)
    def test_agrees_with_the_bisection(self, n, share, chances):
        count = round(share * n)
        expected = one_by_one(count, n, *chances, 0.05)
        low, high = (
            float(x[0]) * n for x in frequency_intervals(np.array([count]), n, *chances, 0.05)
        )
        slack = 0.01 * math.sqrt(n) / (chances[0] - chances[1]) + 1
        assert expected[0] - slack <= low <= expected[0] + 1e-6
        assert expected[1] - 1e-6 <= high <= expected[1] + slack

    def test_runs_of_counts_are_never_narrower(self):
        counts = np.arange(2400, 2700, 3)
        low, high = frequency_intervals(counts, 10_000, 0.5, 0.25, 0.05)
        for count, a, b in zip(counts[::17], low[::17], high[::17], strict=True):
            one, two = frequency_intervals(np.array([count]), 10_000, 0.5, 0.25, 0.05)
            assert a <= one[0] and two[0] <= b
            assert b - a <= 1.05 * (two[0] - one[0]) + 1e-3

    @pytest.mark.statistical
    @pytest.mark.parametrize("member", ["direct", "subset", "geometry", "hadamard"])
    def test_joint_intervals_hold(self, member):
        """Ten collections at 1 − 1e-12: a false alarm has a chance of at most 1e-11."""
        choice = Choice(6, PureDP(1), member=member)
        truth = np.repeat(np.arange(6), [400, 300, 200, 60, 40, 0])
        for _ in range(10):
            found = choice.estimate(choice.randomize(truth), level=1 - 1e-12, joint=True)
            frequencies = np.bincount(truth, minlength=6) / truth.size
            assert (found.low <= frequencies).all() and (frequencies <= found.high).all()

    def test_of_the_population(self):
        choice = Choice(3, PureDP(2))
        reports = np.repeat([0, 1, 2], [50, 30, 20])
        mine, theirs = (choice.estimate(reports, of=of) for of in ("reporters", "population"))
        assert (theirs.high - theirs.low >= mine.high - mine.low - 0.02).all()
        assert mine.values.tolist() == theirs.values.tolist()
        with pytest.raises(InvalidArgument, match="'reporters' or 'population'"):
            choice.estimate(reports, of="everyone")


class TestEstimate:
    def test_consistent_only_when_asked(self):
        choice = Choice(["a", "b", "c"], PureDP(1))
        reports = [0] * 9 + [1]
        plain, moved = choice.estimate(reports), choice.estimate(reports, consistent=True)
        assert plain.values.min() < 0
        assert moved.values.min() >= 0 and moved.values.sum() == pytest.approx(1)
        assert "biased" in moved.note and "biased" not in plain.note

    @given(st.lists(st.floats(-2, 2), min_size=1, max_size=8), st.data())
    @settings(max_examples=60)
    def test_projection_is_nearest(self, values, data):
        """No point of the simplex is nearer, and none gets farther from it (convexity)."""
        given_ = np.array(values)
        found = project(given_)
        assert found.min() >= 0 and found.sum() == pytest.approx(1)
        weights = np.array(
            data.draw(st.lists(st.floats(0.01, 1), min_size=len(values), max_size=len(values)))
        )
        other = weights / weights.sum()
        assert np.linalg.norm(given_ - found) <= np.linalg.norm(given_ - other) + 1e-9
        assert np.linalg.norm(found - other) <= np.linalg.norm(given_ - other) + 1e-9

    def test_shows_itself(self):
        choice = Choice(["<b>", "x"], PureDP(3))
        found = choice.estimate([0, 1, 1, 1])
        assert "<b>" in str(found) and "&lt;b&gt;" in found._repr_html_()
        assert found.to_dict()["n"] == 4 and found["x"] == pytest.approx(found.values[1])
        assert found.interval("x") == (found.low[1], found.high[1])
        assert found.counts.sum() == pytest.approx(4)
        for ask in (found.__getitem__, found.interval):
            with pytest.raises(InvalidArgument, match="nothing was estimated"):
                ask("y")
        assert "980 more" in str(Choice(1000, PureDP(3)).estimate(np.zeros(9, dtype=np.int64)))

    def test_a_forged_report_moves_little(self):
        choice = Choice(50, PureDP(1), member="geometry")
        honest = choice.randomize(np.zeros(200, dtype=np.int64), bits=HashedBits(b"honest"))
        before = choice.estimate(honest).values
        for forged in range(0, choice.taken.facts.outputs, 29):
            poisoned = honest.copy()
            poisoned[:10] = forged
            moved = np.abs(choice.estimate(poisoned).values - before).max()
            assert moved <= choice.influence(n=200, forged=10)
        assert choice.influence(n=1) == pytest.approx(1 / choice.law.spread)


class TestParameters:
    @pytest.mark.parametrize("member", ["direct", "subset", "geometry", "hadamard"])
    def test_there_and_back(self, member):
        choice = Choice(["a", "b", "c", "d", "e"], PureDP("1/3"), member=member)
        again = Choice.from_json(choice.to_json())
        assert again == choice
        assert (
            again.randomize(["a", "e"], bits=HashedBits(b"x")).tolist()
            == choice.randomize(["a", "e"], bits=HashedBits(b"x")).tolist()
        )
        assert isinstance(choice, Randomizer)
        assert repr(choice) == f"Choice(5 options, epsilon=1/3, member={member!r})"

    def test_other_parameters_are_refused(self):
        good = Choice(5, PureDP(1)).to_json()
        for change in (
            {"version": 2}, {"mechanism": "number"}, {"member": "olh"}, {"parameter": 99}, {"epsilon": "0"},
            {"options": 1}, {"more": 1}, {"member": "geometry", "parameter": 6},
        ):  # fmt: skip
            with pytest.raises(InvalidArgument):
                Choice.from_json(good | change)

    def test_budgets(self):
        assert Choice(3, ApproxDP(1, 0)).epsilon == 1
        assert 0.5 < Choice(3, ZCDP("1/8")).epsilon < 1.2
        with pytest.raises(InvalidArgument):
            Choice(3, PureDP(0))

    def test_for_error_reaches_it(self):
        choice = Choice.for_error(0.02, n=100_000, options=10)
        assert choice.error(n=100_000) <= 0.02
        assert Choice(10, PureDP(choice.epsilon * Fraction(97, 100))).error(n=100_000) > 0.02
        with pytest.raises(InvalidArgument, match="no epsilon"):
            Choice.for_error(0.001, n=100, options=3)


class TestRefusals:
    """Before a bit is drawn, and without the value in the message."""

    @pytest.mark.parametrize(
        "value", ["opera", None, 3, float("nan"), ["chrome", "opera"], [["chrome"], "x"]]
    )
    def test_unlisted(self, value):
        with pytest.raises(InvalidArgument, match="one of the options") as refusal:
            Choice(["chrome", "firefox"], PureDP(1)).randomize(value, bits=UntouchedBits())
        assert "opera" not in str(refusal.value)

    @pytest.mark.parametrize("value", [7, -1, 0.5, float("nan"), "x"])
    def test_numbers(self, value):
        with pytest.raises(InvalidArgument):
            Choice(7, PureDP(1)).randomize(value, bits=UntouchedBits())

    @pytest.mark.parametrize("options", [1, ["a"], ["a", "a"], "ab", [1, 2], 2.5, True, 1 << 30])
    def test_options(self, options):
        with pytest.raises(InvalidArgument):
            Choice(options, PureDP(1))

    def test_no_reports(self):
        for none in ([], np.zeros(0, dtype=np.int64)):
            with pytest.raises(InvalidArgument, match="no reports"):
                Choice(7, PureDP(1), member="direct").estimate(none)
        with pytest.raises(InvalidArgument, match="level"):
            Choice(7, PureDP(1)).estimate([1, 2], level=1)
        with pytest.raises(InvalidArgument, match="frequency"):
            Choice(7, PureDP(1)).variance(n=10, frequency=2)


class TestShuffled:
    """`shuffled=n` takes the member that is best at the price paid, and spends what was said."""

    def test_the_member_is_best_at_the_price_that_is_paid(self):
        local = Choice(10, PureDP(1))
        hidden = Choice(10, PureDP(1), shuffled=10_000)
        assert (local.taken.facts.member, hidden.taken.facts.member) == ("subset", "direct")
        assert hidden.epsilon == 1
        assert hidden.shuffled(10_000).epsilon(delta=1e-6) < 0.0234
        assert local.shuffled(10_000).epsilon(delta=1e-6) > 0.034
        assert "taken" in str(hidden.why) and "price" in str(hidden.why)
        assert Choice.from_json(hidden.to_json()) == hidden

    def test_members_whose_sizes_no_float_holds_are_compared(self):
        """Of 2,000 options a subset has sizes of hundreds of digits."""
        ranking = choose(2000, Fraction(1), shuffled=True)
        assert "subset" in {row.facts.member for row in ranking.rows}
        assert ranking.taken.facts.member == "direct"

    def test_the_spend_is_what_the_shuffled_reports_cost(self):
        spend = ApproxDP("1/2", "1e-6")
        hidden = Choice(4, spend, shuffled=100)
        assert hidden.epsilon > spend.epsilon
        assert 0.97 * 0.5 < hidden.shuffled(100).epsilon(delta=1e-6) <= 0.5
        alone = Choice(4, spend, shuffled=1)
        assert alone.epsilon == spend.epsilon

    def test_an_estimate_that_flatters_does_not_decide(self, monkeypatch):
        from discreet.local import shuffle

        honest = shuffle.shuffled_delta
        monkeypatch.setattr(shuffle, "shuffled_delta", lambda *about: honest(*about) / 2)
        hidden = Choice(4, ApproxDP("1/2", "1e-6"), shuffled=100)
        assert hidden.shuffled(100).epsilon(delta=1e-6) <= 0.5

    @pytest.mark.parametrize("people", [0, -1, 1.5, "many", True])
    def test_people_are_counted(self, people):
        with pytest.raises(InvalidArgument, match="shuffled"):
            Choice(4, PureDP(1), shuffled=people)
