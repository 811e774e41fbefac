"""The verbs of the curator as functions from a request to a reply; the same for programs and for pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from ...errors import InvalidArgument
from ...plan import Plan
from ...wire.reply import answer_reply, explanation_reply, plan_reply
from ...wire.request import Ask, PlanRequest, ReleaseRequest, read_ask, read_release

if TYPE_CHECKING:
    from ...curator import Curator

__all__ = ["CHARGED", "check_ask", "check_release", "explain", "plan", "rehearse"]


def explain(curator: Curator, ask: Ask) -> dict[str, object]:
    """Show what a question would do, cost and miss."""
    return explanation_reply(curator.explain(ask.sql, **ask.terms.words()))


def plan(curator: Curator, planned: PlanRequest) -> dict[str, object]:
    """Plan one question or several, or find the third of spend, error and queries."""
    return plan_reply(curator.plan(planned.questions, queries=planned.queries, **planned.terms.words()))


def rehearse(curator: Curator, ask: Ask, cells: int) -> dict[str, object]:
    """Answer from made-up rows, within the limits of a real answer."""
    check_ask(curator, ask, cells)
    return answer_reply(curator.rehearse(ask.sql, **ask.terms.words(), rows=ask.rows), ask.terms.level)


def check_ask(curator: Curator, ask: Ask, cells: int) -> None:
    """Refuse, before anything is written, what can be refused from the question and public facts alone."""
    _check_cells({"": curator.plan(ask.sql, **ask.terms.words())}, cells)


def check_release(curator: Curator, release: ReleaseRequest, cells: int) -> None:
    """Refuse several questions as `check_ask` does one."""
    found: Any = curator.plan(release.questions, **release.terms.words())
    _check_cells(dict(found.plans), cells)


def _check_cells(plans: Mapping[str, Any], cells: int) -> None:
    """Limit the cost by the plan, which is public, not by what the store finds."""
    found = [one for one in plans.values() if isinstance(one, Plan)]
    totals = [sum(len(release.need.tally.terms) for release in one.releases) for one in found]
    asked = sum(len(one.keys or ((),)) * max(1, count) for one, count in zip(found, totals, strict=True))
    if asked > cells:
        raise InvalidArgument(f"the answer would have {asked} noisy numbers; at most {cells} are given at once")


def _sql(curator: Curator, body: object) -> dict[str, object]:
    ask = read_ask(body)
    return answer_reply(curator.sql(ask.sql, **ask.terms.words(), why=ask.why), ask.terms.level)


def _release(curator: Curator, body: object) -> dict[str, object]:
    asked = read_release(body)
    found = curator.release(asked.questions, **asked.terms.words(), why=asked.why)
    return {"answers": {name: answer_reply(answer, asked.terms.level) for name, answer in found.items()}}


CHARGED: Mapping[str, Callable[[Curator, object], dict[str, object]]] = {"sql": _sql, "release": _release}
