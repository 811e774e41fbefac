"""Workload of several questions: one budget, one charge.

Questions about the same rows are planned twice: each by itself, and joined in one table
(`shared_table`). Each time the spend is divided as a pure ε, as Gaussian noise and as smaller (ε,
δ), as far as the spend allows. Of the plans that the filter admits, that of least error is taken.
Where errors are given instead of a spend, the plan of least price is taken.
"""

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
from ...privacy.shown_price import shown_price
from ...query.algebra.tree import Question
from ...query.bounds.check import CheckedQuestion, check_question
from ...query.bounds.keys import PublicValues
from ..asked.terms import ExactErrors, TermOptions, Terms, read_errors, read_terms
from ..budget_allocation import routes_under, split
from ..choose import plan_checked
from ..plan import Plan, amount_of, price_for_error
from ..text.workload import workload_html, workload_text
from .shared_table import SharedTable, cut_plans, join_questions


@frozen
class Workload:
    """Plans of several questions by their names, charged as one event, and the joint spend."""

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
        """Privacy events of all questions."""
        return tuple(_events(self.plans))

    @property
    def event(self) -> Event:
        """All events as one: a batch, asked before any answer is seen."""
        return Batch(self.events)

    def shown_price(self) -> Measure:
        """Return the price of all events in the measure of the spend: at most the spend."""
        return shown_price(self.event, self.spend, self.spend)

    def price(self, under: Filter) -> Measure:
        """Return the price that a filter would charge now, in its own measure; spend nothing."""
        return under.price(self.event)

    def statistic_errors(self, beta: Number | None = None) -> dict[str, dict[str, float]]:
        """Predict the error of each statistic of each question, as `Plan.statistic_errors`."""
        return {name: plan.statistic_errors(beta) for name, plan in self.plans}

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        return workload_text(self)

    def _repr_html_(self) -> str:
        return workload_html(self)

    def to_dict(self) -> dict[str, object]:
        """Return the content of the tables as plain values for JSON."""
        plans = {}
        for name, plan in self.plans:
            plans[name] = plan.to_dict()
        return {"spend": str(self.spend), "plans": plans}


def plan_workload(
    questions: Mapping[str, Question],
    spend: Measure | None = None,
    *,
    under: Filter | None = None,
    public_values: PublicValues | None = None,
    **terms: Unpack[TermOptions],
) -> Workload:
    """Plan several questions as one charge: a spend divided by weights, or an error for each.

    A spend is divided in proportion to the weights of the questions, 1 each by default. This
    minimises the weighted sum of the logarithms of their errors (see `budget_allocation`). `error`
    is one number for all, or by question what `plan_question` takes. All else is as there.

    >>> import discreet as dp
    >>> columns = {"yes": dp.Boolean(), "age": dp.Integer(18, 120)}
    >>> votes = {"votes": dp.Schema("votes", dp.Rows(), columns)}
    >>> asked = {"n": dp.parse_sql("SELECT COUNT(*) AS n FROM votes", votes),
    ...          "age": dp.parse_sql("SELECT SUM(age) AS age FROM votes", votes)}
    >>> both = dp.plan_workload(asked, dp.PureDP(1), weights={"n": 3})
    >>> [str(plan.spend) for _, plan in both.plans], len(both.events)
    (['ε = 0.75', 'ε = 0.25'], 2)

    Guarantee: the events of all plans together fit the spend.

    Refuses: no questions, weights or errors of none of them (InvalidArgument), and everything that
    `plan_question` refuses.

    Law: tests/plan/test_tradeoff.py::TestWorkload
    """
    read = read_terms(spend, **terms)
    checked = {}
    for name in _names(questions):
        checked[name] = check_question(questions[name], public_values)
    return workload_of(checked, read, under=under)


def workload_of(
    questions: Mapping[str, CheckedQuestion], terms: Terms, *, under: Filter | None
) -> Workload:
    """Plan questions that were checked; see `plan_workload`."""
    check_terms(list(questions), terms)
    if terms.spend is not None:
        return _spending(questions, terms.spend, terms, under)
    errors = _errors(list(questions), terms.error)
    workloads: list[Workload] = []
    for tables in _groupings(questions, terms):
        workload = _erring(tables, questions, errors, terms, under)
        if workload is not None:
            workloads.append(workload)
    least = min(workloads, key=lambda workload: amount_of(workload.spend))
    # Compared by the amount that the filter takes, told in the measure of its budget.
    return replace(least, spend=price_for_error(least.event, under))


def check_terms(names: Sequence[str], terms: Terms) -> None:
    """Check the terms of several questions; nothing is planned.

    Refuses: both or neither of spend and error, weights beside errors, and weights or errors of
    other questions (InvalidArgument).
    """
    if (terms.spend is None) == (terms.error is None):
        raise InvalidArgument("give spend= or error=, exactly one: the planner finds the other")
    if terms.spend is not None:
        _weights(names, terms.weights or {})
        return
    if terms.weights:
        raise InvalidArgument(
            "weights divide a spend; with error= every question has its own, so leave them out"
        )
    _errors(names, terms.error)


def _events(plans: Sequence[tuple[str, Plan]]) -> list[Event]:
    events: list[Event] = []
    for _, plan in plans:
        events += plan.events
    return events


