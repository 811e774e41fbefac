"""Contrast: a count under a condition, bought for a third to a half where its total is known.

    asked                              known to this asker          measured                       price
    COUNT(*) WHERE delay > 60          nothing                      both sides of the condition    whole
    COUNT(*) WHERE late                COUNT(*)                     late as +1, not late as −1     about 1/3
    COUNT(*) WHERE hour < 9            both sides of delay > 60     hour < 9 as +1, else −1        about 1/2
    … AND origin = 'EWR', then 'JFK'   the same with 'EWR'          by origin (siblings)           whole

The count is half the sum of total and signed count (`query.bounds.contrast`). It is bought with the least
spend, in 48ths of what was asked, at which its error is at most the planned one (times `within`).

What is charged is an ordinary question: the planner plans it, the ledger's filter prices its event, and its
noise is drawn afresh. Which question that is follows from the asker's own released answers. Filters allow
that: they are sound for questions that are chosen by what was released (adaptive composition).

Only counts by all public values of their keys have a contrast, so no cell of a total was picked by its
noise. Only Gaussian noise: sums of geometric noise gain little.

The same question has the same answer for ever: of several ways the one that was complete first is taken.

Guarantee: never dearer than the question by itself, never a larger error than planned; what others have
asked is not read.
Law: tests/curator/test_contrast.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from ..answer.body import Body, read_body
from ..answer.measured_table import half_sum
from ..answer.stored import estimates_from_json, mechanism_to_json
from ..arithmetic.canonical import hash_json
from ..errors import DiscreetError, InvalidArgument
from ..frozen import frozen, replace
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..plan.asked.terms import Terms, read_errors
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from ..privacy.events.json import Json
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure
from ..query.algebra.tree import Question
from ..query.bounds.check import CheckedQuestion
from ..query.bounds.contrast import Contrast, contrast_of
from ..query.text.measured_part import measured_print
from ..statistics.laws.linear_combination import total_reach, weighted_noises
from ..statistics.releases.total import JointTotal, noises_of
from .answer_key import AnswerKey, key_of, key_start, measured_names
from .charge_request import plan_to_fit
from .context import CuratorContext
from .pay import Paid, find_paid
from .stored_answer import TotalSource, is_moved, part_of_table, table_of_total
from .summed_cells import SummedCells, find_sums
from .wide_measurement import PaidMeasurement, measurement_of, same_event

PARTS = 48
"""Parts of a spend of which the least that will do is taken."""
_LEAST, _MOST = 12, 36
"""A quarter is the least that a contrast can cost; above three quarters siblings are worth more."""
_ROUNDING = 1 + 1e-9


@frozen
class Contrasted:
    """A total that is known, and the signed count, with which it makes the asked count.

    `paid` is the stored signed count; None if it is still to be charged for, as `measured` says.
    """

    total: TotalSource
    request: CheckedRequest
    measured: PaidMeasurement
    paid: Paid | None = None

    @property
    def complete(self) -> int:
        """The entry with which both were paid for."""
        number = 0 if self.paid is None else self.paid.entry.number
        return max(number, self.total.paid.entry.number)


@frozen
class ContrastSearch:
    """All that is looked for on behalf of one question: its contrast, and how its noise is planned."""

    context: CuratorContext
    request: CheckedRequest
    plan: Plan
    contrast: Contrast
    total_print: str
    """The print of the question about the total."""
    family: str
    """The print of what is measured without a contrast."""
    who: str

    def split_key(self) -> AnswerKey:
        """Return the key of the measurement of both sides of the condition."""
        request = self._request(self.contrast.split, self.request.terms)
        return key_of(request.questions, request.terms, _named("split", self.total_print))

    def split(self, asked: PaidMeasurement) -> PaidMeasurement | None:
        """Return the measurement of both sides of the condition, if it costs what the question costs."""
        if not self.context.siblings:
            return None
        plans = self._plans(self._request(self.contrast.split, self.request.terms))
        if plans is None or not same_event(plans, asked.plans):
            return None
        key = self.split_key()
        part = key.measured[""]
        side = part.titles()[part.places[-1]]
        return PaidMeasurement(key, plans, {side: True}, side)

    def _plans(self, request: CheckedRequest) -> dict[str, Plan] | None:
        """Plan a request; None if there is no such plan, as terms or neighbours may have it."""
        try:
            return plan_to_fit(self.context, request, self.who)
        except DiscreetError:
            return None

    def _request(self, question: Question, terms: Terms) -> CheckedRequest:
        checked = self.request.checked[""]
        own = CheckedQuestion(question, checked.public_values, checked.rows_public)
        return CheckedRequest({"": own}, terms)

    def found(self) -> tuple[list[TotalSource], list[tuple[Body, Paid]]]:
        """Return the totals and the signed counts of this asker, the first ones first.

        Signed counts are those of the family: of this question, and of siblings of it.
        """
        starts = [
            key_start(self.total_print),
            key_start(_named("split", self.total_print)),
            key_start(_named("signed", self.family)),
        ]
        totals: list[TotalSource] = []
        signed: list[tuple[Body, Paid]] = []
        for key, body, paid in self._stored(starts):
            if key.startswith(starts[2]):
                signed.append((body, paid))
            elif body.split:
                totals.append(TotalSource(paid, {body.split: {"sum": [False, True]}}))
            elif _print_of(body) == self.total_print:
                totals.append(TotalSource(paid, {}))
        return sorted(totals, key=_number), signed

    def _stored(self, starts: Sequence[str]) -> Iterator[tuple[str, Body, Paid]]:
        """Yield measured tables of this asker whose numbers were not moved, by the start of their keys."""
        context = self.context
        apart = not context.share_questions
        # The keys of others are not even read: the time would tell what they asked (timing side channel).
        for key in context.ledger.keys(starts, self.who if apart else None):
            paid = find_paid(context.ledger, self.who, key, apart=apart, pause=context.pause)
            if paid is None:
                continue
            body = read_body(paid.body)
            if body.measured and body.facts is not None and not is_moved(body):
                yield key, body, paid

    def complete(
        self,
        totals: Sequence[TotalSource],
        signed: Sequence[tuple[Body, Paid]],
        asked: PaidMeasurement,
    ) -> Contrasted | None:
        """Return the first total and signed count that make a count as good as asked."""
        of_signed = measured_print(self.contrast.signed)
        request = self._request(self.contrast.signed, self.request.terms)
        pairs: list[Contrasted] = []
        for body, paid in signed:
            if _print_of(body) != of_signed:
                continue
            for total in totals:
                table = part_of_table(body, "", None)
                if self._error(total, table) <= self._allowed():
                    pairs.append(Contrasted(total, request, asked, paid))
        # The first that was complete, and with its first total: a later charge changes no answer.
        return min(pairs, key=_completed, default=None)

    def offer(self, totals: Sequence[TotalSource]) -> Contrasted | None:
        """Return the first total with the least spend on a signed count that will do; None if none does."""
        for total in totals:
            for parts in range(self._least_parts(total), _MOST + 1):
                request = self._request(self.contrast.signed, self._terms(parts))
                plans = self._plans(request)
                mechanism = None if plans is None else _mechanism(plans[""])
                if plans is None or mechanism is None:
                    break
                drawn = _table_with(mechanism, table_of_total(total))
                if self._error(total, drawn) <= self._allowed():
                    start = _named("signed", self.family)
                    key = key_of(request.questions, request.terms, start)
                    return Contrasted(total, request, PaidMeasurement(key, plans))
        return None

    def _least_parts(self, total: TotalSource) -> int:
        """Return the parts below which no spend will do: 1/(4 − s²/v), for variances s² and v."""
        planned = _mechanism(self.plan)
        if planned is None:
            return _MOST + 1
        [variance, *_] = {
            _variance(estimate)
            for estimate in _estimates(table_of_total(total), self.plan.question)
        }
        left = 4 * (self.request.terms.within or 1) ** 2 - variance / float(planned.scale) ** 2
        if left <= 0:
            return _MOST + 1
        # One part less: variances are compared here, errors decide.
        return max(_LEAST, math.ceil(PARTS / left) - 1)

    def _terms(self, parts: int) -> Terms:
        """Return terms that buy some parts of the precision that was asked for."""
        terms = self.request.terms
        share = Fraction(parts, PARTS)
        root = Fraction(math.isqrt(share.numerator * 10**12 // share.denominator) + 1, 10**6)
        spend = terms.spend
        error = None
        if terms.error is not None:
            [asked] = read_errors(self.plan.question, terms.error)
            error = asked / root
        return replace(
            terms, spend=_scaled(spend, share, root), error=error, weights=None, size=None
        )

    def _allowed(self) -> float:
        [planned] = self.plan.statistic_errors().values()
        return planned * (self.request.terms.within or 1) * _ROUNDING

    def _error(self, total: TotalSource, signed: object) -> float:
        """Return the largest error of a count at the asked level; infinite if the tables do not fit."""
        try:
            table = half_sum(table_of_total(total), signed)
            estimates = _estimates(table, self.plan.question)
        except InvalidArgument:
            return math.inf
        beta = float(1 - self.plan.level)
        return max((_reach(one, beta) for one in estimates), default=math.inf)


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
    """Return how a request is answered: for nothing if it can be, else by the least charge."""
    measured = measurement_of(context, request, key, plans, who)
    search = search_of(context, request, key, plans, measured, who=who)
    if search is None:
        return Way(measured, find_sums(context, request, plans, measured, who))
    totals, signed = search.found()
    ways: list[tuple[int, Way]] = []
    apart = not context.share_questions
    own = context.ledger.find_paid(who, measured.key.text, apart=apart)
    if own is not None:
        ways.append((own.entry.number, Way(measured)))
    both_sides = context.ledger.find_paid(who, search.split_key().text, apart=apart)
    if both_sides is not None:
        ways.append((both_sides.entry.number, Way(search.split(measured) or measured)))
    pair = search.complete(totals, signed, measured)
    if pair is not None:
        ways.append((pair.complete, Way(measured, contrast=pair)))
    if ways:
        # The first stays the first: the same question has the same answer for ever.
        return min(ways, key=_when)[1]
    summed = find_sums(context, request, plans, measured, who)
    if summed is not None:
        return Way(measured, summed)
    if measured.slice and signed:
        # The second of a family: its siblings will be asked for too, so all are bought at once.
        return Way(measured)
    offer = search.offer(totals)
    if offer is not None:
        return Way(measured, contrast=offer)
    split = None if _mechanism(search.plan) is None else search.split(measured)
    return Way(split or measured)


def _when(way: tuple[int, Way]) -> int:
    return way[0]


def search_of(
    context: CuratorContext,
    request: CheckedRequest,
    key: AnswerKey,
    plans: Mapping[str, Plan],
    measured: PaidMeasurement,
    *,
    who: str,
) -> ContrastSearch | None:
    """Return how the contrast of a request is looked for; None if it has none.

    `measured` is what would be measured without one: its print is the name of a family of siblings.
    """
    terms = request.terms
    ledger_terms = context.ledger.terms
    divided = ledger_terms.parts is not None or ledger_terms.blocks is not None
    moved = terms.nonnegative or terms.whole
    if request.several or terms.reuse is False or moved or divided or plans[""].public:
        return None
    # Of an (ε, δ) spend today's noise may be another than that of the answer.
    if _mechanism(plans[""]) is None and not isinstance(terms.spend, ApproxDP):
        return None
    contrast = contrast_of(key.measured[""].question)
    # Where every condition pins a key of its own, the wide table answers more for the same price.
    if contrast is None or contrast_of(measured.plans[""].question) is None:
        return None
    [family] = measured_names(measured.key.measured).values()
    of_total = measured_print(contrast.total)
    return ContrastSearch(context, request, plans[""], contrast, of_total, family, who)


def _named(use: str, print_: str) -> str:
    """Return the name under which tables of some use are found; no question has it as its print."""
    return hash_json({use: print_})


def _print_of(body: Body) -> str:
    facts = body.facts
    return "" if facts is None or list(facts.asked) != [""] else facts.asked[""].fingerprint


def _number(total: TotalSource) -> int:
    return total.paid.entry.number


def _completed(pair: Contrasted) -> tuple[int, int]:
    return pair.complete, _number(pair.total)


def _mechanism(plan: Plan) -> DiscreteGaussian | None:
    """Return the Gaussian noise of a plan of one release of totals; None for every other plan."""
    if len(plan.releases) != 1:
        return None
    mechanism = getattr(plan.releases[0], "mechanism", None)
    return mechanism if isinstance(mechanism, DiscreteGaussian) else None


def _scaled(spend: Measure | None, share: Fraction, root: Fraction) -> Measure | None:
    match spend:
        case ZCDP():
            return ZCDP(spend.rho * share)
        case GaussianDP():
            return GaussianDP.of_square(spend.squared * share)
        case ApproxDP():
            return ApproxDP(spend.epsilon * root, spend.delta)
    return spend


def _table_with(mechanism: DiscreteGaussian, like: object) -> Json:
    """Write a table of zeros with some noise, of the same keys as another one."""
    keys = like["keys"]  # type: ignore[index]
    zero = {"estimate": "amount", "total": [0, "1", 0], "low": None, "high": None}
    rows = [{"s0": zero} for _ in keys]
    written = mechanism_to_json(mechanism)
    return {"answer": 1, "keys": keys, "estimates": rows, "mechanisms": [written]}


def _estimates(table: object, question: Question) -> list[JointTotal]:
    """Return the estimates of a table of one count, as weighted sums of totals."""
    name = question.statistics[0][0]
    named = {**table, "estimates": [{name: row["s0"]} for row in table["estimates"]]}  # type: ignore[dict-item, index]
    _, rows = estimates_from_json(named, question)
    estimates = []
    for row in rows:
        one = row[name]
        if not isinstance(one, JointTotal):
            one = JointTotal((one.total,), (Fraction(1),))  # type: ignore[attr-defined]
        estimates.append(one)
    return estimates


def _reach(estimate: JointTotal, beta: float) -> float:
    """Return the reach of an estimate's noise: it follows from its laws, not from what was drawn."""
    return total_reach(weighted_noises(noises_of(estimate.totals), estimate.weights), beta)


def _variance(estimate: JointTotal) -> float:
    noises = weighted_noises(noises_of(estimate.totals), estimate.weights)
    return sum((noise.scale * noise.worth) ** 2 for noise in noises)
