"""The verbs of the curator as functions from a request to a reply; the same for programs and for pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...curator.history import history_of
from ...curator.verbs.bounds import cut_of, wanted_bounds, wanted_caps
from ...curator.verbs.learn import course_of
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

SHOWN = ("charge", "again", "allow")
"""The kinds of entries that an analyst is shown: that of an answer says when the store was done."""


def explain(curator: Curator, ask: Ask) -> dict[str, object]:
    """Show what a question would do, cost and miss."""
    return explanation_reply(curator.explain(ask.sql, **ask.terms.words()))


def plan(curator: Curator, planned: PlanRequest) -> dict[str, object]:
    """Plan one question or several, or find the third of spend, error and queries."""
    return plan_reply(
        curator.plan(planned.questions, queries=planned.queries, **planned.terms.words())
    )


def rehearse(curator: Curator, ask: Ask, cells: int) -> dict[str, object]:
    """Answer from made-up rows, within the limits of a real answer."""
    check_ask(curator, ask, cells)
    return answer_reply(
        curator.rehearse(ask.sql, **ask.terms.words(), rows=ask.rows), ask.terms.level
    )


def check_ask(curator: Curator, ask: Ask, cells: int) -> None:
    """Refuse, before anything is written, what can be refused from the question and public facts alone."""
    _check_cells({"": curator.plan(ask.sql, **ask.terms.words())}, cells)


def check_release(curator: Curator, release: ReleaseRequest, cells: int) -> None:
    """Refuse several questions as `check_ask` does one."""
    found: Any = curator.plan(release.questions, **release.terms.words())
    _check_cells(dict(found.plans), cells)


def history(curator: Curator, whose: str | None, last: int) -> dict[str, object]:
    """List the last entries of the ledger, or of one analyst those that an analyst may see."""
    found = (
        curator.ledger.history(None, last)
        if whose is None
        else history_of(curator.stand, whose, last, SHOWN)
    )
    asked = {str(number): text for number, text in found.asked.items()}
    return {
        "entries": [entry_to_json(entry) for entry in found],
        "filter": found.filter.to_json(),
        "asked": asked,
    }


def explain_model(curator: Curator, asked: LearnRequest, cells: int) -> dict[str, object]:
    """Say what training a model would release, cost and lose."""
    check_learn(curator, asked, cells)
    explained = curator.explain_model(asked.sql, asked.model, asked.spend, n=asked.n or 1)
    return training_reply(explained, curator.ledger.price(explained.event))


def check_learn(curator: Curator, asked: LearnRequest, cells: int) -> None:
    """Refuse a model as `check_ask` does a question; every step of its training releases one vector."""
    course = course_of(curator.stand.planner, asked.sql, asked.model, asked.spend)
    check_count(max(release.noise.dimension or 1 for release in course.training.releases), cells)


def plan_synthesis(curator: Curator, asked: SynthesisRequest, cells: int) -> dict[str, object]:
    """Say what making synthetic records would measure and cost."""
    found = curator.plan_synthesis(asked.table, asked.spend, **asked.words)
    planned = synthesis_plan_reply(found, curator.ledger.price(found.event))
    check_count(int(str(planned["numbers"])), cells)
    return planned


def check_synthesis(curator: Curator, asked: SynthesisRequest, cells: int) -> None:
    """Refuse synthetic records as `check_ask` does a question."""
    plan_synthesis(curator, asked, cells)


def check_bounds(curator: Curator, asked: BoundsRequest) -> None:
    """Refuse what no bounds can be suggested of, before anything is written."""
    wanted_bounds(curator.stand.planner, asked.table, asked.column, asked.spend, asked.tail)


def check_caps(curator: Curator, asked: CapsRequest) -> None:
    """Refuse what no caps can be suggested of, before anything is written."""
    wanted_caps(curator.stand.planner, asked.table, asked.spend)


def check_cut(curator: Curator, asked: TruncationRequest) -> None:
    """Refuse tables of which no cap cuts anything off, before anything is written."""
    curator.plan(cut_of(curator.stand.planner, asked.table, asked.up_to, asked.of), asked.spend)


def _check_cells(plans: Mapping[str, Any], cells: int) -> None:
    """Limit the cost by the plan, which is public, not by what the store finds."""
    whole = [one for one in plans.values() if isinstance(one, Plan)]
    found = [part for one in whole for part in ([table for _, table in one.tables] or [one])]
    totals = [sum(len(release.need.tally.terms) for release in one.releases) for one in found]
    check_count(
        sum(
            len(one.keys or ((),)) * max(1, count) for one, count in zip(found, totals, strict=True)
        ),
        cells,
    )


def check_count(asked: int, cells: int) -> None:
    """Refuse to give more noisy numbers at once than the service's limit."""
    if asked > cells:
        raise InvalidArgument(
            f"the answer would have {asked} noisy numbers; at most {cells} are given at once"
        )


def _sql(curator: Curator, body: object) -> dict[str, object]:
    ask = read_ask(body)
    return answer_reply(curator.sql(ask.sql, **ask.terms.words(), why=ask.why), ask.terms.level)


def _release(curator: Curator, body: object) -> dict[str, object]:
    asked = read_release(body)
    found = curator.release(asked.questions, **asked.terms.words(), why=asked.why)
    return {
        "answers": {name: answer_reply(answer, asked.terms.level) for name, answer in found.items()}
    }


def _learn(curator: Curator, body: object) -> dict[str, object]:
    asked = read_learn(body)
    return model_reply(curator.learn(asked.sql, asked.model, asked.spend, why=asked.why))


def _synthesize(curator: Curator, body: object) -> dict[str, object]:
    asked = read_synthesis(body)
    return synthetic_reply(
        curator.synthesize(asked.table, asked.spend, why=asked.why, **asked.words)
    )


def _bounds(curator: Curator, body: object) -> dict[str, object]:
    asked = read_bounds(body)
    words: Any = {"tail": asked.tail, "why": asked.why}
    found = curator.suggest_bounds(asked.table, asked.column, asked.spend, **words)
    return bounds_reply(found, curator.ledger.price(Batch(found.events)))


def _caps(curator: Curator, body: object) -> dict[str, object]:
    asked = read_caps(body)
    found = curator.suggest_caps(asked.table, asked.spend, why=asked.why)
    return caps_reply(found, curator.ledger.price(Batch(found.events)))


def _cut(curator: Curator, body: object) -> dict[str, object]:
    asked = read_truncation(body)
    found = curator.estimate_cut(
        asked.table, asked.spend, up_to=asked.up_to, of=asked.of, why=asked.why
    )
    return answer_reply(found)


CHARGED: Mapping[str, Callable[[Curator, object], dict[str, object]]] = {
    "sql": _sql,
    "release": _release,
    "learn": _learn,
    "synthesize": _synthesize,
    "suggest_bounds": _bounds,
    "suggest_caps": _caps,
    "estimate_cut": _cut,
}
