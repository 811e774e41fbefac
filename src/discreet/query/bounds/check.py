"""Last check of a question, by public facts alone: its parts fit together and have bounds.

A question that passed is a `CheckedQuestion`, which need not be checked again.

Guarantee: a question that passes has a bound for what one unit can change, and no name, type or
list of keys in it contradicts another.

Refuses: with `UnsupportedQuery` or `UnboundedSensitivity` every other question, and reads
no private row.

Law: tests/query/test_relation_facts.py::TestTheLastCheck
"""

from __future__ import annotations

from collections.abc import Iterator

from ...data.unit import People, Rows
from ...frozen import field, frozen
from ..algebra.expression import Call, Constant, Expression, Function, fields_of, windows_of
from ..algebra.refusal import refusal
from ..algebra.statistic import (
    Argument,
    Count,
    CountOf,
    CountPeople,
    CountPeopleIf,
    Mean,
    Overall,
    Quantile,
    Statistic,
    Sum,
    expressions_of,
)
from ..algebra.tree import (
    Finish,
    Key,
    PerPerson,
    Question,
    Relation,
    Total,
    names_of,
    relations_in,
    require_unique_names,
)
from ..algebra.window import window_parts
from ..domains.domain import Day, Domain, Scalar, Second, Texts, Truth, Values, Whole, is_number
from ..domains.domain_of import domain_of
from ..domains.text_functions import text_domain
from ..domains.type_of import ValueType, type_of
from ..meaning.post_processing import types_of
from .fanout import check_joins
from .grouping_sets import by_sums, check_sets
from .keys import PublicValues, public_keys
from .missing_keys import marked_question
from .nested import MAX_LEAVES, ColumnValues, with_nest
from .relation_facts import columns_of, multiplicity, neighbours_of, unit_of

# Functions of text, whose arguments have rules of their own.
_TEXT = (
    Function.LOWER,
    Function.UPPER,
    Function.TRIM,
    Function.LENGTH,
    Function.LIKE,
    Function.SUBSTRING,
)

# Kinds of totals that engines compute per person.
_TOTALS = ("count", "sum", "least", "greatest")
_TOTALLED = (Count, CountOf, CountPeople, CountPeopleIf, Sum, Mean)
"""Statistics that a scalar sub-query may be: each is made of totals without keys."""


def require_sound(question: Question, public_values: PublicValues | None = None) -> Question:
    """Return the question if its parts fit together and have bounds, else refuse it.

    In the result a hierarchy of keys is filled in (`with_nest`), and means of several sets of keys
    are sums and counts (`by_sums`).

    >>> import discreet as dp
    >>> from discreet.query.algebra.statistic import Sum
    >>> from discreet.query.algebra.tree import Finish
    >>> from discreet.query.bounds.check import require_sound
    >>> from discreet.data import Boolean, Rows, Schema
    >>> from discreet.query.algebra.tree import Scan
    >>> from discreet.query.algebra.expression import Field
    >>> votes = Scan(Schema("votes", Rows(), {"yes": Boolean()}))
    >>> finish = Finish((("total", Field("total")),))
    >>> require_sound(dp.Question(votes, (), (("total", Sum(Field("yes"))),), finish))
    Traceback (most recent call last):
    ...
    discreet.errors.UnsupportedQuery: SUM: it takes a number; of a condition, count the rows \
WHERE it holds

    Refuses: a draft schema, units that differ, rows without a bound, statistics of the wrong
    domain, and names that clash.
    """
    check_rows(question.rows)
    columns = columns_of(question.rows)
    if question.sets is not None:
        question = by_sums(question)
    _check_asks(question)
    for key in question.keys:
        _check_key(key, domain_of(key.expression, columns))
    for _, statistic in question.statistics:
        _check_statistic(statistic, question.rows, columns, public_values)
    key_names = [key.name for key in question.keys]
    require_unique_names(key_names + names_of(question.statistics))
    _check_no_window_over_all(question)
    _check_finish(question.finish, types_of(question))
    # Nested keys get their values here, and the check of sets needs them.
    question = with_nest(question, ColumnValues(question.rows, MAX_LEAVES, public_values))
    if question.sets is not None or question.running or question.nested is not None:
        check_sets(question)
    return question


def _check_asks(question: Question) -> None:
    """Refuse a question without statistics, unless it asks for keys: private or declared ones."""
    if question.statistics or question.keys:
        return
    why = "there is nothing to count or sum up"
    raise refusal("SELECT", why, "ask for at least one aggregate, as COUNT(*)")


