"""Request handlers: the curator's verbs as functions from a request to a reply.

The API and the web pages use the same handlers. `check_…` functions refuse a request from public
facts alone, before anything is written or charged. `CHARGED` has the verbs that jobs run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from ...curator.history import history_of
from ...curator.verbs.bounds import (
    plan_suggested_bounds,
    plan_suggested_caps,
    truncation_question_of,
)
from ...curator.verbs.learn import plan_training
from ...errors import InvalidArgument
from ...plan import Plan
from ...privacy.events import Batch
from ...wire.product_reply import (
    bounds_reply,
    caps_reply,
    model_reply,
    synthesis_plan_reply,
    synthetic_reply,
    training_reply,
)
from ...wire.product_request import (
    BoundsRequest,
    CapsRequest,
    LearnRequest,
    SynthesisRequest,
    TruncationRequest,
    read_bounds,
    read_caps,
    read_learn,
    read_synthesis,
    read_truncation,
)
from ...wire.reply import answer_reply, entry_to_json, explanation_reply, plan_reply
from ...wire.request import Ask, PlanRequest, ReleaseRequest, read_ask, read_release

if TYPE_CHECKING:
    from ...curator import Curator

ANALYST_ENTRY_KINDS = ("charge", "again", "allow")
"""Kinds of ledger entries that an analyst may see.

An answer's entry is not among them: its time says when the store was done (timing side channel).
"""


def explain(curator: Curator, ask: Ask) -> dict[str, object]:
    """Explain a question: its releases, its price and its error."""
    explanation = curator.explain(ask.sql, **ask.terms.words())
    return explanation_reply(explanation)


def plan(curator: Curator, planned: PlanRequest) -> dict[str, object]:
    """Plan one question or several, or find the third of spend, error and queries."""
    terms = planned.terms.words()
    found = curator.plan(planned.questions, queries=planned.queries, **terms)
    return plan_reply(found)


def rehearse(curator: Curator, ask: Ask, cells: int) -> dict[str, object]:
    """Answer from made-up rows, within the limits of a real answer."""
    check_ask(curator, ask, cells)
    answer = curator.rehearse(ask.sql, **ask.terms.words(), rows=ask.rows)
    return answer_reply(answer, ask.terms.level)


def check_ask(curator: Curator, ask: Ask, cells: int) -> None:
    """Refuse what the question and public facts alone rule out, before anything is written.

    Refuses: a question that cannot be planned, or with more than `cells` noisy numbers, by
    `InvalidArgument` or another error of the planner.

    Law: tests/service/test_questions.py::TestCharged
    """
    plan_of_question = curator.plan(ask.sql, **ask.terms.words())
    _check_cells([plan_of_question], cells)


def check_release(curator: Curator, release: ReleaseRequest, cells: int) -> None:
    """Refuse several questions as `check_ask` does one."""
    workload: Any = curator.plan(release.questions, **release.terms.words())
    _check_cells(dict(workload.plans).values(), cells)


def history(curator: Curator, whose: str | None, last: int) -> dict[str, object]:
    """List the last ledger entries of all, or the entries of one analyst that they may see."""
    if whose is None:
        entries = curator.ledger.history(None, last)
    else:
        entries = history_of(curator.stand, whose, last, ANALYST_ENTRY_KINDS)
    asked = {str(number): text for number, text in entries.asked.items()}
    return {
        "entries": [entry_to_json(entry) for entry in entries],
        "filter": entries.filter.to_json(),
        "asked": asked,
    }


def explain_model(curator: Curator, asked: LearnRequest, cells: int) -> dict[str, object]:
    """Explain the training of a model: its releases, its price and its error."""
    check_learn(curator, asked, cells)
    rows = asked.n or 1
    explained = curator.explain_model(asked.sql, asked.model, asked.spend, n=rows)
    price = curator.ledger.price(explained.event)
    return training_reply(explained, price)


def check_learn(curator: Curator, asked: LearnRequest, cells: int) -> None:
    """Refuse a model as `check_ask` does a question."""
    course = plan_training(curator.stand.planner, asked.sql, asked.model, asked.spend)
    # Every step releases one vector: the longest vector is the largest size at once.
    dimensions = [release.noise.dimension or 1 for release in course.training.releases]
    check_count(max(dimensions), cells)


def plan_synthesis(curator: Curator, asked: SynthesisRequest, cells: int) -> dict[str, object]:
    """Plan synthetic records: the tables to be measured and their price."""
    found = curator.plan_synthesis(asked.table, asked.spend, **asked.words)
    price = curator.ledger.price(found.event)
    planned = synthesis_plan_reply(found, price)
    numbers = int(str(planned["numbers"]))
    check_count(numbers, cells)
    return planned


def check_synthesis(curator: Curator, asked: SynthesisRequest, cells: int) -> None:
    """Refuse synthetic records as `check_ask` does a question."""
    plan_synthesis(curator, asked, cells)


def check_bounds(curator: Curator, asked: BoundsRequest) -> None:
    """Refuse a column whose bounds cannot be suggested, before anything is written."""
    plan_suggested_bounds(curator.stand.planner, asked.table, asked.column, asked.spend, asked.tail)


def check_caps(curator: Curator, asked: CapsRequest) -> None:
    """Refuse a table whose caps cannot be suggested, before anything is written."""
    plan_suggested_caps(curator.stand.planner, asked.table, asked.spend)


def check_cut(curator: Curator, asked: TruncationRequest) -> None:
    """Refuse a table that no cap truncates, before anything is written."""
    question = truncation_question_of(curator.stand.planner, asked.table, asked.up_to, asked.of)
    curator.plan(question, asked.spend)


def _check_cells(plans: Iterable[object], cells: int) -> None:
    """Limit the size of the answers by their plans, which are public, not by the store's rows."""
    numbers = 0
    for found in plans:
        if not isinstance(found, Plan):
            continue
        # Sets of keys that count different rows are tables with plans of their own.
        tables = [table for _, table in found.tables] or [found]
        for table in tables:
            numbers += _noisy_numbers(table)
    check_count(numbers, cells)


