"""Several questions planned together: one budget, one charge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Unpack

from ...arithmetic.rational import Number, positive
from ...errors import InvalidArgument, UnsupportedQuery
from ...frozen import frozen, replace
from ...privacy.events import Batch, Event
from ...privacy.filters.filter import Filter, open_filter
from ...privacy.measures import ApproxDP, Measure, PureDP
from ...query.algebra.tree import Question
from ...query.bounds.keys import PublicValues
from ..asked.checked_question import CheckedQuestion, check_question
from ..asked.options import read_errors
from ..asked.terms import ExactErrors, Terms, TermWords, read_terms
from ..choose import amount_of
from ..plan import Plan
from ..proportional_split import routes_under, split
from ..question import plan_checked
from ..text.workload import workload_html, workload_text
from .shared_table import SharedTable, cut_plans, join_questions


@frozen
class Workload:
    """Plans by the names of their questions, to be charged as one event and run one after the other."""

    plans: tuple[tuple[str, Plan], ...]
    spend: Measure

    def __getitem__(self, name: str) -> Plan:
        return dict(self.plans)[name]

    def __iter__(self) -> Iterator[str]:
        return iter(name for name, _ in self.plans)

    def __len__(self) -> int:
        return len(self.plans)

    @property
    def events(self) -> tuple[Event, ...]:
        """What will be done, for all questions."""
        return tuple(event for _, plan in self.plans for event in plan.events)

    @property
    def event(self) -> Event:
        """All of it as one event: a batch, asked before any answer is seen."""
        return Batch(self.events)

    def price(self, under: Filter) -> Measure:
        """Return what a filter would take for all of it now, in its own measure; nothing is spent."""
        return under.price(self.event)

    def statistic_errors(self, beta: Number | None = None) -> dict[str, dict[str, float]]:
        """Predict how far off each statistic of each question is, as `Plan.statistic_errors`."""
        return {name: plan.statistic_errors(beta) for name, plan in self.plans}

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return workload_text(self)

    def _repr_html_(self) -> str:
        return workload_html(self)

    def to_dict(self) -> dict[str, object]:
        """Return what the tables show as plain values for JSON."""
        return {
            "spend": str(self.spend),
            "plans": {name: plan.to_dict() for name, plan in self.plans},
        }


def plan_workload(
    questions: Mapping[str, Question],
    spend: Measure | None = None,
    *,
    under: Filter | None = None,
    public_values: PublicValues | None = None,
    **terms: Unpack[TermWords],
) -> Workload:
    """Plan several questions as one charge: a spend divided by weights, or an error for each.

    A spend is divided in proportion to the weights of the questions, 1 each by default, which makes the weighted sum
    of the logarithms of their errors least (see `shares`). `error` is one number for all, or by question what
    `plan_question` takes. All else is as there.

    >>> import discreet as dp
    >>> votes = {"votes": dp.Schema("votes", dp.Rows(), {"yes": dp.Boolean(), "age": dp.Integer(18, 120)})}
    >>> asked = {"n": dp.parse_sql("SELECT COUNT(*) AS n FROM votes", votes),
    ...          "age": dp.parse_sql("SELECT SUM(age) AS age FROM votes", votes)}
    >>> both = dp.plan_workload(asked, dp.PureDP(1), weights={"n": 3})
    >>> [str(plan.spend) for _, plan in both.plans], len(both.events)
    (['ε = 0.75', 'ε = 0.25'], 2)

    Refuses no questions, weights or errors of none of them, and what `plan_question` refuses.
    """
    read = read_terms(spend, **terms)
    named = {name: check_question(questions[name], public_values) for name in _names(questions)}
    return workload_of(named, read, under=under)


def workload_of(
    questions: Mapping[str, CheckedQuestion], terms: Terms, *, under: Filter | None
) -> Workload:
    """Plan questions that were checked; see `plan_workload`."""
    if (terms.spend is None) == (terms.error is None):
        raise InvalidArgument("give spend= or error=, exactly one: the planner finds the other")
    if terms.spend is not None:
        return _spending(questions, terms.spend, terms, under)
    if terms.weights:
        raise InvalidArgument(
            "weights divide a spend; with error= every question has its own, so leave them out"
        )
    each = _errors(list(questions), terms.error)
    made = [_erring(units, questions, each, terms, under) for units in _unions(questions, terms)]
    return min((one for one in made if one is not None), key=lambda found: amount_of(found.spend))


def _unions(questions: Mapping[str, CheckedQuestion], terms: Terms) -> list[list[SharedTable]]:
    """List what is tried: every question by itself, and those that can be together as one; none is dearer so."""
    alone = [SharedTable((name,), one) for name, one in questions.items()]
    weights = set((terms.weights or {}).values()) | {Fraction(1)}
    together = join_questions(questions) if len(weights) == 1 else alone
    return [alone] if len(together) == len(alone) else [alone, together]


def _erring(
    units: Sequence[SharedTable],
    questions: Mapping[str, CheckedQuestion],
    each: Mapping[str, ExactErrors | None],
    terms: Terms,
    under: Filter | None,
) -> Workload | None:
    """Plan every unit for its errors; None where one of several questions at once cannot be."""
    plans: list[tuple[str, Plan]] = []
    for unit in units:
        errors = [each[name] for name in unit.names]
        if len(unit.names) > 1:
            least = [
                min(_least(error, questions[n]))
                for n, error in zip(unit.names, errors, strict=True)
            ]
            errors = [min(least)]
        try:
            plan = plan_checked(unit.checked, replace(terms, error=errors[0]), under=under)
        except (InvalidArgument, UnsupportedQuery):
            if len(unit.names) == 1:
                raise
            return None
        plans += cut_plans(unit, plan, questions)
    batch = Batch([event for _, plan in plans for event in plan.events])
    return Workload(
        tuple(_in_order(plans, questions)), (under or open_filter(PureDP(1))).price(batch)
    )


def _least(error: ExactErrors | None, one: CheckedQuestion) -> tuple[Fraction, ...]:
    return read_errors(one.question, Fraction(1) if error is None else error)


def _in_order(
    plans: Sequence[tuple[str, Plan]], questions: Mapping[str, CheckedQuestion]
) -> list[tuple[str, Plan]]:
    found = dict(plans)
    return [(name, found[name]) for name in questions]


def _spending(
    questions: Mapping[str, CheckedQuestion], spend: Measure, terms: Terms, under: Filter | None
) -> Workload:
    """Divide a spend among the questions in every way there is, and take the way of least error."""
    parts = _weights(list(questions), terms.weights or {})
    made: list[tuple[tuple[bool, float], Workload]] = []
    refused: Exception | None = None
    for units in _unions(questions, terms):
        weights = [sum((parts[name] for name in unit.names), Fraction()) for unit in units]
        for pieces in _divide(spend, weights, under):
            try:
                plans = _planned(units, pieces, questions, terms, under)
            except (InvalidArgument, UnsupportedQuery) as why:  # another way to divide may do
                refused = refused or why
            else:
                found = Workload(tuple(plans), spend)
                fits = under is None or under.admits(found.event)
                made.append(((not fits, _loss(plans, parts)), found))
    if refused is not None and not made:
        raise refused
    return min(made, key=lambda pair: pair[0])[1]


def _planned(
    units: Sequence[SharedTable],
    pieces: Sequence[Measure],
    questions: Mapping[str, CheckedQuestion],
    terms: Terms,
    under: Filter | None,
) -> list[tuple[str, Plan]]:
    plans: list[tuple[str, Plan]] = []
    for unit, piece in zip(units, pieces, strict=True):
        plan = plan_checked(unit.checked, replace(terms, spend=piece, weights=None), under=under)
        plans += cut_plans(unit, plan, questions)
    return _in_order(plans, questions)


def _names(questions: object) -> list[str]:
    if not isinstance(questions, Mapping) or not questions:
        raise InvalidArgument("a workload is a mapping of names to questions, at least one")
    return list(questions)


def _divide(
    spend: Measure, weights: Sequence[Fraction], under: Filter | None
) -> list[list[Measure]]:
    """List the ways to divide a spend: by each of its routes, and an (ε, δ) also as boxes, which unknown keys need."""
    ways: list[list[Measure]] = [
        list(split(route, weights)) for route in routes_under(spend, under)
    ]
    if isinstance(spend, ApproxDP):
        shares = [weight / sum(weights) for weight in weights]
        delta = (
            spend.delta
            if under is None or not under.terms.delta
            else min(spend.delta, under.terms.delta)
        )
        ways.append([ApproxDP(spend.epsilon * share, delta * share) for share in shares])
    return ways


def _weights(names: Sequence[str], weights: Mapping[str, Fraction]) -> dict[str, Fraction]:
    _check_known(names, weights, "weights")
    return {name: positive(weights.get(name, 1), f"the weight of {name}") for name in names}


def _errors(names: Sequence[str], error: ExactErrors | None) -> dict[str, ExactErrors | None]:
    if not isinstance(error, Mapping):
        return dict.fromkeys(names, error)
    _check_known(names, error, "error")
    missing = [name for name in names if name not in error]
    if missing:
        raise InvalidArgument(
            f"error says nothing about {', '.join(missing)}; give each question its own"
        )
    return dict(error)


def _check_known(names: Sequence[str], given: Mapping[str, object], what: str) -> None:
    unknown = sorted(str(name) for name in given if name not in names)
    if unknown:
        raise InvalidArgument(
            f"{what}: there is no question {', '.join(unknown)}; there are {', '.join(names)}"
        )


def _loss(plans: Sequence[tuple[str, Plan]], weights: Mapping[str, Fraction]) -> float:
    """Add up the mean log errors of the questions by their weights."""
    return sum(
        float(weights[name]) * plan.loss([Fraction(1, max(1, len(plan.uses)))] * len(plan.uses))
        for name, plan in plans
    )
