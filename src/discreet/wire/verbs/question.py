"""Verbs about questions in SQL: explain, plan, rehearse, sql and release.

`sql` and `release` are charged. All others are free and read no private row.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...answer.answer import DATA
from ...answer.sampled_columns import read_target
from ...curator import verbs
from ...frozen import field, frozen, replace
from ...json_shape import (
    FLAG,
    GivenFieldsRule,
    JsonObject,
    Record,
    anything,
    listing,
    nullable,
    optional,
    positive_integer,
    text,
)
from ...plan import Plan
from ...plan.asked.terms import Terms
from ...privacy.budget_text import budget_to_table
from ...query.sql.parse import mentions_stream
from ..fields import BUDGET_REFERENCE, EXAMPLE, OF, QUESTIONS, SQL, TERMS, WHY, term_arguments
from ..reply import ANSWER, CELL, FACTS, answer_reply, plain_json
from ..verb import ReplyFormat, Request, RequestFormat, Verb, check_count

if TYPE_CHECKING:
    from ...curator import Curator
    from ...curator.explanation import Explanation

MAX_ROWS = 100_000
MAX_QUERIES = 10**9
_DEFAULT_ROWS = 1000


@frozen
class Ask(Request):
    """Request for one question in SQL, with its terms and a reason; rehearsals have `rows`.

    `of` says what the intervals of the reply are of: the data, or the population. It is no term: the
    question, its price and its stored answer are the same.
    """

    sql: str
    terms: Terms = field(default_factory=Terms)
    why: str = ""
    rows: int = _DEFAULT_ROWS
    of: str = DATA

    def arguments(self) -> JsonObject:
        """Return the arguments, the terms as fields of their own."""
        given = {"sql": self.sql, **term_arguments(self.terms), "why": self.why}
        # Only rehearsals have rows: the default stays out of all other requests.
        if self.rows != _DEFAULT_ROWS:
            given["rows"] = self.rows
        return given | _target_argument(self.of)


@frozen
class ReleaseRequest(Request):
    """Request for several named questions under one charge."""

    questions: Mapping[str, str]
    terms: Terms = field(default_factory=Terms)
    why: str = ""
    of: str = DATA

    def arguments(self) -> JsonObject:
        """Return the arguments, the terms as fields of their own."""
        given = {"questions": self.questions, **term_arguments(self.terms), "why": self.why}
        return given | _target_argument(self.of)


def _target_argument(of: str) -> JsonObject:
    # Sent only where it is asked for: older services refuse it as unknown.
    return {} if of == DATA else {"of": of}


@frozen
class PlanRequest(Request):
    """Request to plan a question, or several by name, with spend or error.

    Two of spend, error and `queries` (a number of such questions) let the planner find the third.
    """

    questions: str | Mapping[str, str]
    terms: Terms = field(default_factory=Terms)
    queries: int | None = None

    def arguments(self) -> JsonObject:
        """Return the arguments: one question is `sql`, several are `questions`."""
        name = "sql" if isinstance(self.questions, str) else "questions"
        return {name: self.questions, **term_arguments(self.terms), "queries": self.queries}


def _make_ask(
    sql: str,
    why: str = "",
    rows: int = _DEFAULT_ROWS,
    of: str = DATA,
    **terms: Any,  # noqa: ANN401
) -> Ask:
    """Make a request from the fields that were sent; those of `terms` become its terms."""
    return Ask(sql, Terms(**terms), why, rows, of)


def _make_release(
    questions: Mapping[str, str],
    why: str = "",
    of: str = DATA,
    **terms: Any,  # noqa: ANN401
) -> ReleaseRequest:
    """Make a request from the fields that were sent; those of `terms` become its terms."""
    return ReleaseRequest(questions, Terms(**terms), why, of)


def _make_plan(
    sql: str = "",
    questions: Mapping[str, str] | None = None,
    queries: int | None = None,
    **terms: Any,  # noqa: ANN401
) -> PlanRequest:
    """Make a request from the fields that were sent; those of `terms` become its terms."""
    return PlanRequest(questions or sql, Terms(**terms), queries)


_SPEND_OR_ERROR = GivenFieldsRule(
    ("spend", "error"), 1, 1, "give spend or error, one of the two: the planner finds the other"
)
_SQL_OR_QUESTIONS = GivenFieldsRule(
    ("sql", "questions"),
    1,
    1,
    "give sql for one question, or questions for several by name, one of the two",
)
# Both are allowed here: the planner then finds the number of queries.
_SPEND_ERROR_OR_BOTH = GivenFieldsRule(
    ("spend", "error"),
    1,
    2,
    "give spend or error, one of the two, or two of spend, error and queries",
)
_ASK_EXAMPLE: JsonObject = {"sql": EXAMPLE, "spend": {"epsilon": "1/2"}}
ASK = RequestFormat(
    "AskRequest",
    Record(
        (SQL, *TERMS, WHY, OF), (_SPEND_OR_ERROR,), example=_ASK_EXAMPLE | {"why": "first look"}
    ),
    _make_ask,
)
ROWS = optional("rows", positive_integer(MAX_ROWS))
REHEARSAL = RequestFormat(
    "RehearsalRequest",
    Record((SQL, *TERMS, WHY, ROWS, OF), (_SPEND_OR_ERROR,), example=_ASK_EXAMPLE | {"rows": 200}),
    _make_ask,
)
RELEASE = RequestFormat(
    "ReleaseRequest",
    Record(
        (QUESTIONS, *TERMS, WHY, OF),
        (_SPEND_OR_ERROR,),
        example={
            "questions": {"all": "SELECT COUNT(*) AS n FROM people"},
            "error": {"all": {"n": "50"}},
            "level": "0.9",
        },
    ),
    _make_release,
)
QUERIES = optional("queries", positive_integer(MAX_QUERIES), null=True)
PLAN = RequestFormat(
    "PlanRequest",
    Record(
        (replace(SQL, required=False), replace(QUESTIONS, required=False), *TERMS, QUERIES),
        (_SQL_OR_QUESTIONS, _SPEND_ERROR_OR_BOTH),
        example={"sql": EXAMPLE, "error": {"n": 20, "income": 500}, "queries": 100},
    ),
    _make_plan,
)


def read_ask(body: object) -> Ask:
    """Read one question from JSON.

    >>> from discreet.wire import read_ask
    >>> ask = read_ask({"sql": "SELECT COUNT(*) AS n FROM people", "spend": {"epsilon": "1/2"}})
    >>> ask.terms.spend, ask.terms.level
    (PureDP(0.5), 0.95)

    Refuses: unknown fields, wrong types, both of spend and error or neither, texts that are too
    long, by `InvalidArgument`.

    Law: tests/wire/test_request.py::TestWhatIsWrittenIsReadBack
    """
    return ASK.read(body)


def _explain(curator: Curator, ask: Ask, _: int) -> JsonObject:
    """Explain a question: its releases, its price and its error."""
    explanation = curator.explain(ask.sql, **ask.terms.words())
    read_target(ask.of, explanation.plan.question)
    return explanation_reply(explanation)


def _plan(curator: Curator, planned: PlanRequest, _: int) -> JsonObject:
    """Plan one question or several, or find the third of spend, error and queries."""
    terms = planned.terms.words()
    found = curator.plan(planned.questions, queries=planned.queries, **terms)
    return plan_reply(found)


def rehearse(curator: Curator, ask: Ask, max_cells: int) -> JsonObject:
    """Answer from made-up rows, within the limits of a real answer."""
    check_ask(curator, ask, max_cells)
    answer = curator.rehearse(ask.sql, **ask.terms.words(), rows=ask.rows)
    return answer_reply(answer.about(ask.of), ask.terms.level)


def check_ask(curator: Curator, ask: Ask, max_cells: int) -> None:
    """Refuse what the question and public facts alone rule out, before anything is written.

    Refuses: a question that cannot be planned, or with more than `max_cells` noisy numbers, by
    `InvalidArgument` or another error of the planner.

    Law: tests/service/test_questions.py::TestCharged
    """
    checked_plan(curator, ask, max_cells)


def _check_sql(curator: Curator, ask: Ask, max_cells: int) -> None:
    """Check a question as `check_ask` does; one about a stream is worked out, since it is free."""
    published = None
    if mentions_stream(ask.sql):
        published = verbs.stream.select_stream(curator.context, ask.sql, ask.terms)
    if published is None:
        check_ask(curator, ask, max_cells)
        return
    verbs.stream.check_free_target(ask.of)
    check_count(len(published) * len(published.noisy), max_cells)


def checked_plan(curator: Curator, ask: Ask, max_cells: int) -> Plan:
    """Return the plan of a question after the check of `check_ask`."""
    plan_of_question = curator.plan(ask.sql, **ask.terms.words())
    _check_target([plan_of_question], ask.of)
    _check_cells([plan_of_question], max_cells)
    return plan_of_question  # type: ignore[return-value]


def _check_release(curator: Curator, release: ReleaseRequest, max_cells: int) -> None:
    workload: Any = curator.plan(release.questions, **release.terms.words())
    plans = dict(workload.plans).values()
    _check_target(plans, release.of)
    _check_cells(plans, max_cells)


def _check_target(plans: Iterable[object], of: str) -> None:
    """Refuse intervals that cannot be given before the question is charged, not after."""
    for found in plans:
        if isinstance(found, Plan):
            read_target(of, found.question)


def _check_cells(plans: Iterable[object], max_cells: int) -> None:
    """Limit the size of the answers by their plans, which are public, not by the store's rows."""
    numbers = 0
    for found in plans:
        if not isinstance(found, Plan):
            continue
        # Sets of keys that count different rows are tables with plans of their own.
        tables = [table for _, table in found.tables] or [found]
        for table in tables:
            numbers += _noisy_numbers(table)
    check_count(numbers, max_cells)