def check_rows(relation: Relation) -> None:
    """Refuse rows of tables with different units or neighbours, and rows without a bound."""
    columns_of(relation)
    neighbours_of(relation)
    _check_totals(relation)
    check_joins(relation)
    # People are bounded by shares; rows only by their multiplicity.
    if isinstance(unit_of(relation), Rows):
        multiplicity(relation)


def _check_totals(relation: Relation) -> None:
    """Refuse totals of a person's rows with empty bounds or steps: clipping would bound nothing."""
    for each in relations_in(relation):
        if isinstance(each, PerPerson):
            for name, total in each.totals:
                _check_total(name, total)


def _check_total(name: str, total: Total) -> None:
    clause = f"the total {name} of a person"
    if total.low > total.high or total.step <= 0 or total.what not in _TOTALS:
        raise refusal(clause, "it has no bounds", "give low ≤ high and a step > 0")
    if (total.what == "count") != (total.expression is None):
        raise refusal(clause, "rows are counted, values added up", "say which")


def _check_key(key: Key, domain: Domain) -> None:
    """Refuse public values of another type, and a value that is listed twice.

    A unit counts in one cell of the list. If a value were listed k times, the unit would count in k
    cells, and the mean of these k answers would have 1/k of the variance that was paid for. True, 1
    and 1/1 are one value.
    """
    if key.values is None:
        return
    # Python's equality is the one meant: True == 1 == Fraction(1).
    if len(set(key.values)) < len(key.values):
        raise refusal("GROUP BY", f"a value of {key.name} is listed twice", "list each once")
    for value in key.values:
        if value is not None and not _fits(value, domain):
            raise refusal(
                "GROUP BY", f"{value!r} is no value of {key.name}", "list values of its own type"
            )


def _fits(value: Scalar, domain: Domain) -> bool:
    """Return whether a value is of the type that a domain holds."""
    match domain:
        case Texts():
            return isinstance(value, str)
        case Truth():
            return isinstance(value, bool)
        case _:
            return is_number(value)


def _check_statistic(
    statistic: Statistic, rows: Relation, columns: dict[str, Domain], values: PublicValues | None
) -> None:
    """Refuse a statistic whose arguments are not of the kind that it declares."""
    argument = statistic.declared.argument
    of_people = argument in (Argument.PEOPLE, Argument.CONDITION)
    if of_people and isinstance(unit_of(rows), Rows):
        raise refusal("COUNT(DISTINCT person)", "the unit of this table is a row", "use COUNT(*)")
    if isinstance(statistic, Overall):
        _check_overall(statistic, rows, values)
    for expression in expressions_of(statistic):
        domain = domain_of(expression, columns)
        if argument is Argument.NUMBER:
            _check_number(statistic.declared.name, domain)
        elif argument is Argument.ORDERED:
            _check_ordered(domain)
        elif argument is Argument.CONDITION and not isinstance(domain, Truth):
            raise refusal(
                "COUNT(DISTINCT person) FILTER", "it takes a condition", "write one as x > 3"
            )
        elif argument in (Argument.KEY, Argument.LISTED):
            candidates = public_keys(expression, rows, public_values=values)
            # Distinct values can be counted without a list; a mode is chosen from one.
            if argument is Argument.LISTED:
                _check_candidates(candidates)
    if isinstance(statistic, Quantile) and not 0 <= statistic.at <= 1:
        raise refusal("QUANTILE", "a share lies from 0 to 1", "ask for 0.5, the median")


def _check_candidates(candidates: Values | None) -> None:
    if candidates is None:
        raise refusal("MODE", "it needs a short public list of values", "use a Category, or bins")
    if not candidates:
        raise refusal("MODE", "no value meets the conditions", "ask for others")


def _check_number(name: str, domain: Domain) -> None:
    if isinstance(domain, Truth):
        raise refusal(name, "it takes a number", "of a condition, count the rows WHERE it holds")
    if not isinstance(domain, Whole):
        raise refusal(
            name,
            "it takes a number, not text or a time",
            "count it, or take a part of it, as YEAR does",
        )


def _check_ordered(domain: Domain) -> None:
    if not isinstance(domain, Whole | Day | Second):
        raise refusal(
            "MIN, MAX and quantiles",
            "they take a number, a date or a time",
            "count text with GROUP BY",
        )


