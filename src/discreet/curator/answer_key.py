"""Cache key of a stored answer, and what else names a charge: event, question name, part.

**Keys, third format.** A key has three parts: the number of the meaning, the print of the measured part
(`query.text.measured_part`), and the hash of the questions by name and of the terms:

    2:m2:<measured part>:<questions and terms>

The fingerprints of the questions hold the tables with their versions and neighbours. Nothing of the plan
is in the key, so a better planner finds the answers that an older one paid for (idempotent asking). Equal
keys have equal answers: whatever changes what an answer *means* is in the key, and what changes how it is
shown is not. Keys that differ only after the measured part are of the same totals.

    term                            in the key
    ------------------------------  ----------------------------------------------------------------
    spend, or error by statistic    always: it says how exact the answer is
    weights                         unless all are equal
    level                           with an error, and for quantiles, whose interval is fixed when drawn
    nonnegative                     if there is a count that it moves
    intervals                       if there is a quantile that is to have none
    whole                           if it is asked for
    size                            if errors of several totals are balanced for it (means and the like)

**Meanings.** Which rows count, and with which weight, is numbered (`MEANING`). Answers of meaning 1 have
keys of the second format, which hash questions and terms alone, or of the first, of release 0.1.0, which
hash the planned events (see `stored_answer`). They are given again only where `same_target` proves that
they counted what the question counts now.

**Parts** (parallel composition). `part_of` finds the one part of a partitioned ledger that a question
touches, by public facts.

Guarantee: keys are stored in ledgers, so a key of one format never changes.
Law: tests/curator/test_answer_key.py, tests/ledger/test_before_0_2_0.py, tests/curator/test_part.py
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias, assert_never

from ..arithmetic.canonical import hash_json
from ..arithmetic.rational import rational
from ..data.columns.column import Date, Timestamp
from ..data.columns.keys import KeyValue
from ..data.schema import Schema
from ..data.unit import People, Rows
from ..errors import InvalidArgument
from ..frozen import field, frozen
from ..ledger import Parts
from ..ledger.stores.store import SECOND_FORMAT
from ..mechanisms.reading.budget import read_budget
from ..plan.asked.terms import Terms, read_errors
from ..plan.plan import Plan
from ..plan.text.plan import share_text
from ..privacy.events import Batch, Event
from ..privacy.events.json import Json, measure_to_json, to_json
from ..query.algebra.chain import leaves
from ..query.algebra.expression import Call, Constant, Expression, Field, Function
from ..query.algebra.statistic import Quantile, Result, Statistic
from ..query.algebra.tree import (
    JoinPeople,
    JoinPublic,
    PerPerson,
    Question,
    Relation,
    Scan,
    Select,
    Union,
    Where,
    inputs_of,
)
from ..query.bounds.fanout import find_cut, find_cuts
from ..query.bounds.keys import PublicValues
from ..query.bounds.missing_keys import absent_keys, marked_question
from ..query.bounds.relation_facts import tables_of, unit_of
from ..query.domains.domain import Scalar
from ..query.text.measured_part import measured_prints
from ..query.text.question import describe, fingerprint

Questions: TypeAlias = Mapping[str, Question]
"""Questions by name; a single question has the empty name."""
FORMAT = 3
"""Format of the text behind a key. Ledgers keep keys, so it changes only with a new number."""
FORMER_FORMAT = 2
"""Format of keys of meaning 1."""
MEANING = 2
"""Number of the rules by which rows count (docs/explanation/meaning.md); 1 until rows without a key and
people's rows counted alike in every table."""


def event_of(plans: Mapping[str, Plan]) -> Event:
    """Return all releases of some plans as one event, to be charged at once.

    Refuses: plans that release nothing. Whatever is shown must have been paid for.
    """
    events: list[Event] = []
    for plan in plans.values():
        events += plan.events
    if not events:
        raise InvalidArgument(
            "there is nothing to release, so there is nothing to pay for; ask for an aggregate"
        )
    return _as_one(events)


def _as_one(events: list[Event]) -> Event:
    """Return a single event as it is, several as a batch."""
    if len(events) == 1:
        return events[0]
    return Batch(events)