def _groupings(questions: Mapping[str, CheckedQuestion], terms: Terms) -> list[list[SharedTable]]:
    """List the groupings to try: every question by itself, and joinable questions as one.

    With a weight other than 1 only the first.
    """
    alone = []
    for name, one in questions.items():
        alone.append(SharedTable((name,), one))
    weights = set((terms.weights or {}).values()) | {Fraction(1)}
    # A joined table treats its questions alike, so weights other than 1 keep them apart.
    if len(weights) > 1:
        return [alone]
    together = join_questions(questions)
    if len(together) == len(alone):
        return [alone]
    return [alone, together]


def _erring(
    tables: Sequence[SharedTable],
    questions: Mapping[str, CheckedQuestion],
    errors: Mapping[str, ExactErrors | None],
    terms: Terms,
    under: Filter | None,
) -> Workload | None:
    """Plan every table for its errors; None where a joined table cannot meet them."""
    plans: list[tuple[str, Plan]] = []
    for table in tables:
        error = _table_error(table, questions, errors)
        try:
            plan = plan_checked(table.checked, replace(terms, error=error), under=under)
        except (InvalidArgument, UnsupportedQuery):
            if len(table.names) == 1:
                raise
            # The grouping without joins is tried as well, so this is no refusal.
            return None
        plans += cut_plans(table, plan, questions)
    gate = under or open_filter(PureDP(1))
    price = gate.price(Batch(_events(plans)))
    return Workload(tuple(_in_order(plans, questions)), price)


def _table_error(
    table: SharedTable,
    questions: Mapping[str, CheckedQuestion],
    errors: Mapping[str, ExactErrors | None],
) -> ExactErrors | None:
    """Return the error of a table: the smallest of all statistics of joined questions."""
    if len(table.names) == 1:
        return errors[table.names[0]]
    smallest: list[Fraction] = []
    for name in table.names:
        error = errors[name]
        # Never None here, since an error was given; the type alone allows it.
        named = Fraction(1) if error is None else error
        smallest.append(min(read_errors(questions[name].question, named)))
    return min(smallest)


def _in_order(
    plans: Sequence[tuple[str, Plan]], questions: Mapping[str, CheckedQuestion]
) -> list[tuple[str, Plan]]:
    by_name = dict(plans)
    return [(name, by_name[name]) for name in questions]


def _spending(
    questions: Mapping[str, CheckedQuestion], spend: Measure, terms: Terms, under: Filter | None
) -> Workload:
    """Divide a spend in every way; of the plans that the filter admits, take the least error."""
    weights = _weights(list(questions), terms.weights or {})
    candidates: list[tuple[tuple[bool, float], Workload]] = []
    refused: Exception | None = None
    for tables in _groupings(questions, terms):
        table_weights = []
        for table in tables:
            table_weights.append(sum((weights[n] for n in table.names), Fraction()))
        for budgets in _divisions(spend, table_weights, under):
            try:
                plans = _plan_tables(tables, budgets, questions, terms, under)
            except (InvalidArgument, UnsupportedQuery) as why:
                # Another division may be possible. The first refusal is told if none is.
                refused = refused or why
            else:
                workload = Workload(tuple(plans), spend)
                fits = under is None or under.admits(workload.event)
                # False sorts before True: admitted workloads come first, then less error.
                rank = (not fits, _loss(plans, weights))
                candidates.append((rank, workload))
    if refused is not None and not candidates:
        raise refused
    return min(candidates, key=lambda candidate: candidate[0])[1]


def _plan_tables(
    tables: Sequence[SharedTable],
    budgets: Sequence[Measure],
    questions: Mapping[str, CheckedQuestion],
    terms: Terms,
    under: Filter | None,
) -> list[tuple[str, Plan]]:
    """Plan every table for its budget, and return a plan for each question, in their order."""
    plans: list[tuple[str, Plan]] = []
    for table, budget in zip(tables, budgets, strict=True):
        own_terms = replace(terms, spend=budget, weights=None)
        plan = plan_checked(table.checked, own_terms, under=under)
        plans += cut_plans(table, plan, questions)
    return _in_order(plans, questions)


def _names(questions: object) -> list[str]:
    if not isinstance(questions, Mapping) or not questions:
        raise InvalidArgument("a workload is a mapping of names to questions, at least one")
    return list(questions)


def _divisions(
    spend: Measure, weights: Sequence[Fraction], under: Filter | None
) -> list[list[Measure]]:
    """List the ways to divide a spend: by its routes, and an (ε, δ) also as smaller (ε, δ).

    Unknown keys need the latter.
    """
    routes = routes_under(spend, under)
    divisions: list[list[Measure]] = [list(split(route, weights)) for route in routes]
    if isinstance(spend, ApproxDP):
        delta = spend.delta
        if under is not None and under.terms.delta:
            delta = min(spend.delta, under.terms.delta)
        total = sum(weights)
        fractions = [weight / total for weight in weights]
        divisions.append([ApproxDP(spend.epsilon * part, delta * part) for part in fractions])
    return divisions


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
    """Return the weighted sum over questions of the mean logarithm of their errors."""
    losses: list[float] = []
    for name, plan in plans:
        count = len(plan.uses)
        even_weights = [Fraction(1, max(1, count))] * count
        losses.append(float(weights[name]) * plan.loss(even_weights))
    return sum(losses)
