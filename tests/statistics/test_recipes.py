"""Every statistic has one recipe, equal for equal questions, and its estimates a stored form that loses nothing."""

from dataclasses import fields
from fractions import Fraction
from typing import get_args

import pytest

from answer.cases import relation
from discreet import Geometric
from discreet.query.algebra.expression import Field
from discreet.query.algebra.statistic import (
    Correlation,
    Count,
    CountDistinct,
    CountOf,
    CountPeople,
    CountPeopleIf,
    Covariance,
    Mean,
    Mode,
    Overall,
    Quantile,
    Statistic,
    Sum,
    Variance,
)
from discreet.query.algebra.tally import Free
from discreet.query.bounds.relation_facts import columns_of
from discreet.statistics.catalogue import estimate_class, list_estimates, recipe_of
from discreet.statistics.recipe import Draws
from discreet.statistics.releases.basis import Basis
from discreet.statistics.releases.choice import ChoiceNeed, ChosenCell
from discreet.statistics.releases.quantile_release import ChosenPlaces, PlaceNeed
from discreet.statistics.releases.total import NoisyTotal

X, Y, REGION = Field("x"), Field("y"), Field("region")
STATISTICS = [
    Count(), CountOf(X), Sum(X), Mean(X), Variance(X), Variance(X, root=True), Covariance(X, Y), Correlation(X, Y),
    Quantile(X, Fraction(1, 2)), Mode(REGION), CountDistinct(REGION),
    Overall(relation(), Count()), Overall(relation(), Mean(X)),
]  # fmt: skip
BASIS = Basis(relation(), columns_of(relation()), (), Free(), 1, None)
NOISE = Geometric(scale=2, sensitivity=1)


def drawn(need):
    """Something that might have been released for a need."""
    if isinstance(need, PlaceNeed):
        return ChosenPlaces(
            need.ats,
            (Fraction(3),) * len(need.ats),
            ((Fraction(1), Fraction(5)),),
            (Fraction(0), Fraction(9)),
        )
    if isinstance(need, ChoiceNeed):
        return ChosenCell(need.cells, 1, 3.0)
    return NoisyTotal(1000, need.unit, NOISE)


def test_no_statistic_is_left_out():
    assert {type(statistic) for statistic in STATISTICS} | {CountPeople, CountPeopleIf} == set(
        get_args(Statistic)
    )


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
class TestARecipe:
    def test_is_the_same_value_for_the_same_question(self, statistic):
        assert recipe_of(statistic, BASIS) == recipe_of(statistic, BASIS)
        assert hash(recipe_of(statistic, BASIS)) == hash(recipe_of(statistic, BASIS))

    def test_has_a_label_and_a_coefficient_for_everything_it_needs(self, statistic):
        recipe = recipe_of(statistic, BASIS)
        model, needs = recipe.noise_model, recipe.needs(BASIS)
        assert len(model.labels) == len(model.coefficients) == len(needs)
        assert (model.law is not None) == (len(needs) > 1 and not isinstance(needs[0], ChoiceNeed))
        assert model.least < model.most

    def test_gives_an_estimate_that_a_ledger_can_keep(self, statistic):
        recipe = recipe_of(statistic, BASIS)
        draws = Draws.of(
            [drawn(need) for need in recipe.needs(BASIS)], level=0.95, nonnegative=False
        )
        estimate = recipe.estimate(draws)
        assert type(estimate) in list_estimates()
        low, high = estimate.interval(0.05) or (estimate.value, estimate.value)
        assert estimate.value is None or low <= estimate.value <= high


def test_stored_forms_keep_every_field_under_names_of_their_own():
    assert len({made.stored.name for made in list_estimates()}) == len(list_estimates())
    for made in list_estimates():
        assert list(made.stored.fields) == [field.name for field in fields(made)]


@pytest.mark.parametrize("statistic", STATISTICS, ids=repr)
def test_stored_names_are_found_from_every_statistic(statistic):
    for made in list_estimates():
        assert estimate_class(made.stored.name, statistic) is made
    assert estimate_class("unknown", statistic) is None
