"""Cache key of a stored answer: equal questions on equal terms find one stored answer by it.

The module also makes the other two names of a charge: its event, and the name of its question.

**Keys, fourth format.** The *measured part* of a question (`query.text.measured_part`) is the
question reduced to its exact totals: tables, conditions, keys and statistics, without aliases,
order and post-processing. A key has a prefix, the number of the meaning and two digests:

    2:m2:<fingerprint of the measured part>:<hash of measured parts by question, and of terms>

Several questions of one release have one hash of all their fingerprints as the first digest. Tables
from which counts under a condition are made (`curator.contrast`) have there the hash of a family of
questions, so that one search finds all tables of a family.

A fingerprint covers the tables with their versions and neighbours. The plan is not in the key, so
a better planner finds the answers that an older one paid for (idempotent asking). Questions that
differ only in aliases, order or post-processing share a key, and are read from one stored table.
Equal keys have equal exact totals and equal terms:

    term of the request             part of the key
    ------------------------------  ----------------------------------------------------------------
    spend, or error by statistic    always: it says how exact the answer is
    weights                         unless all are equal
    level                           with an error; for quantiles, whose interval is drawn with them
    nonnegative                     if it is asked for and there is a count that it moves
    intervals                       if intervals are switched off and there is a quantile
    whole                           if it is asked for
    size                            if it is given and a statistic balances errors of several totals
                                    by it (means and the like)

Keys of the third format have fingerprints of the whole questions in place of the measured parts.
Their answers are found again only by a question of the same aliases, order and post-processing.

**Meanings.** The rules by which rows count, and with which weight, have a number (`MEANING`).
Answers of meaning 1 have keys of the second format (a hash of questions and terms) or of the
first. The first is that of release 0.1.0, a hash of the planned events (`old_key_of`). Both are
given again only where `same_target` proves that they counted what the question counts now.

Guarantee: keys are stored in ledgers, so a key of one format never changes.
Law: tests/curator/test_answer_key.py, tests/ledger/test_before_0_2_0.py
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeAlias

from ..arithmetic.canonical import canonical_json, hash_json
from ..arithmetic.rational import rational
from ..data.unit import People
from ..errors import InvalidArgument
from ..frozen import field, frozen
from ..ledger.stores.store import SECOND_FORMAT
from ..mechanisms.reading.value import read_budget
from ..plan.asked.terms import Terms, read_errors
from ..plan.plan import Plan
from ..plan.text.plan import share_text
from ..privacy.events import Batch, Event
from ..privacy.events.json import Json, measure_to_json, to_json
from ..query.algebra.expression import Field
from ..query.algebra.statistic import Quantile, Result, Statistic
from ..query.algebra.tree import (
    JoinPeople,
    JoinPublic,
    Question,
    Relation,
    inputs_of,
    relations_of,
)
from ..query.bounds.check import CheckedQuestion
from ..query.bounds.fanout import find_cut, find_cuts
from ..query.bounds.missing_keys import absent_keys
from ..query.bounds.relation_facts import always_present, tables_of, unit_of
from ..query.text.measured_part import MeasuredPart, measured_part, prints_name
from ..query.text.question import describe, fingerprint

Questions: TypeAlias = Mapping[str, Question]
"""Questions by name; a single question has the empty name."""
FORMAT = 4
"""Format of the text behind a key. Ledgers keep keys, so it changes only with a new number."""
SPELLED_FORMAT = 3
"""Format of keys of one spelling of a question: its aliases, order and post-processing."""
FORMER_FORMAT = 2
"""Format of keys of meaning 1."""
MEANING = 2
"""Number of the rules by which rows count (docs/explanation/meaning.md); 1 until rows without a key and
people's rows counted alike in every table."""


def event_of(plans: Mapping[str, Plan]) -> Event:
    """Return all releases of some plans as one event, to be charged at once.

    The releases are sorted by their JSON text, whatever the order of the statistics was: else a
    charge would tell in which order a colleague wrote them.

    Refuses: plans that release nothing. Whatever is shown must have been paid for.
    """
    return _as_one(sorted(_events(plans), key=_event_text))


def planned_events(plans: Mapping[str, Plan]) -> list[Json]:
    """Return the JSON of two events of the same releases: sorted as charged now, and in plan order.

    Earlier releases charged the second one.
    """
    return [to_json(event_of(plans)), to_json(_as_one(_events(plans)))]


def _events(plans: Mapping[str, Plan]) -> list[Event]:
    events: list[Event] = []
    for plan in plans.values():
        events += plan.events
    if not events:
        raise InvalidArgument(
            "there is nothing to release, so there is nothing to pay for; ask for an aggregate"
        )
    return events