def event_apart(plans: Mapping[str, Plan]) -> Event:
    """Return the event if every statistic had totals of its own, as release 0.1.0 planned them."""
    events: list[Event] = []
    for plan in plans.values():
        events += plan.apart or plan.events
    return _as_one(events)


@frozen
class AnswerKey:
    """Key of questions on their terms, with what it is the hash of.

    `former` is the key of the second format, under which answers of meaning 1 are stored. `prints` are the
    fingerprints of the questions by name, `said` the terms as `terms_of` writes them.
    """

    text: str
    former: str
    prints: Mapping[str, str] = field(hash=False)
    said: Json = field(hash=False)


def key_of(questions: Questions, terms: Terms) -> AnswerKey:
    """Return the key of questions on their terms; no plan is needed."""
    prints = prints_of(questions)
    said = terms_of(questions, terms)
    asked = {"key": FORMAT, "meaning": MEANING, "asked": prints, "terms": said}
    measured = measured_prints(questions)
    text = f"{SECOND_FORMAT}m{MEANING}:{measured}:{hash_json(asked)}"
    return AnswerKey(text, key_name(prints, said), prints, said)


def key_name(prints: Mapping[str, str], said: Json) -> str:
    """Return the key of the second format: of models, and of answers of meaning 1."""
    text = {"key": FORMER_FORMAT, "asked": dict(prints), "terms": said}
    return SECOND_FORMAT + hash_json(text)


def same_target(questions: Questions, public_values: PublicValues | None) -> bool:
    """Return whether meaning 1 counted the same rows with the same weights, whatever the data are.

        unit     questions           the same if
        Rows     one                 all its sets of keys count the same rows
        Rows     several             no row can be without a key of any of them
        People   one or several      no row can be without a key, all keys are public, no cap on
                                     groups is declared and no join truncates: rows outside the keys
                                     were not among a person's rows, a plan chose between two caps,
                                     and the columns that were read decided which rows were kept

    Law: tests/curator/test_former_answers.py
    """
    for question in questions.values():
        has_people = isinstance(unit_of(question.rows), People)
        if not has_people and len(questions) == 1:
            return marked_question(question, public_values) == question
        if absent_keys(question, public_values):
            return False
        if has_people and (not _has_one_cap(question) or _truncates(question.rows)):
            return False
    return True


def _truncates(rows: Relation) -> bool:
    """Return whether a join keeps only some of a person's rows."""
    cuts: tuple[int | None, ...] = ()
    if isinstance(rows, JoinPublic):
        cuts = (find_cut(rows),)
    elif isinstance(rows, JoinPeople):
        cuts = find_cuts(rows)
    if any(cut is not None for cut in cuts):
        return True
    return any(map(_truncates, inputs_of(rows)))


def _has_one_cap(question: Question) -> bool:
    """Return whether keys are public and no table declares a cap beside `max_rows`."""
    if any(key.values is None for key in question.keys):
        return False
    for schema in tables_of(question.rows):
        if isinstance(schema.unit, People) and schema.unit.max_groups is not None:
            return False
    return True


def questions_of(plans: Mapping[str, Plan]) -> dict[str, Question]:
    """Return the questions of plans, by name."""
    return {name: plan.question for name, plan in plans.items()}


def prints_of(questions: Questions) -> dict[str, str]:
    """Return the fingerprints of the questions, by name."""
    return {name: fingerprint(question) for name, question in questions.items()}


def texts_of(questions: Questions) -> dict[str, str]:
    """Return the questions as SQL, by name."""
    return {name: describe(question) for name, question in questions.items()}


def terms_of(questions: Questions, terms: Terms) -> Json:
    """Write the terms that change what an answer means, by the table above, as plain JSON types."""
    statistics: list[Statistic] = []
    for question in questions.values():
        for _, statistic in question.statistics:
            statistics.append(statistic)
    has_quantiles = any(isinstance(statistic, Quantile) for statistic in statistics)
    has_counts = any(map(is_count, statistics))
    balanced = any(statistic.declared.balanced for statistic in statistics)
    said: Json = {}
    if terms.spend is not None:
        said["spend"] = measure_to_json(read_budget(terms.spend))
    if terms.error is not None:
        said["error"] = {name: _errors(one, name, terms) for name, one in questions.items()}
    weights = _weights(questions, terms)
    if weights:
        said["weights"] = weights
    if terms.size is not None and balanced:
        said["size"] = terms.size
    if terms.error is not None or has_quantiles:
        said["level"] = repr(terms.level)
    if not terms.intervals and has_quantiles:
        said["intervals"] = False
    if terms.nonnegative and has_counts:
        said["nonnegative"] = True
    if terms.whole:
        said["whole"] = True
    return said


