"""Quantiles of a column as one release: what its parts cost, what its intervals hold, what a plan says of it."""

import statistics
from collections import Counter
from fractions import Fraction

import pytest

from answer.cases import REGIONS, question, relation
from discreet import ZCDP, ApproxDP, PureDP, open_filter
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.selection.quantile_pair import QuantileAndInterval
from discreet.mechanisms.selection.quantiles import SplitQuantiles
from discreet.plan import plan_question
from discreet.privacy.events import ExponentialSelection
from discreet.privacy.pricing.pure import price_pure
from discreet.query.algebra.expression import Field
from discreet.query.algebra.statistic import Mode, Quantile
from discreet.statistics.releases.quantile_release import PlaceRelease

X = Field("x")
HALF = Fraction(1, 2)


def release_of(*ats, spend=1, **terms):
    """The release of some quantiles of x, a whole number from 0 to 120."""
    asked = question(relation(), {f"q{i}": Quantile(X, at) for i, at in enumerate(ats)})
    return plan_question(asked, PureDP(spend), **terms).releases[0]


class TestParts:
    """The parts of one release cost what is spent, whatever is asked."""

    @pytest.mark.parametrize(
        "ats", [(HALF,), (Fraction(1, 10), HALF), tuple(Fraction(i, 10) for i in range(1, 10))]
    )
    @pytest.mark.parametrize("intervals", [True, False])
    def test_they_add_up(self, ats, intervals):
        assert price_pure(release_of(*ats, intervals=intervals).event) == 1

    def test_without_intervals_all_of_it_goes_to_the_values(self):
        release = release_of(HALF, intervals=False)
        drawn = release.draw({60: 100}, 0.95)
        assert (release.mechanism.epsilon, drawn.reaches) == (1, None)
        # An end keeps its parts: a third for the value, two thirds for how far its interval reaches.
        ends = [release_of(Fraction(1), intervals=intervals) for intervals in (True, False)]
        assert [end.mechanism.epsilon for end in ends] == [Fraction(1, 3), 1]


class TestAtOnce:
    """One quantile is chosen with its interval: all of ε for both, one selection, priced as one."""

    def test_who_is_chosen_so(self):
        assert isinstance(release_of(HALF).mechanism, QuantileAndInterval)
        assert isinstance(release_of(Fraction(99, 100), spend=20).mechanism, QuantileAndInterval)
        for release in (
            release_of(Fraction(1)),
            release_of(HALF, Fraction(1, 4)),
            release_of(HALF, intervals=False),
            release_of(HALF, spend=Fraction(1, 101)),
        ):
            assert isinstance(release.mechanism, SplitQuantiles)

    @pytest.mark.parametrize(("unit", "made"), [("rows", QuantileAndInterval), ("people", SplitQuantiles)])  # fmt: skip
    def test_of_people_in_several_keys_the_parts_stay(self, unit, made):
        """Each key rounds its levels by itself; a person may be in many."""
        asked = question(relation(unit), {"q": Quantile(X, HALF)}, [("region", REGIONS)])
        assert isinstance(plan_question(asked, PureDP(1)).releases[0].mechanism, made)
        alone = question(relation(unit), {"q": Quantile(X, HALF)})
        release = plan_question(alone, PureDP(1)).releases[0]
        assert isinstance(release.mechanism, QuantileAndInterval)
        assert release.event == ExponentialSelection(1)

    def test_all_of_the_budget(self):
        release = release_of(HALF)
        assert (release.mechanism.epsilon, release.event) == (1, ExponentialSelection(1))
        concentrated = question(relation(), {"q": Quantile(X, HALF)})
        event = plan_question(concentrated, ZCDP("1/8")).releases[0].event
        assert float(event.epsilon) == pytest.approx(1, abs=0.05)

    @pytest.mark.parametrize("error", [1000, 3000, 9000, 20, 2])
    def test_an_error_on_either_side_of_the_least_epsilon(self, error):
        """Below ε = 1/100 the parts have another bound; both are met, about at their least ε."""
        asked = question(relation(), {"q": Quantile(X, HALF)})
        release = plan_question(asked, error=error).releases[0]
        assert release.error() <= error < 1.2 * release.error()

    def test_a_level_that_is_never_reached_again(self):
        """At a huge ε the value is exact, and so are the ends of its interval, but for half a row."""
        release = release_of(HALF, spend=10**6)
        [reach] = release.draw(dict.fromkeys(range(121), 50), 0.95).reaches
        assert reach == (60, 60)


class TestPlans:
    def test_a_mode_of_one_key_is_flipped_where_epsilon_is_added_up(self):
        one = question(relation(), {"m": Mode(Field("region"))})
        assert isinstance(plan_question(one, PureDP(1)).releases[0].mechanism, PermuteAndFlip)
        under = open_filter(PureDP(2))
        assert isinstance(
            plan_question(one, PureDP(1), under=under).releases[0].mechanism, PermuteAndFlip
        )
        priced = open_filter(ApproxDP(2, "1e-6"))
        assert isinstance(
            plan_question(one, PureDP("1/10"), under=priced).releases[0].mechanism, Exponential
        )
        several = question(relation(), {"m": Mode(Field("region"))}, [("region", REGIONS)])
        assert isinstance(plan_question(several, PureDP(1)).releases[0].mechanism, Exponential)

    def test_an_error_in_rows_is_met(self):
        asked = question(relation(), {"a": Quantile(X, HALF), "b": Quantile(X, Fraction(1, 4))})
        plan = plan_question(asked, error=50)
        assert isinstance(plan.releases[0], PlaceRelease)
        worst = max(error for parts in plan.errors().values() for error in parts)
        assert worst <= 50 < 1.01 * worst
        assert max(plan.statistic_errors().values()) < worst

    def test_values_of_few_skewed_rows(self):
        values = [
            min(120, int(3**step))
            for step in (0.2, 0.4, 0.6, 0.8, 1, 1.2, 1.4, 1.6, 3, 3.5, 4, 4.2)
            for _ in range(9)
        ]
        release = release_of(HALF, spend=1)
        counts = Counter(release.need.ladder.cell_at(value) for value in values)
        found = [float(release.draw(counts, 0.95).values[0]) for _ in range(40)]
        assert (
            statistics.median(found) < 30
        )  # the exact one is 4; the middle of the public range is 60
