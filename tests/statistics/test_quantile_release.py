"""Quantiles of a column as one release: what its parts cost, what its intervals hold, what a plan says of it."""

import statistics
from collections import Counter
from fractions import Fraction

import pytest

from answer.cases import REGIONS, question, relation
from discreet import ApproxDP, PureDP, open_filter
from discreet.mechanisms.selection.exponential import Exponential
from discreet.mechanisms.selection.permute_and_flip import PermuteAndFlip
from discreet.plan import plan_question
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
        assert release.error() == pytest.approx(release_of(HALF).error() / 3)


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