def _errors(question: Question, name: str, terms: Terms) -> list[str]:
    """Write the error of every statistic, in order; of several questions each may have its own."""
    error = terms.error
    if name and isinstance(error, Mapping):
        error = error[name]
    # The planner has read the errors before, so their type is right.
    errors = read_errors(question, error)  # type: ignore[arg-type]
    return [str(one) for one in errors]


def _weights(questions: Questions, terms: Terms) -> dict[str, str]:
    """Write the part of a spend of each statistic, or of each question; nothing if the parts are equal."""
    names = list(questions)
    columns = {}
    if names == [""]:
        # One question: its statistics have the weights, by their own names or those of shown columns.
        question = questions[""]
        names = [name for name, _ in question.statistics]
        for column, made in question.finish.columns:
            if isinstance(made, Field):
                columns[column] = made.name
    given = {}
    for name, weight in (terms.weights or {}).items():
        given[columns.get(name, name)] = rational(weight, "weights")
    weights = {name: given.get(name, Fraction(1)) for name in names}
    if len(set(weights.values())) <= 1:
        return {}
    total = sum(weights.values())
    return {name: str(weight / total) for name, weight in weights.items()}


def is_count(statistic: Statistic) -> bool:
    """Return whether a statistic is a count, which `nonnegative` moves to 0 or above."""
    return statistic.declared.result is Result.COUNT


def shares_of(plan: Plan) -> list[str]:
    """Write the contribution bound of each release: how much of one unit counts."""
    return [share_text(release.need.tally.share) for release in plan.releases]


def question_name(prints: Mapping[str, str]) -> str:
    """Return the name of the questions in the ledger: a fingerprint, or one hash for several by name.

    >>> from discreet.curator.answer_key import question_name
    >>> question_name({"": "c0ffee"}), len(question_name({"a": "c0ffee"}))
    ('c0ffee', 64)
    """
    if list(prints) == [""]:
        return prints[""]
    return hash_json(dict(prints))


def old_key_of(plans: Mapping[str, Plan], level: float, *, nonnegative: bool) -> str:
    """Return the key of release 0.1.0, which hashed planned events and shares instead of the terms."""
    asked = []
    for name, plan in plans.items():
        described = {
            "name": name,
            "fingerprint": fingerprint(plan.question),
            "events": [to_json(event) for event in plan.events],
            "shares": shares_of(plan),
        }
        asked.append(described)
    text = {"key": 1, "asked": asked, "level": repr(level), "nonnegative": nonnegative}
    return hash_json(text)


def part_of_all(questions: Questions, parts: Parts | None) -> KeyValue | None:
    """Return the one part that all questions touch; None if there is no such part."""
    touched = [part_of(question, parts) for question in questions.values()]
    if not touched:
        return None
    first = touched[0]
    for part in touched:
        # True and 1 are equal to Python, but they are two parts.
        if part != first or type(part) is not type(first):
            return None
    return first