def _noisy_numbers(table: Plan) -> int:
    """Count the noisy numbers of one table: groups times noisy totals of a group."""
    totals = 0
    for release in table.releases:
        totals += len(release.need.tally.terms)
    # A table without keys has one group, and a group without totals still has its count.
    groups = len(table.keys or ((),))
    return groups * max(1, totals)


def _sql(curator: Curator, ask: Ask) -> JsonObject:
    answer = curator.sql(ask.sql, **ask.terms.words(), why=ask.why)
    return answer_reply(answer.about(ask.of), ask.terms.level)


def _release(curator: Curator, asked: ReleaseRequest) -> JsonObject:
    """Answer the questions of a release with one charge, each as a reply."""
    answers = curator.release(asked.questions, **asked.terms.words(), why=asked.why)
    replies: JsonObject = {}
    for name, answer in answers.items():
        replies[name] = answer_reply(answer.about(asked.of), asked.terms.level)
    return {"answers": replies}


_TEXT = text()
_EXPLANATION = Record.of(
    question=_TEXT,
    plan=FACTS,
    price=BUDGET_REFERENCE,
    left=BUDGET_REFERENCE,
    after=nullable(BUDGET_REFERENCE),
    fits=FLAG,
    stored=FLAG,
    part=CELL,
    texts=listing(_TEXT, "texts"),
    warnings=listing(_TEXT, "warnings"),
    text=_TEXT,
)
# Services of older versions send one price.
_CHARGED = optional("charged", BUDGET_REFERENCE)
# Entries whose cells give the answer for nothing; services of older versions send none.
_SOURCES = optional("sources", listing(anything("An entry.", type="integer"), "entries"))
_TIMES = optional("times", anything("Its error, in planned errors.", type="number"))
EXPLANATION = ReplyFormat("Explanation", _EXPLANATION.plus(_CHARGED, _SOURCES, _TIMES))
_ANSWERS = anything(
    "Answers by the names of their questions.",
    type="object",
    additionalProperties={"$ref": "#/components/schemas/Answer"},
)


