"""Counts moved into what is public: at least 0, and no more distinct values than there are."""

from fractions import Fraction

import pytest

from answer.cases import Remembered, question, relation, visits
from discreet.answer.ask import answer_question
from discreet.mechanisms.additive.discrete_laplace import Geometric
from discreet.privacy.measures import PureDP
from discreet.query.algebra.expression import Field
from discreet.query.algebra.statistic import Count, CountDistinct, CountPeople
from discreet.query.algebra.tally import Free
from discreet.query.bounds.relation_facts import columns_of
from discreet.statistics.catalogue import recipe_of
from discreet.statistics.recipe import Draws
from discreet.statistics.releases.basis import Basis
from discreet.statistics.releases.total import NoisyTotal

REGION = CountDistinct(Field("region"))


BASIS = Basis(relation(), columns_of(relation()), (), Free(), 1, None)


def made(statistic, steps, nonnegative):
    noisy = NoisyTotal(steps, Fraction(1), Geometric(scale=2, sensitivity=1))
    return recipe_of(statistic, BASIS).estimate(Draws((noisy,), (), (), 0.95, nonnegative))


@pytest.mark.parametrize(("steps", "value"), [(-4, 0.0), (2, 2.0), (99, 3.0)])
def test_distinct_values_are_as_many_as_are_public(steps, value):
    inside = made(REGION, steps, True)
    assert inside.value == value
    assert 0 <= inside.interval(0.05)[0] <= inside.interval(0.05)[1] <= 3
    assert made(REGION, steps, False).value == steps


@pytest.mark.parametrize("statistic", [Count(), CountPeople()])
def test_other_counts_have_no_public_end(statistic):
    assert made(statistic, 99, True).value == 99
    assert made(statistic, -4, True).value == 0
    assert made(statistic, -4, False).value == -4


def test_a_question_at_a_small_budget_stays_inside():
    rows, store = question(relation(), {"values": REGION, "n": Count()}), Remembered(visits())
    for _ in range(20):
        answer = answer_question(rows, store, PureDP("1/1000"), nonnegative=True)
        assert 0 <= answer.column("values")[0] <= 3
        assert answer.column("n")[0] >= 0
