"""Explaining a plan: its price in the ledger, and what the store would be asked. No private data is touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..answer.tally_batch import gather
from ..engines.base import Engine
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..privacy.events import Event
from ..privacy.measures import ApproxDP, Measure
from ..query.algebra.expression import Constant
from ..query.algebra.tally import Tally, Term, Totals
from ..query.algebra.tree import Relation
from ..query.bounds.contribution_bounds import row_share, weight_of
from ..query.text.question import describe
from ..statistics.releases.set_totals import SetsRelease
from .charge_request import order_of
from .context import CuratorContext
from .explanation import Explanation


def explain_plan(stand: CuratorContext, plan: Plan, terms: Terms, who: str) -> Explanation:
    """Return what a plan would do and cost."""
    ledger, priced = stand.ledger, order_of({"": plan}, terms, stand, who=who)
    event, part, known = priced.order.event, priced.order.part, ledger.find(priced.order)
    book = ledger.filter(None, part)
    fits = ledger.admits(event, who=who, part=part)
    return Explanation(
        question=describe(plan.question),
        plan=plan,
        price=book.stated(event) if book.adds else priced.price,
        left=ledger.left(who, part),
        fits=fits,
        stored=known is not None and known.body is not None,
        part=part,
        texts=store_texts(plan, stand.engine),
        rest=_rest(stand, event, who) if fits and part is None and book.adds else None,
        warnings=plan.warnings,
    )


def _rest(stand: CuratorContext, event: Event, who: str) -> Measure:
    """Return what would be left of an (ε, δ) budget after an event that fits, for everyone and for this person."""
    found = [stand.ledger.filter(one) for one in (None, who)]
    boxes = [one.after(event).room().box for one in found if one.admits(event)]
    return ApproxDP(min(box.epsilon for box in boxes), min(box.delta for box in boxes))


@dataclass(slots=True)
class _Listener:
    """A store that only listens: it holds nothing and writes down what it is asked."""

    heard: list[Tally]

    def tally(self, tally: Tally) -> Totals:
        self.heard.append(tally)
        return {}


def store_texts(plan: Plan, engine: Engine) -> tuple[str, ...]:
    """Show what the engine would run for a plan; unknown keys are those that the first text selects.

    Refuses what the engine would refuse: so it is asked before anything is paid for.
    """
    return tuple(engine.explain(tally) for tally in _tallies(plan))


def check_rows(rows: Relation, engine: Engine) -> None:
    """Refuse rows that the engine would refuse to add up, before it is paid for: ids of different types, say."""
    share = row_share(rows)
    weight = weight_of(1, share)
    engine.explain(Tally(rows, (), (Term(Constant(True), weight, 0, weight),), share))


def _tallies(plan: Plan) -> Sequence[Tally]:
    if plan.within is not None:
        return _tallies(plan.within)
    if plan.tables:
        return [tally for _, table in plan.tables for tally in _tallies(table)]
    listener = _Listener([])
    needs = [release.need for place, release in enumerate(plan.releases) if place != plan.counted]
    gather(needs, plan.keys or [()], listener)
    for release in plan.releases:
        for table in release.tables[1:] if isinstance(release, SetsRelease) else ():
            gather([table.need], table.cells, listener)
    if plan.selection is None:
        return listener.heard
    return [plan.selection.tally, *(replace(tally, only=None) for tally in listener.heard)]