def _noisy_numbers(table: Plan) -> int:
    """Count the noisy numbers of one table: groups times noisy totals of a group."""
    totals = 0
    for release in table.releases:
        totals += len(release.need.tally.terms)
    # A table without keys has one group, and a group without totals still has its count.
    groups = len(table.keys or ((),))
    return groups * max(1, totals)


def check_count(asked: int, cells: int) -> None:
    """Refuse an answer with more noisy numbers than the service gives at once."""
    if asked > cells:
        raise InvalidArgument(
            f"the answer would have {asked} noisy numbers; at most {cells} are given at once"
        )


def _sql(curator: Curator, body: object) -> dict[str, object]:
    ask = read_ask(body)
    answer = curator.sql(ask.sql, **ask.terms.words(), why=ask.why)
    return answer_reply(answer, ask.terms.level)


def _release(curator: Curator, body: object) -> dict[str, object]:
    asked = read_release(body)
    answers = curator.release(asked.questions, **asked.terms.words(), why=asked.why)
    level = asked.terms.level
    return {"answers": {name: answer_reply(answer, level) for name, answer in answers.items()}}


def _learn(curator: Curator, body: object) -> dict[str, object]:
    asked = read_learn(body)
    model = curator.learn(asked.sql, asked.model, asked.spend, why=asked.why)
    return model_reply(model)


def _synthesize(curator: Curator, body: object) -> dict[str, object]:
    asked = read_synthesis(body)
    synthetic = curator.synthesize(asked.table, asked.spend, why=asked.why, **asked.words)
    return synthetic_reply(synthetic)


def _bounds(curator: Curator, body: object) -> dict[str, object]:
    asked = read_bounds(body)
    options: Any = {"tail": asked.tail, "why": asked.why}
    bounds = curator.suggest_bounds(asked.table, asked.column, asked.spend, **options)
    price = curator.ledger.price(Batch(bounds.events))
    return bounds_reply(bounds, price)


def _caps(curator: Curator, body: object) -> dict[str, object]:
    asked = read_caps(body)
    caps = curator.suggest_caps(asked.table, asked.spend, why=asked.why)
    price = curator.ledger.price(Batch(caps.events))
    return caps_reply(caps, price)


def _truncation(curator: Curator, body: object) -> dict[str, object]:
    asked = read_truncation(body)
    options: Any = {"up_to": asked.up_to, "of": asked.of, "why": asked.why}
    answer = curator.estimate_cut(asked.table, asked.spend, **options)
    return answer_reply(answer)


CHARGED: Mapping[str, Callable[[Curator, object], dict[str, object]]] = {
    "sql": _sql,
    "release": _release,
    "learn": _learn,
    "synthesize": _synthesize,
    "suggest_bounds": _bounds,
    "suggest_caps": _caps,
    "estimate_cut": _truncation,
}
"""Charged verbs by name: each reads the stored body of a job and returns the reply."""
