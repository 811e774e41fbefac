"""Catalogue of statistics: finds the file that makes a statistic, its recipe and its estimates.

The declaration of a statistic (`query.algebra.statistic`) names its file. Each is made from exact
totals or counts over rows, to which noise is added or by which a value is chosen privately:

COUNT(*), COUNT(x)       number of rows; of rows where x is not NULL
COUNT(DISTINCT person)   number of people, or of those with a row for which a condition is true
(SELECT … FROM …)        the totals of a count, sum or mean of other rows, without keys
SUM(x)                   Σx
AVG(x)                   Σ(x − m), n       m the middle of the public range: half the sensitivity of Σx
VARIANCE(x)              Σ(x − m)², Σ(x − m), n
COVAR(x, y)              Σuv, Σu, Σv, n    u, v centred as x − m, over rows where neither is NULL
CORR(x, y)               Σuv, Σu, Σv, n, Σu², Σv²
QUANTILE, MIN, MAX       counts of public cells, all quantiles of a column at once
MODE                     counts of the public values
COUNT(DISTINCT x)        number of values that occur, of a public list or without one
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

from ..query.algebra.statistic import STATISTICS, Statistic
from .recipe import NoisyValue, Recipe, StatisticMethod
from .releases.basis import Basis
from .releases.set_totals import SetEstimate


def method_of(statistic: Statistic) -> StatisticMethod:
    """Return the ways to make a statistic, which its file declares."""
    return _method(statistic.declared.file)


@cache
def _method(file: str) -> StatisticMethod:
    # Imported by name on first use: rarer statistics cost nothing where they are not asked for.
    module = import_module(f".{file}", __package__)
    method: StatisticMethod = module.METHOD
    return method


@cache
def list_estimates() -> tuple[type[NoisyValue], ...]:
    """List the classes of estimates in answers.

    Guarantee: ledgers keep estimates for ever, so this list only grows.
    Law: tests/statistics/test_recipes.py::test_stored_forms_keep_every_field_under_names_of_their_own
    """
    estimates: dict[type[NoisyValue], None] = {}
    for statistic in STATISTICS:
        estimates.update(dict.fromkeys(_method(statistic.declared.file).estimates))
    return (*estimates, SetEstimate)


def estimate_class(name: str, statistic: Statistic) -> type[NoisyValue] | None:
    """Return the class of estimates that ledgers store under a name; None for an unknown name.

    `statistic` is that of the stored answer: the estimates of its own file are looked up first.

    >>> from discreet.query.algebra.statistic import Count
    >>> from discreet.statistics.catalogue import estimate_class
    >>> estimate_class("amount", Count()), estimate_class("unknown", Count())
    (<class 'discreet.statistics.releases.total.TotalEstimate'>, None)

    Law: tests/statistics/test_recipes.py::test_stored_names_are_found_from_every_statistic
    """
    # Its own file first: the files of other statistics are then not imported at all.
    own = _estimates_by_name(statistic.declared.file)
    if name in own:
        return own[name]
    return _all_estimates_by_name().get(name)


@cache
def _estimates_by_name(file: str) -> dict[str, type[NoisyValue]]:
    estimates: tuple[type[NoisyValue], ...] = (*_method(file).estimates, SetEstimate)
    return {estimate.stored.name: estimate for estimate in estimates}


@cache
def _all_estimates_by_name() -> dict[str, type[NoisyValue]]:
    return {estimate.stored.name: estimate for estimate in list_estimates()}


def recipe_of(statistic: Statistic, basis: Basis) -> Recipe:
    """Return the recipe of a statistic over the rows of a question.

    Refuses: numbers beyond 64-bit integers, and values that are not a short public list
        (`UnsupportedQuery`).
    Law: tests/statistics/test_recipes.py::test_no_statistic_is_left_out

    >>> from discreet.statistics.catalogue import recipe_of
    >>> from discreet import Integer, Rows, Schema
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.tally import Free
    >>> from discreet.query.algebra.statistic import Mean
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.bounds.relation_facts import columns_of
    >>> from discreet.statistics.releases.basis import Basis
    >>> people = Scan(Schema("people", Rows(), {"age": Integer(0, 120)}))
    >>> basis = Basis(people, columns_of(people), (), Free(), 1, None)
    >>> recipe = recipe_of(Mean(Field("age")), basis)
    >>> recipe.noise_model.coefficients, [need.sensitivity.l1 for need in recipe.needs(basis)]
    ((1.0, 60.0), [Fraction(60, 1), Fraction(1, 1)])
    """
    return method_of(statistic).recipe(statistic, basis)
