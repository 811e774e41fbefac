"""Contrast: a count under a condition at a lower price, if the count without it is known.

The *signed count* of a condition adds 1 for a row that meets it and −1 for any other row. The
count under the condition is half the sum of the total and the signed count
(`query.bounds.contrast`).

    asked                              known to this asker       measured                     price
    COUNT(*) WHERE delay > 60          nothing                   both sides of the condition  full
    COUNT(*) WHERE late                COUNT(*)                  signed count of late         1/3
    COUNT(*) WHERE hour < 9            both sides of delay > 60  signed count of hour < 9     1/2
    … AND origin = 'EWR', then 'JFK'   signed count with 'EWR'   the count for every origin   full

"Both sides" are the counts of the rows that meet the condition and of the others; their sum is a
total.

The signed count gets the least spend at which the error of the half sum is at most the planned
error of the count, times `within` if that is given. The search goes through 12/48 to 36/48 of the
spend: of ρ, or of μ²; of an (ε, δ) spend ε is multiplied by the square root. If no spend will do,
the count is measured.

What is charged is an ordinary question: the planner plans it, the ledger's filter prices its
event, and its noise is drawn afresh. Which question that is depends on answers that the asker has
been given. Filters allow that: they are sound for questions that are chosen by what was released
(adaptive composition).

A contrast needs a table whose unit is a row, and one count by public keys that the condition does
not read, so no cell of a total was picked by its noise. It needs Gaussian noise: sums of geometric
noise gain little.

The same question has the same answer for ever: of several ways the one that was complete first is
taken.

Guarantee: the price is at most that of the question by itself; the error is at most the planned
one, times `within`. Answers of other askers are not read, unless the steward lets analysts share
questions.
Law: tests/curator/test_contrast.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from ..answer.body import Body, read_body
from ..answer.measured_table import find_half_sum
from ..answer.stored import estimates_from_json, mechanism_to_json
from ..arithmetic.canonical import hash_json
from ..frozen import frozen, replace
from ..mechanisms.additive.discrete_gaussian import DiscreteGaussian
from ..noise.geometric import MAX_SCALE
from ..plan.asked.terms import Terms, read_errors
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from ..privacy.events.json import Json
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure
from ..query.algebra.tree import Question
from ..query.bounds.check import CheckedQuestion
from ..query.bounds.contrast import Contrast, contrast_of
from ..query.bounds.grouping_sets import MAX_FINEST_CELLS
from ..query.bounds.nested import count_cells
from ..query.text.measured_part import measured_print
from ..statistics.laws.linear_combination import total_reach, weighted_noises
from ..statistics.releases.total import JointTotal, NoisyRelease, noises_of
from .answer_key import AnswerKey, key_of, key_start, measured_names
from .charge_request import PaidMeasurement, plan_to_fit
from .context import CuratorContext
from .pay import Paid
from .stored_answer import TotalSource, is_moved, part_of_table, table_of_total
from .wide_measurement import same_event

PARTS = 48
"""A signed count gets k of these parts of the spend: the least k that will do."""
_LEAST, _MOST = 12, 36
"""Range of k: a contrast costs at least a quarter; above three quarters, siblings are worth more."""
_ROUNDING = 1 + 1e-9
_WIDEST = MAX_SCALE // 4
"""Most noise of a count that has a contrast: a quarter of its spend, on a change of two, takes four times it."""


@frozen
class Contrasted:
    """Known total and signed count, half the sum of which is the asked count.

    `request` asks for the signed count. `paid` is its stored answer. If that is None, the signed
    count is still to be charged for, with the key and plans of `measured`.
    """

    total: TotalSource
    request: CheckedRequest
    measured: PaidMeasurement
    paid: Paid | None = None

    @property
    def complete(self) -> int:
        """Number of the later of the two entries, from which on both were paid for."""
        numbers = [self.total.paid.entry.number]
        if self.paid is not None:
            numbers.append(self.paid.entry.number)
        return max(numbers)


@frozen
class FoundCounts:
    """Stored totals of one question, earliest first, and signed counts of its family in no order.

    `pending` are the keys of signed counts that are paid for and still to be run.
    """

    totals: Sequence[TotalSource] = ()
    signed: Sequence[tuple[Body, Paid]] = ()
    pending: Sequence[str] = ()


@frozen
class ContrastSearch:
    """Search for the total and the signed count of one question.

    `plan` is the plan of the question by itself, whose error the contrast must keep. `contrast`
    has the questions about the total, the signed count and both sides.
    """

    context: CuratorContext
    request: CheckedRequest
    plan: Plan
    contrast: Contrast
    total_print: str
    """The fingerprint of the question about the total."""
    family: str
    """The fingerprint of what would be measured without a contrast, siblings included."""
    who: str

    def split_key(self) -> AnswerKey:
        """Return the key of the measurement of both sides of the condition."""
        request = self._request(self.contrast.split, self._terms())
        return key_of(request.questions, request.terms, _named("split", self.total_print))

    def split(self, asked: PaidMeasurement) -> PaidMeasurement | None:
        """Return the measurement of both sides of the condition, if it costs what the question costs."""
        # Both sides have twice the cells, which may be more than one table has.
        if not self.context.siblings or count_cells(self.contrast.split) > MAX_FINEST_CELLS:
            return None
        plans = self._plans(self._request(self.contrast.split, self._terms()))
        if not same_event(plans, asked.plans):
            return None
        key = self.split_key()
        part = key.measured[""]
        side = part.titles()[part.places[-1]]
        return PaidMeasurement(key, plans, {side: True}, side)

    def _plans(self, request: CheckedRequest) -> dict[str, Plan]:
        # There is a plan: the question has one, and `search_of` left room for the noise of a contrast.
        return plan_to_fit(self.context, request, self.who)

    def _request(self, question: Question, terms: Terms) -> CheckedRequest:
        checked = self.request.checked[""]
        own = CheckedQuestion(question, checked.public_values, checked.rows_public)
        return CheckedRequest({"": own}, terms)

    def found(self, keys: Sequence[str]) -> FoundCounts:
        """Return the stored totals and signed counts among the keys of what this asker has paid for.

        Signed counts are those of the family: of this question, and of siblings that pin a column
        to another value. Tables whose numbers were moved after the noise (to 0, or to whole
        numbers) are left out.
        """
        starts = self.starts()
        of_signed = starts[-1]
        totals: list[TotalSource] = []
        signed: list[tuple[Body, Paid]] = []
        pending: list[str] = []
        for key in keys:
            if not key.startswith(starts):
                continue
            paid = self.context.find_paid(self.who, key)
            if paid is None:
                if key.startswith(of_signed):
                    pending.append(key)
                continue
            body = read_body(paid.body)
            if not body.measured or body.facts is None or is_moved(body):
                continue
            if key.startswith(of_signed):
                signed.append((body, paid))
            elif body.split:
                totals.append(TotalSource(paid, {body.split: {"sum": [False, True]}}))
            elif _print_of(body) == self.total_print:
                totals.append(TotalSource(paid, {}))
        return FoundCounts(sorted(totals, key=_number), signed, pending)

    def starts(self) -> tuple[str, str, str]:
        """Return the beginnings of the keys of totals, of both sides, and of signed counts."""
        of_split = _named("split", self.total_print)
        of_signed = _named("signed", self.family)
        return key_start(self.total_print), key_start(of_split), key_start(of_signed)

    def pending(self, found: FoundCounts) -> Iterator[tuple[Contrasted, int]]:
        """Yield the question's signed counts whose charge has not ended, with its number."""
        if not found.pending:
            return
        for total in found.totals:
            offer = self.offer([total])
            if offer is None or offer.measured.key.text not in found.pending:
                continue
            entry = self.context.pending(self.who, offer.measured.key.text)
            if entry is not None:
                yield offer, entry.number

    def complete(self, found: FoundCounts, asked: PaidMeasurement) -> Contrasted | None:
        """Return a stored total and signed count whose half sum has at most the allowed error.

        Of several pairs it is the one that was complete first; None if there is no such pair.
        """
        of_signed = measured_print(self.contrast.signed)
        request = self._request(self.contrast.signed, self._terms())
        pairs: list[Contrasted] = []
        for body, paid in found.signed:
            if _print_of(body) != of_signed:
                continue
            for total in found.totals:
                table = part_of_table(body, "", None)
                if self._error(total, table) <= self._allowed():
                    pairs.append(Contrasted(total, request, asked, paid))
        # The first that was complete, and with its first total: a later charge changes no answer.
        return min(pairs, key=_completed, default=None)

    def offer(self, totals: Sequence[TotalSource]) -> Contrasted | None:
        """Return the earliest total with which a signed count will do, and its least spend; else None.

        The signed count is still to be charged for.
        """
        for total in totals:
            for parts in range(self._least_parts(total), _MOST + 1):
                request = self._request(self.contrast.signed, self._part_of_terms(parts))
                plans = self._plans(request)
                mechanism = gaussian_noise(plans[""])
                if mechanism is None:
                    break
                drawn = _table_with(mechanism, table_of_total(total))
                if self._error(total, drawn) <= self._allowed():
                    start = _named("signed", self.family)
                    key = key_of(request.questions, request.terms, start)
                    return Contrasted(total, request, PaidMeasurement(key, plans))
        return None

    def _least_parts(self, total: TotalSource) -> int:
        """Return the least number of parts of the spend from which to search, for one total.

        A total of variance s² and a planned variance v leave 4·within²·v − s² for the signed
        count: the fraction 1/(4·within² − s²/v) of the spend. One part less is returned, at least
        a quarter.
        """
        planned = gaussian_noise(self.plan)
        estimates = _estimates(table_of_total(total), self.plan.question)
        # LIMIT 0 alone stores a table without rows.
        if planned is None or not estimates:
            return _MOST + 1
        variance = _variance(estimates[0])
        left = 4 * (self.request.terms.within or 1) ** 2 - variance / float(planned.scale) ** 2
        if left <= 0:
            return _MOST + 1
        # One part less: variances are compared here, errors decide.
        return max(_LEAST, math.ceil(PARTS / left) - 1)

    def _terms(self) -> Terms:
        """Return the request's terms for the one statistic of a contrast, which has its own name."""
        terms = self.request.terms
        error = None
        if terms.error is not None:
            [error] = read_errors(self.plan.question, terms.error)
        return replace(terms, error=error, weights=None, size=None)

    def _part_of_terms(self, parts: int) -> Terms:
        """Return the terms with `parts` 48ths of the spend, or the error that they buy."""
        terms = self._terms()
        share = Fraction(parts, PARTS)
        root = Fraction(math.isqrt(share.numerator * 10**12 // share.denominator) + 1, 10**6)
        error = terms.error
        if isinstance(error, Fraction):
            error = error / root
        return replace(terms, spend=_scaled(terms.spend, share, root), error=error)

    def _allowed(self) -> float:
        [planned] = self.plan.statistic_errors().values()
        return planned * (self.request.terms.within or 1) * _ROUNDING

    def _error(self, total: TotalSource, signed: object) -> float:
        """Return the largest error of half the sum of total and signed count, at the asked level.

        It is infinite if the two tables do not have the same keys.
        """
        table = find_half_sum(table_of_total(total), signed)
        if table is None:
            return math.inf
        estimates = _estimates(table, self.plan.question)
        beta = float(1 - self.plan.level)
        return max((_reach(one, beta) for one in estimates), default=math.inf)


def search_of(
    context: CuratorContext,
    request: CheckedRequest,
    key: AnswerKey,
    plans: Mapping[str, Plan],
    measured: PaidMeasurement,
    *,
    who: str,
) -> ContrastSearch | None:
    """Return the search for the contrast of a request; None if it can have none.

    `measured` is what would be measured without a contrast. Its fingerprint names the family of
    siblings.
    """
    plan = plans[""]
    # Of an (ε, δ) spend today's noise may be another than that of the answer.
    if gaussian_noise(plan) is None and not isinstance(request.terms.spend, ApproxDP):
        return None
    contrast = contrast_of(key.measured[""].question)
    # Where every condition pins a key of its own, the wide table answers more for the same price.
    if contrast is None or contrast_of(measured.plans[""].question) is None:
        return None
    [release] = plan.releases
    if not isinstance(release, NoisyRelease) or release.mechanism.scale > _WIDEST:
        return None
    [family] = measured_names(measured.key.measured).values()
    of_total = measured_print(contrast.total)
    return ContrastSearch(context, request, plan, contrast, of_total, family, who)


def _named(use: str, print_: str) -> str:
    """Return the digest with which keys of tables of one use begin; no question's fingerprint."""
    return hash_json({use: print_})


def _print_of(body: Body) -> str:
    facts = body.facts
    return "" if facts is None or list(facts.asked) != [""] else facts.asked[""].fingerprint


def _number(total: TotalSource) -> int:
    return total.paid.entry.number


def _completed(pair: Contrasted) -> tuple[int, int]:
    return pair.complete, _number(pair.total)


def gaussian_noise(plan: Plan) -> DiscreteGaussian | None:
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
    """Write a table of zeros with this noise and another table's keys, to predict errors."""
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
    """Return the distance that an estimate's noise exceeds with probability at most `beta`.

    It follows from the laws of the noise, not from what was drawn.
    """
    return total_reach(weighted_noises(noises_of(estimate.totals), estimate.weights), beta)


def _variance(estimate: JointTotal) -> float:
    noises = weighted_noises(noises_of(estimate.totals), estimate.weights)
    return sum((noise.scale * noise.worth) ** 2 for noise in noises)
