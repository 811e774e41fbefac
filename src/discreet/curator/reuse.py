"""Reuse of answers: choose how a question is answered, from what was paid for or by a charge.

The ledger lists once which tables this asker has paid for. A question without a condition has
neither siblings nor a contrast, and an asker without charges has no sums: these are not searched.

The same question has the same answer for ever: of several ways that cost nothing, the one that was
complete first is taken, by the numbers of the ledger's entries.

Guarantee: the price is at most that of the question by itself. Answers of other askers are not
read, unless the steward lets analysts share questions.
Law: tests/curator/test_contrast.py, tests/curator/test_siblings.py, tests/curator/test_summed_cells.py
"""

from __future__ import annotations

from collections.abc import Mapping

from ..frozen import frozen
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from ..query.algebra.tree import Where
from .answer_key import AnswerKey, key_start
from .charge_request import PaidMeasurement
from .context import CuratorContext
from .contrast import Contrasted, ContrastSearch, FoundCounts, gaussian_noise, search_of
from .summed_cells import SummedCells, find_sums
from .wide_measurement import widened


@frozen
class Way:
    """How a request is answered: by sums of stored cells, by a contrast, or by a measurement."""

    measured: PaidMeasurement
    summed: SummedCells | None = None
    contrast: Contrasted | None = None

    def sources(self) -> tuple[int, ...]:
        """Return the entries of the ledger that the answer is made of, without one still to be charged."""
        if self.summed is not None:
            return (self.summed.paid.entry.number,)
        if self.contrast is None:
            return ()
        entries = [self.contrast.total.paid.entry.number]
        if self.contrast.paid is not None:
            entries.append(self.contrast.paid.entry.number)
        return tuple(entries)


def find_way(
    context: CuratorContext,
    request: CheckedRequest,
    key: AnswerKey,
    plans: Mapping[str, Plan],
    who: str,
) -> Way:
    """Return how a request is answered: from stored tables if possible, else by a small charge.

    Without a contrast: by sums of stored cells, else by the measurement, with all its siblings if
    that costs the same. With a contrast, the first of these that there is:

    1. what the asker has paid for: the measurement, both sides, or total and signed count; of
       several the one that was complete first
    2. sums of stored cells
    3. the wide measurement, for the second question of a family that differs in one pinned value
    4. a signed count, to be charged for
    5. both sides of the condition, to be charged for, if they cost what the question costs
    6. the measurement, to be charged for
    """
    measured = PaidMeasurement(key, plans)
    terms = request.terms
    # Parts and blocks are charged one by one: what is measured or read must not reach into another.
    if request.several or terms.reuse is False or context.ledger.terms.divided:
        return Way(measured)
    [question] = request.questions.values()
    # Siblings and contrasts are of the conditions of a question.
    has_condition = isinstance(question.rows, Where)
    if has_condition and context.siblings:
        measured = widened(context, request, measured, who)
    # Who wants counts from 0 or whole ones has them moved after the noise: sums of moved cells are biased.
    if terms.nonnegative or terms.whole or plans[""].public:
        return Way(measured)
    # The keys of others are not even read: the time would tell what they asked (timing side channel).
    owner = None if context.share_questions else who
    paid_keys = context.ledger.keys([key_start("")[:-1]], owner)
    search = None
    found = FoundCounts()
    if has_condition:
        search = search_of(context, request, key, plans, measured, who=who)
    if search is not None:
        found = search.found(paid_keys)
    known = _known_way(context, measured, search, found, who)
    if known is not None:
        return known
    # Who has paid for nothing yet is not kept waiting for a list of what could have been paid for.
    summed = None
    if paid_keys:
        summed = find_sums(context, request, plans[""], paid_keys, who)
    if summed is not None or search is None:
        return Way(measured, summed)
    return _least_charge(measured, search, found)


def _known_way(
    context: CuratorContext,
    measured: PaidMeasurement,
    search: ContrastSearch | None,
    found: FoundCounts,
    who: str,
) -> Way | None:
    """Return the measurement, both sides or the contrast, whichever was paid for first; else None."""
    ways: list[tuple[int, Way]] = []
    own = _entry_of(context, measured.key, who)
    if own is not None:
        ways.append((own, Way(measured)))
    if search is not None:
        both_sides = _entry_of(context, search.split_key(), who)
        if both_sides is not None:
            ways.append((both_sides, Way(search.split(measured) or measured)))
        pair = search.complete(found, measured)
        if pair is not None:
            ways.append((pair.complete, Way(measured, contrast=pair)))
    if not ways:
        return None
    return min(ways, key=_when)[1]


def _entry_of(context: CuratorContext, key: AnswerKey, who: str) -> int | None:
    """Return the entry of a stored measurement that this asker has paid for; else None."""
    paid = context.ledger.find_paid(who, key.text, apart=not context.share_questions)
    return None if paid is None else paid.entry.number


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