def _event_text(event: Event) -> str:
    return canonical_json(to_json(event))


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
    """Keys of questions on their terms in three formats, with what they are hashes of.

    `text` is the key of the fourth format, under which answers are stored now. `spelled` is that
    of the third format, of this spelling of the questions. `former` is that of the second format,
    under which answers of meaning 1 are stored. `prints` are the fingerprints of the questions by
    name, `measured` the measured parts, `said` the terms as `terms_of` writes them for the
    measured parts.
    """

    text: str
    spelled: str
    former: str
    prints: Mapping[str, str] = field(hash=False)
    measured: Mapping[str, MeasuredPart] = field(hash=False)
    said: Json = field(hash=False)

    @property
    def question(self) -> str:
        """The name of the measured parts in the ledger."""
        return question_name(measured_names(self.measured))


def key_of(questions: Questions, terms: Terms, family: str | None = None) -> AnswerKey:
    """Return the keys of questions on their terms; no plan is needed.

    `family` takes the place of the fingerprint with which `text` and `spelled` begin, so that all
    keys of a family are found by one prefix.
    """
    prints = prints_of(questions)
    spelled_terms = terms_of(questions, terms)
    measured = {name: measured_part(question) for name, question in questions.items()}
    names = measured_names(measured)
    said = _measured_terms(spelled_terms, measured)
    start = key_start(family or prints_name(names.values()))
    asked = {"key": FORMAT, "meaning": MEANING, "measured": names, "terms": said}
    spelled = {
        "key": SPELLED_FORMAT,
        "meaning": MEANING,
        "asked": prints,
        "terms": spelled_terms,
    }
    return AnswerKey(
        start + hash_json(asked),
        start + hash_json(spelled),
        key_name(prints, spelled_terms),
        prints,
        measured,
        said,
    )


def key_start(print_: str) -> str:
    """Return the prefix of all keys of a measured part, on any terms, from its fingerprint."""
    return f"{SECOND_FORMAT}m{MEANING}:{print_}:"


def measured_names(measured: Mapping[str, MeasuredPart]) -> dict[str, str]:
    """Return the fingerprints of measured parts, by the name of their question."""
    return {name: fingerprint(part.question) for name, part in measured.items()}


def _measured_terms(said: Json, measured: Mapping[str, MeasuredPart]) -> Json:
    """Rewrite the JSON of `terms_of` with the order and the names of the measured parts."""
    terms = dict(said)
    if "error" in said:
        errors = {}
        for name, part in measured.items():
            # Written in the order of the asked statistics; `names` has them in the measured order.
            by_name = dict(zip(part.asked, said["error"][name], strict=True))  # type: ignore[index]
            errors[name] = list(map(by_name.__getitem__, part.names))
        terms["error"] = errors
    weights = said.get("weights")
    if isinstance(weights, dict) and list(measured) == [""]:
        renamed = {}
        for name, weight in weights.items():
            renamed[measured[""].names[name]] = weight
        terms["weights"] = renamed
    return terms


def key_name(prints: Mapping[str, str], said: Json) -> str:
    """Return the key of the second format: of models, and of answers of meaning 1."""
    text = {"key": FORMER_FORMAT, "asked": dict(prints), "terms": said}
    return SECOND_FORMAT + hash_json(text)


def same_target(questions: Mapping[str, CheckedQuestion]) -> bool:
    """Return whether meaning 1 counted the same rows with the same weights, whatever the data are.

        unit     questions        the same if
        Rows     one              all its sets of keys count the same rows
        Rows     several          no row can lack a key of any of them
        People   one or several   1. no row can lack a key: it was not among a person's rows; and
                                  2. all keys are public and no `max_groups` is declared: else the
                                     plan chose between two caps; and
                                  3. no join truncates: the columns that a question read decided
                                     which rows a join kept; and
                                  4. no quantile is of an expression that may be NULL: such a row
                                     was not among a person's rows

    Law: tests/curator/test_former_answers.py
    """
    for checked in questions.values():
        question = checked.question
        has_people = isinstance(unit_of(question.rows), People)
        if not has_people and len(questions) == 1:
            return checked.marked == question
        if absent_keys(question, checked.public_values):
            return False
        truncates = any(map(_truncates, relations_of(question)))
        if has_people and (not _has_one_cap(question) or truncates):
            return False
        if has_people and _has_quantile_of_null(question):
            return False
    return True


def _has_quantile_of_null(question: Question) -> bool:
    """Return whether a quantile is of an expression that may be NULL."""
    for _, statistic in question.statistics:
        if isinstance(statistic, Quantile) and not always_present(statistic.of, question.rows):
            return True
    return False


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
    """Return whether all keys have declared values and no table declares `max_groups`."""
    if any(key.values is None for key in question.keys):
        return False
    for relation in relations_of(question):
        for schema in tables_of(relation):
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
    """Write the terms that are part of a key as JSON types, by the table in the module docstring."""
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
    """Write the fraction of the spend of each statistic, or of each question; {} if all are equal.

    A name without a weight has the weight 1.
    """
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
    """Write the contribution bound of each release as text: how many rows of one unit count."""
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
