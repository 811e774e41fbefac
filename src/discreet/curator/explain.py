"""Explanation of a plan before it is paid: its price in the ledger and the queries of the store.

No private data is touched. The queries come from a recording engine: the code that runs a plan asks it
for totals, and it keeps each tally instead of answering. So explanation and run cannot differ.
"""

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
from .answer_key import key_of, questions_of
from .charge_request import order_of
from .context import CuratorContext
from .explanation import Explanation


def explain_plan(stand: CuratorContext, plan: Plan, terms: Terms, who: str) -> Explanation:
    """Return the effects and the cost of a plan; nothing is charged."""
    ledger = stand.ledger
    plans = {"": plan}
    key = key_of(questions_of(plans), terms)
    priced = order_of(plans, terms, key, stand, who=who)
    event = priced.order.event
    part = priced.order.part
    known = ledger.find(priced.order)
    book = ledger.filter(None, part)
    fits = ledger.admits(event, who=who, part=part)
    # An (ε, δ) filter that also adds up ε states an event by the ε and δ that it adds.
    price = priced.price
    remaining = None
    if book.adds:
        price = book.stated(event)
        if fits and part is None:
            remaining = _remaining_after(stand, event, who)
    return Explanation(
        question=describe(plan.question),
        plan=plan,
        price=price,
        left=ledger.left(who, part),
        fits=fits,
        stored=known is not None and known.body is not None,
        part=part,
        texts=store_texts(plan, stand.engine),
        rest=remaining,
        warnings=plan.warnings,
    )


def _remaining_after(stand: CuratorContext, event: Event, who: str) -> Measure:
    """Return the (ε, δ) budget that remains after an event that fits, for all and for this analyst."""
    filters = [stand.ledger.filter(None), stand.ledger.filter(who)]
    boxes = [each.after(event).room().box for each in filters if each.admits(event)]
    # Both filters hold, so the smaller remainder of each parameter is the one that can be spent.
    epsilon = min(box.epsilon for box in boxes)
    delta = min(box.delta for box in boxes)
    return ApproxDP(epsilon, delta)


@dataclass(slots=True)
class _RecordingEngine:
    """Engine that keeps the tallies it is asked for, and holds no data."""

    tallies: list[Tally]

    def tally(self, tally: Tally) -> Totals:
        self.tallies.append(tally)
        return {}


def store_texts(plan: Plan, engine: Engine) -> tuple[str, ...]:
    """Return the queries that the engine would run for a plan; the first text selects unknown keys.

    Refuses: what the engine would refuse. So it is called before anything is paid for.
    """
    return tuple(engine.explain(tally) for tally in _tallies(plan))


def check_rows(rows: Relation, engine: Engine) -> None:
    """Check before the charge that the engine can add up rows.

    Refuses: what the engine would refuse, for example ids of different types.
    """
    share = row_share(rows)
    weight = weight_of(1, share)
    count = Term(Constant(True), weight, 0, weight)
    engine.explain(Tally(rows, (), (count,), share))


def _tallies(plan: Plan) -> Sequence[Tally]:
    """List the tallies of a plan in the order in which they are asked for."""
    if plan.within is not None:
        return _tallies(plan.within)
    tallies: list[Tally] = []
    if plan.tables:
        for _, table in plan.tables:
            tallies.extend(_tallies(table))
        return tallies
    recorder = _RecordingEngine(tallies)
    # The count that selects keys is released by the selection, not by a tally of its own.
    needs = [release.need for at, release in enumerate(plan.releases) if at != plan.counted]
    gather(needs, plan.keys or [()], recorder)
    for release in plan.releases:
        if isinstance(release, SetsRelease):
            # The first table is the release's own need, which is recorded above.
            for counted in release.tables[1:]:
                gather([counted.need], counted.cells, recorder)
    if plan.selection is None:
        return tallies
    # Which keys will be selected is not known yet, so the tallies are shown for all keys.
    unrestricted = [replace(tally, only=None) for tally in tallies]
    return [plan.selection.tally, *unrestricted]
