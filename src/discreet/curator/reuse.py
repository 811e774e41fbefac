"""Reuse of answers: choose how a question is answered, from what was paid for or by a charge.

The ledger lists once which tables this asker has paid for. A question without a condition has
neither siblings nor a contrast, and an asker without charges has no sums: these are not searched.

The same question has the same answer for ever: of several ways that cost nothing, the one that was
complete first is taken, by the numbers of the ledger's entries. Processes of one asker may ask the
same at once: a charge is written only if no entry has come that would have changed the choice
(optimistic locking), else the way is looked for again.

Guarantee: the price is at most that of the question by itself. Answers of other askers are not
read, unless the steward lets analysts share questions.
Law: tests/curator/test_contrast.py, tests/curator/test_siblings.py, tests/curator/test_summed_cells.py
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ..frozen import frozen, replace
from ..ledger import Entry
from ..ledger.charge_order import Watch
from ..ledger.stores.store import Since
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from ..query.algebra.tree import Where
from .answer_key import AnswerKey, key_start
from .charge_request import PaidMeasurement
from .context import CuratorContext
from .contrast import Contrasted, ContrastSearch, FoundCounts, gaussian_noise, search_of
from .summed_cells import FinerTables, SummedCells, find_sums, finer_tables
from .wide_measurement import widened


@frozen
class Way:
    """Way to answer a request: by sums of stored cells, by a contrast, or by a measurement.

    `watch` says which new entries would change a choice that is still to be charged for.
    """

    measured: PaidMeasurement
    summed: SummedCells | None = None
    contrast: Contrasted | None = None
    watch: Watch | None = None

    def sources(self) -> tuple[Entry, ...]:
        """Return the entries of the ledger that the answer is made of, without one still to be charged."""
        if self.summed is not None:
            return (self.summed.paid.entry,)
        if self.contrast is None:
            return ()
        entries = [self.contrast.total.paid.entry]
        if self.contrast.paid is not None:
            entries.append(self.contrast.paid.entry)
        return tuple(entries)


def find_way(
    context: CuratorContext,
    request: CheckedRequest,
    key: AnswerKey,
    plans: Mapping[str, Plan],
    who: str,
) -> Way:
    """Return how a request is answered: from stored tables if possible, else by a small charge.

    Several questions, `reuse=False`, and ledgers with parts or blocks: by the measurement as asked.
    `nonnegative`, `whole` and public answers: by the measurement, with siblings that cost nothing.
    Else the first of these that there is (4 to 6 only for a question that has a contrast):

    1. what the asker has paid for: the measurement, both sides, or total and signed count; of
       several the one that was complete first
    2. the one of these whose charge another process of the asker has just written
    3. sums of stored cells
    4. the wide measurement, for the second question of a family that differs in one pinned value
    5. a signed count, to be charged for
    6. both sides of the condition, to be charged for, if they cost what the question costs
    7. the measurement, to be charged for
    """
    measured = PaidMeasurement(key, plans)
    terms = request.terms
    # Parts and blocks are charged one by one: what is measured or read must not reach into another.
    if request.several or terms.reuse is False or context.ledger.terms.divided:
        return Way(measured)
    [question] = request.questions.values()
    # Siblings are of the conditions of a question, as contrasts are.
    if isinstance(question.rows, Where) and context.siblings:
        measured = widened(context, request, measured, who)
    # Who wants counts from 0 or whole ones has them moved after the noise: sums of moved cells are biased.
    if terms.nonnegative or terms.whole or plans[""].public:
        return Way(measured)
    return _way_of_own(context, request, key, plans, measured, who=who)


def _way_of_own(
    context: CuratorContext,
    request: CheckedRequest,
    key: AnswerKey,
    plans: Mapping[str, Plan],
    measured: PaidMeasurement,
    *,
    who: str,
) -> Way:
    """Return the way that follows from what this asker has paid for, and what would change it."""
    # The keys of others are not even read: the time would tell what they asked (timing side channel).
    owner = None if context.share_questions else who
    # Before the keys are listed: what comes between is then new to the charge, and not unseen.
    since = Since(context.ledger.last_number(), owner)
    paid_keys = context.ledger.keys([key_start("")[:-1]], owner)
    starts = [measured.key.text]
    search = None
    found = FoundCounts()
    if isinstance(request.questions[""].rows, Where):
        search = search_of(context, request, key, plans, measured, who=who)
    if search is not None:
        found = search.found(paid_keys)
        starts += search.starts()
    known = _known_way(context, measured, search, found, paid_keys, who=who)
    finer: FinerTables = {}
    summed = None
    # Who has paid for nothing yet is not kept waiting for a list of what could have been paid for.
    if paid_keys and known is None:
        finer = finer_tables(request)
        summed = find_sums(context, request, plans[""], paid_keys, finer, who=who)
    if known is None:
        known = Way(measured, summed)
        if summed is None and search is not None:
            known = _least_charge(measured, search, found)
    if not paid_keys:
        starts = [key_start("")[:-1]]
    return replace(known, watch=Watch(since, (*starts, *finer)))


def _known_way(
    context: CuratorContext,
    measured: PaidMeasurement,
    search: ContrastSearch | None,
    found: FoundCounts,
    paid_keys: Collection[str],
    *,
    who: str,
) -> Way | None:
    """Return the measurement, both sides or the contrast, whichever was paid for first; else None.

    If none is complete, it is the one whose charge is pending: this asker is paying for it.
    """
    ways: list[tuple[int, Way]] = []
    pending: list[tuple[int, Way]] = []
    tables = {measured.key.text: False}
    if search is not None:
        tables[search.split_key().text] = True
    # The keys were listed: the ledger is asked only for those that are there.
    for key in tables.keys() & set(paid_keys):
        own = measured
        if search is not None and tables[key]:
            own = search.split(measured) or measured
        paid = context.ledger.find_paid(who, key, apart=not context.share_questions)
        if paid is not None:
            ways.append((paid.entry.number, Way(own)))
            continue
        charge = context.pending(who, key)
        if charge is not None:
            pending.append((charge.number, Way(own)))
    if search is not None:
        pair = search.complete(found, measured)
        if pair is not None:
            ways.append((pair.complete, Way(measured, contrast=pair)))
        for offer, number in search.pending(found):
            pending.append((number, Way(measured, contrast=offer)))
    if not ways and not pending:
        return None
    return min(ways or pending, key=_when)[1]


def _when(way: tuple[int, Way]) -> int:
    return way[0]


def _least_charge(measured: PaidMeasurement, search: ContrastSearch, found: FoundCounts) -> Way:
    """Return what is charged for a count that has a contrast and was not paid for."""
    if measured.slice and found.signed:
        # The second of a family: its siblings will be asked for too, so all are bought at once.
        return Way(measured)
    offer = search.offer(found.totals)
    if offer is not None:
        return Way(measured, contrast=offer)
    split = None if gaussian_noise(search.plan) is None else search.split(measured)
    return Way(split or measured)