def part_of(question: Question, parts: Parts | None) -> KeyValue | None:
    """Return the single part that a question touches; None if all parts must be charged.

    A unit must lie in one part with everything it has. Otherwise two questions about two parts would
    both be about it. Hence both conditions:

    - every private table that is read is the partitioned one, and WHERE directly over it pins the
      column to one value;
    - the unit is a row, or a person within a day where the parts are the days of the same column.

    A person with rows in several parts is in all of them, so such questions are charged to all. A column
    is compared as the schema reads it (clipped, defaults filled in), in the question and in the store
    alike. So each row is in exactly one part, whatever it holds.

    >>> import discreet as dp
    >>> from discreet.curator.answer_key import part_of
    >>> from discreet.data import Category, Integer, Schema
    >>> from discreet.query.sql.parse import parse
    >>> people = {"people": Schema("people", dp.Rows(), {"age": Integer(0, 120), "month": Category(["jan", "feb"])})}
    >>> parts = dp.Parts("people", "month", ("jan", "feb"))
    >>> part_of(parse("SELECT COUNT(*) FROM people WHERE age > 17 AND month = 'feb'", people), parts)
    'feb'
    >>> part_of(parse("SELECT COUNT(*) FROM people WHERE month <> 'jan'", people), parts) is None
    True
    """
    if parts is None:
        return None
    pinned = _pinned_parts(question.rows, parts)
    distinct = {_identity(value): value for value in pinned if value is not None}
    # One scan that is not pinned reads every part.
    if None in pinned or len(distinct) != 1:
        return None
    return next(iter(distinct.values()))


def _identity(value: object) -> tuple[bool, object]:
    """Return a key by which True and 1 differ, which Python takes for equal."""
    return isinstance(value, bool), value


def _pinned_parts(relation: Relation, parts: Parts) -> list[KeyValue | None]:
    """List, for every scan, the part that it is pinned to; None where it is not."""
    match relation:
        case Scan():
            return [None]
        case Where(rows=rows):
            schema = _scanned_table(rows)
            if schema is not None:
                return [_pinned_part(schema, relation, parts)]
            return _pinned_parts(rows, parts)
        case Select(rows=rows) | JoinPublic(rows=rows) | PerPerson(rows=rows):
            return _pinned_parts(rows, parts)
        case JoinPeople(left=left, right=right):
            return _pinned_parts(left, parts) + _pinned_parts(right, parts)
        case Union(parts=members):
            pinned: list[KeyValue | None] = []
            for member in members:
                pinned += _pinned_parts(member, parts)
            return pinned
        case _:
            assert_never(relation)


def _scanned_table(relation: Relation) -> Schema | None:
    """Return the table under nothing but conditions; None if something else lies between."""
    while isinstance(relation, Where):
        relation = relation.rows
    if isinstance(relation, Scan):
        return relation.schema
    return None


def _pinned_part(schema: Schema, relation: Relation, parts: Parts) -> KeyValue | None:
    """Return the part to which the conditions over a scan pin it; None if they do not."""
    if schema.name.casefold() != parts.table.casefold():
        return None
    if not _whole_units(schema, parts):
        return None
    name, column = schema.column(parts.column)
    values = {_identity(_constant(column, value)): value for value in parts.values}
    while isinstance(relation, Where):
        for condition in leaves(Function.AND, relation.condition):
            constant = _equals(condition, name)
            # A constant of another type of time is not compared with this column as it stands.
            if constant is None or constant.time != _time(column):
                continue
            if _identity(constant.value) in values:
                return values[_identity(constant.value)]
        relation = relation.rows
    return None


def _whole_units(schema: Schema, parts: Parts) -> bool:
    """Return whether all rows that a unit has in this table lie in one part."""
    if isinstance(schema.unit, Rows):
        return True
    if not isinstance(schema.unit, People):
        return False
    name, column = schema.column(parts.column)
    # A person within a day has all rows of that day in one part if the parts are the days.
    return schema.unit.window == (name, "day") and isinstance(column, Date)


def _constant(column: object, value: object) -> Scalar:
    """Return a declared value as a question's constants hold it: days and seconds as integers."""
    if isinstance(column, Date | Timestamp):
        return column.steps(value)
    return value  # type: ignore[return-value]


def _time(column: object) -> str | None:
    """Return the unit of an integer constant that is compared with this column."""
    if isinstance(column, Date):
        return "day"
    if isinstance(column, Timestamp):
        return "second"
    return None


def _equals(condition: Expression, name: str) -> Constant | None:
    """Return the constant of `x = constant`, `constant = x` or `x IN (constant)` for the column x."""
    match condition:
        case Call(
            function=Function.EQUAL | Function.AMONG,
            arguments=(Field(name=field_name), Constant() as constant),
        ):
            pass
        case Call(
            function=Function.EQUAL, arguments=(Constant() as constant, Field(name=field_name))
        ):
            pass
        case _:
            return None
    if field_name == name:
        return constant
    return None