def _check_overall(overall: Overall, rows: Relation, values: PublicValues | None) -> None:
    """Refuse a scalar sub-query that is no total, or whose rows are of others than the question's.

    Both are charged together, so they must protect the same units under the same neighbours.
    """
    inner = overall.statistic
    if not isinstance(inner, _TOTALLED):
        raise refusal(
            "(SELECT …)",
            "beside other results it is a count, a sum or a mean of all rows",
            "ask for it by itself",
        )
    check_rows(overall.rows)
    _check_statistic(inner, overall.rows, columns_of(overall.rows), values)
    units = []
    for relation in (rows, overall.rows):
        unit = unit_of(relation)
        # A row of any table is one unit; people are the same where `who` and window are.
        units.append((unit.who, unit.window) if isinstance(unit, People) else None)
    if units[0] != units[1] or neighbours_of(rows) != neighbours_of(overall.rows):
        raise refusal(
            "(SELECT …)", "its tables protect other units than those outside", "ask each by itself"
        )


def _check_no_window_over_all(question: Question) -> None:
    """Refuse LAG and SUM … OVER of a scalar sub-query: all rows share its noise."""
    shared = set()
    for name, statistic in question.statistics:
        if isinstance(statistic, Overall):
            shared.add(name)
    finish = question.finish
    shown = [expression for _, expression in finish.columns]
    shown += [expression for expression, _ in finish.order]
    if finish.qualify is not None:
        shown.append(finish.qualify)
    for expression in shown:
        for window in windows_of(expression):
            if fields_of(window) & shared:
                raise refusal(
                    "OVER",
                    "a sub-query is the same number in every row",
                    "divide after the window: LAG(COUNT(*)) OVER (…) / (SELECT …)",
                )


def _check_finish(finish: Finish, types: dict[str, ValueType]) -> None:
    """Check the post-processing of results: columns shown, HAVING, ORDER BY, LIMIT, OFFSET."""
    if not finish.columns:
        raise refusal("SELECT", "there are no columns to show", "name at least one")
    require_unique_names(names_of(finish.columns))
    shown = [expression for _, expression in finish.columns]
    shown += [expression for expression, _ in finish.order]
    for expression in shown:
        if type_of(expression, types) is None:
            raise refusal("SELECT", "a bare NULL says nothing", "leave it out")
        if isinstance(expression, Constant) and isinstance(expression.value, str):
            # Refuses text that no store can hold.
            domain_of(expression, {})
    if finish.having is not None:
        if type_of(finish.having, types) != "truth":
            raise refusal("HAVING", "it takes a condition", "write one such as COUNT(*) > 100")
        shown.append(finish.having)
    if finish.qualify is not None:
        if type_of(finish.qualify, types) != "truth":
            raise refusal("QUALIFY", "it takes a condition", "write one such as r <= 3")
        shown.append(finish.qualify)
    for expression in shown:
        _check_windows(expression)
    # type() and not isinstance: True is no number of rows.
    if finish.limit is not None and (type(finish.limit) is not int or finish.limit < 0):
        raise refusal("LIMIT", "it takes a whole number from 0", "write LIMIT 10")
    if type(finish.offset) is not int or finish.offset < 0:
        raise refusal("OFFSET", "it takes a whole number from 0", "write OFFSET 10")
    for expression in shown:
        for call in _calls(expression):
            if call.function in _TEXT:
                # Keys are text of some length; only the other arguments are checked here.
                text_domain(call.function, call.arguments, [Texts(1)])


def _check_windows(expression: Expression) -> None:
    """Refuse windows whose frame or order is not of their form: they are computed after the charge."""
    for call in windows_of(expression):
        try:
            window_parts(call)
        except (ValueError, IndexError):
            raise refusal(
                "OVER", "its frame or its order is not of the known form", "write it in SQL"
            ) from None


def _calls(expression: Expression) -> Iterator[Call]:
    if isinstance(expression, Call):
        yield expression
        for argument in expression.arguments:
            yield from _calls(argument)


@frozen
class CheckedQuestion:
    """A question that passed the check, and the reader of public tables that the check used."""

    question: Question
    public_values: PublicValues | None = None
    rows_public: bool = False
    """Whether the store holds every record it was given.

    Under "replace" neighbours the number of rows of a table is public then.
    """
    _marked: list[Question | None] = field(default_factory=list, compare=False, repr=False)

    @property
    def marked(self) -> Question | None:
        """The question to the store from which all sets of keys are sums of one table; None if
        there is none (`missing_keys.marked_question`).

        It is worked out once: a hierarchy may list 200,000 places. A single set is its own table.
        """
        if self.question.sets is None:
            return self.question
        if not self._marked:
            # Two threads may both work it out; they find the same.
            self._marked.append(marked_question(self.question, self.public_values))
        return self._marked[0]


def check_question(
    question: Question, public_values: PublicValues | None = None
) -> CheckedQuestion:
    """Return the question as a checked one.

    Refuses: questions without a bound or whose parts do not fit together; see
    `query.bounds.check`.
    """
    return CheckedQuestion(require_sound(question, public_values), public_values)