def explanation_reply(explanation: Explanation) -> JsonObject:
    """Return an explanation as JSON."""
    after = None
    if explanation.after is not None:
        after = budget_to_table(explanation.after)
    return {
        "question": explanation.question,
        "plan": plain_json(explanation.plan.to_dict()),
        "price": budget_to_table(explanation.price),
        "charged": budget_to_table(explanation.shown_price().charged),
        "left": budget_to_table(explanation.left),
        "after": after,
        "fits": explanation.fits,
        "stored": explanation.stored,
        "part": explanation.part,
        "texts": list(explanation.texts),
        "sources": list(explanation.sources),
        "times": explanation.times,
        "warnings": list(explanation.warnings),
        "text": str(explanation),
    }


def plan_reply(plan: object) -> JsonObject:
    """Return a plan, a workload or a tradeoff as JSON: its facts and its table as text."""
    facts = plain_json(plan.to_dict())  # type: ignore[attr-defined]
    return {"plan": facts, "text": str(plan)}


EXPLAIN = Verb(
    "explain",
    "explain_question",
    "Show what a question would do, cost and miss; free.",
    ASK,
    EXPLANATION,
    _explain,
)
PLAN_QUESTION = Verb(
    "plan",
    "plan_question",
    "Plan, or find the third of spend, error, queries; free.",
    PLAN,
    ReplyFormat("Plan", Record.of(plan=FACTS, text=_TEXT)),
    _plan,
)
REHEARSE = Verb(
    "rehearse",
    "rehearse_question",
    "Answer from made-up rows; free.",
    REHEARSAL,
    ANSWER,
    rehearse,
)
ASK_SQL = Verb("sql", "ask_sql", "Answer one question; charged.", ASK, ANSWER, _check_sql, _sql)
ASK_RELEASE = Verb(
    "release",
    "ask_release",
    "Answer several questions with one charge.",
    RELEASE,
    ReplyFormat("Answers", Record.of(answers=_ANSWERS)),
    _check_release,
    _release,
)
VERBS = (EXPLAIN, PLAN_QUESTION, REHEARSE, ASK_SQL, ASK_RELEASE)
