"""Stored answers: read answers from a ledger's text, with their receipt, caption and plan.

The text (`answer.body`) holds the answers, their price, and the facts that a receipt states:
terms, versions of the tables, neighbours, and of each question its SQL, fingerprint and
contribution bounds. The questions are stated as measured parts (`answer_key`), without the asker's
aliases, order and post-processing. A number says by which rules rows were counted
(`answer_key.MEANING`).

A stored answer whose facts are known is given again without planning its question. Its plan is
made when somebody reads it (`answer.provenance`):

    today's planner                                          shown as the plan
    -------------------------------------------------------  ------------------------------------
    same event and contribution bounds as the charge         today's plan
    other ones, or it refuses the question                   the text stored with the answer: the
                                                             charged event (measured tables), or the
                                                             plan of that time (earlier releases)
    any, but the answer is made of other entries             a sentence that names these entries

Law: tests/ledger/test_before_0_2_0.py, tests/ledger/test_0_1_0.py, tests/curator/test_stored.py,
tests/answer/test_captions.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import cache

from ..answer import text
from ..answer.answer import Answer
from ..answer.body import Body, BodyFacts, Said, read_body
from ..answer.measured_table import half_sum, slice_table, view_from_json
from ..answer.provenance import Late, LatePlan, Provenance
from ..answer.stored import answer_from_json
from ..arithmetic.canonical import hash_json
from ..arithmetic.rational import rational
from ..errors import DiscreetError
from ..frozen import field, frozen
from ..ledger import Entry
from ..plan.asked.terms import Terms
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest
from ..plan.public_answer import is_public
from ..plan.text.plan import share_text, truncation_sentence, truncation_text
from ..privacy.events import Event
from ..privacy.events.json import Json, from_json
from ..privacy.measures import Measure, PureDP
from ..query.algebra.tally import Free
from ..query.algebra.tree import relations_of
from ..query.bounds.relation_facts import tables_of
from . import answer_key
from .answer_key import AnswerKey
from .context import CuratorContext
from .history import EntryNumbers
from .pay import Paid
from .receipt import Receipt, ReceiptQuestion, ReceiptTotal
from .signing import Signer

EARLIER_PLAN = "planned by an earlier release, charged as {event}"
"""Plan of a stored answer as it is told where today's planner would plan its question otherwise."""
FROM_CELLS = "from entry {number}, nothing spent"
"""Caption and plan of an answer that is made of the cells of a stored one."""
FROM_HALVES = "half the sum of entries {total} and {number}"
"""Plan of a count that is half the sum of a total and a signed count, and a note below it."""
FROM_BOTH = "from entries {total} and {number}, nothing spent"
"""Caption of such a count where both had been paid for."""
_MOVED = ("nonnegative", "whole")
"""Terms by which released numbers were moved: such numbers are no totals with noise any more."""
_LEVELS = (0.95, 0.9, 0.99, 0.8, 0.5)
PUBLIC_CAPTION = "public: follows from declarations, whatever the data are; nothing spent"
"""Caption of an answer that tells nothing about the data."""
_EVERY_ROW = share_text(Free())


@frozen
class AnswerCaption:
    """Caption of the answers of one charge.

    `price` is a text such as "ε = 1 of ε = 3" (price and whole budget), `entry` the number of the
    ledger's entry. `again` says why the answer cost nothing; it is "" if the answer was charged
    for just now. `made_of` names the two entries of a count that is half the sum of two stored
    tables, else "".
    """

    price: str
    entry: int
    again: str
    made_of: str = ""

    def below(self, answer: Answer, receipt: Receipt, shares: Iterable[str]) -> Answer:
        """Return an answer with its receipt, its caption and its notes; these are made when read.

        `shares` are the contribution bounds that were stored with the answer, as text. If every row
        counts, the caption says nothing about truncation, and no plan has to be made for it.
        """
        caps = [share for share in dict.fromkeys(shares) if share != _EVERY_ROW]

        def truncation() -> str:
            if caps and isinstance(answer.plan, Plan):
                return truncation_text(answer.plan)
            # Today's planner plans otherwise or refuses: the stored contribution bounds are shown.
            return truncation_sentence(caps)

        def line() -> str:
            if receipt.price == PureDP(0) and is_public(answer.question):
                return PUBLIC_CAPTION
            if self.again.startswith("from "):
                return text.caption.caption_line(answer, self.again, "", truncation())
            paid = "answered before for" if self.again else "cost"
            # "ε = 1 of ε = 3": the line has the price alone.
            price, _, _ = self.price.partition(" of ")
            return text.caption.caption_line(answer, paid, price, truncation())

        def notes() -> tuple[str, ...]:
            paid = f"{self.again}; it cost" if self.again else "cost"
            told = (
                f"{paid} {self.price}, entry {self.entry} of the ledger",
                self.made_of,
                truncation(),
            )
            return tuple(note for note in told if note)

        return answer.with_receipt(receipt, Late(line), Late(notes))


@frozen
class TotalSource:
    """Stored total that, with a signed count, makes a count (half their sum; `contrast`).

    `paid` is its charge and stored text, `part` says which part of its table is the total.
    """

    paid: Paid
    part: Json = field(hash=False)


def is_moved(body: Body) -> bool:
    """Return whether the stored numbers were moved after the noise (`nonnegative` or `whole`)."""
    return body.facts is not None and any(body.facts.terms.get(name) for name in _MOVED)


def facts_of(plans: Mapping[str, Plan], key: AnswerKey) -> BodyFacts:
    """Return the facts that are stored with measured tables.

    Each question is stated by its measured part: SQL, fingerprint, charged event and contribution
    bounds.
    """
    asked = {}
    prints = answer_key.measured_names(key.measured)
    # Not the plan's own words: they have the names and the order of one spelling in them.
    told = EARLIER_PLAN.format(event=answer_key.event_of(plans))
    for name, plan in plans.items():
        part = key.measured[name]
        # Sorted: contribution bounds are listed in the order of the statistics.
        shares = sorted(answer_key.shares_of(plan))
        asked[name] = Said(part.described(), prints[name], told, tuple(shares))
    return _facts_about(plans, key.said, asked)


def _spelled_facts(
    plans: Mapping[str, Plan], questions: answer_key.Questions, terms: Terms
) -> BodyFacts:
    """Return the facts of answers that release 0.1.0 stored without any: those of today's question."""
    asked = {}
    texts = answer_key.texts_of(questions)
    prints = answer_key.prints_of(questions)
    for name, plan in plans.items():
        asked[name] = Said(texts[name], prints[name], str(plan), tuple(answer_key.shares_of(plan)))
    return _facts_about(plans, answer_key.terms_of(questions, terms), asked)


def _facts_about(plans: Mapping[str, Plan], terms: Json, asked: Mapping[str, Said]) -> BodyFacts:
    versions = {}
    events: list[Event] = []
    for plan in plans.values():
        for relation in relations_of(plan.question):
            for schema in tables_of(relation):
                versions[schema.name] = schema.version
        events += plan.events
    # All tables of a curator declare one neighbour relation, so the first event has it.
    neighbours = events[0].neighbours
    return BodyFacts(terms, neighbours, dict(sorted(versions.items())), asked)


def read_answers(
    request: CheckedRequest,
    plan: Callable[[], Mapping[str, Plan]],
    paid: Paid,
    context: CuratorContext,
    signer: Signer | None,
    *,
    fresh: Mapping[str, Answer] | None = None,
    part: Json | None = None,
    derived: bool = False,
    total: TotalSource | None = None,
) -> dict[str, Answer]:
    """Return the answers of a request by name, each with the receipt of their one charge.

    `paid` is the charge with the stored text, `context` has the ledger and the numbers of entries.
    `part` says which part of the stored table was asked for; empty for all of it. `derived` says
    that the answer is summed from cells of another question's table. With a `total`, the answer is
    half the sum of it and of the stored table.

    `plan` plans the request; it is called when somebody reads the plan of an answer. `fresh` are
    answers of this process whose text is the one that the ledger holds. They need not be parsed
    again.
    """
    questions = request.questions
    terms = request.terms
    promise = context.ledger.terms.filter.promise()
    numbers = context.numbers
    charge = paid.entry
    body = read_body(paid.body)
    facts = body.facts
    if facts is None:
        # Release 0.1.0 stored no facts: they are those of today's question.
        facts = _spelled_facts(plan(), questions, terms)
    receipt = receipt_of(charge, body, facts, promise, part, total=total, numbers=numbers)
    if signer is not None:
        receipt = receipt.signed(signer)
    again = again_words(dict(receipt.tables)) if paid.again else ""
    if derived:
        again = FROM_CELLS.format(number=receipt.number)
    how = again
    if receipt.total is not None:
        entries = {"total": receipt.total.number, "number": receipt.number}
        how = FROM_HALVES.format(**entries)
        again = FROM_BOTH.format(**entries) if paid.again else ""
    caption = AnswerCaption(receipt.price_words(), receipt.number, again, how if total else "")

    @cache
    def made() -> Mapping[str, Plan | Provenance]:
        # One planning for all answers of a release.
        if derived or total is not None:
            # Not the plan of the question: that one was not paid for, and its noise not drawn.
            return {name: Provenance(one, _level(terms), how) for name, one in questions.items()}
        return _how_made(questions, terms, plan, charge, body)

    told = {}
    for name, question in questions.items():
        known = (fresh or {}).get(name)
        if known is not None:
            told[name] = caption.below(known, receipt, facts.asked[name].shares)
            continue
        late = LatePlan(question, _level(terms), _made_of(made, name))
        read = view_from_json if body.measured else answer_from_json
        answer = read(part_of_table(body, name, part, total), late)
        told[name] = caption.below(answer, receipt, facts.asked[name].shares)
    return told


def _level(terms: Terms) -> Fraction:
    """Return the confidence level as a plan has it."""
    return rational(terms.level, "level")


def _made_of(
    made: Callable[[], Mapping[str, Plan | Provenance]], name: str
) -> Callable[[], Plan | Provenance]:
    """Return the function that makes the plan of one answer."""
    return lambda: made()[name]


def again_words(versions: Mapping[str, str]) -> str:
    """Return the caption of a stored answer: the version of its data, and that it was free.

    >>> from discreet.curator.stored_answer import again_words
    >>> again_words({"people": "1"})
    'answered before, data version 1, nothing spent'
    >>> again_words({"people": "1", "visits": "march"})
    'answered before, people version 1, visits version march, nothing spent'
    """
    names = list(versions)
    if len(names) == 1:
        names = ["data"]
    pairs = zip(names, versions.values(), strict=True)
    data = ", ".join(f"{name} version {version}" for name, version in pairs)
    return f"answered before, {data}, nothing spent"


def _how_made(
    questions: answer_key.Questions,
    terms: Terms,
    plan: Callable[[], Mapping[str, Plan]],
    charge: Entry,
    body: Body,
) -> Mapping[str, Plan | Provenance]:
    """Return today's plans if they have the event and bounds of the charge, else the stored ones."""
    try:
        plans = plan()
        if _is_how_made(plans, terms, charge, body):
            return plans
    except DiscreetError:
        # Today's planner refuses the question. Its answer was paid for, so it is given all the same.
        pass
    if body.facts is None:
        told = f"planned by release 0.1.0, charged as {from_json(charge.event)}"
        texts = dict.fromkeys(questions, told)
    else:
        texts = {name: said.plan for name, said in body.facts.asked.items()}
    level = _level(terms)
    made = {}
    for name, question in questions.items():
        made[name] = Provenance(question, level, texts[name])
    return made


def _is_how_made(plans: Mapping[str, Plan], terms: Terms, charge: Entry, body: Body) -> bool:
    """Return whether the answers of a charge were made by these plans."""
    if body.facts is None:
        return same_plan(charge, plans, terms)
    return _planned_alike(plans, charge, body.facts)


def _planned_alike(plans: Mapping[str, Plan], charge: Entry, facts: BodyFacts) -> bool:
    """Return whether today's plans have the event and the contribution bounds of a charge."""
    if charge.event not in answer_key.planned_events(plans):
        return False
    shares_then = {name: sorted(said.shares) for name, said in facts.asked.items()}
    shares_now = {name: sorted(answer_key.shares_of(plan)) for name, plan in plans.items()}
    return shares_then == shares_now


def part_of_table(
    body: Body, name: str, part: Json | None, total: TotalSource | None = None
) -> object:
    """Return the table of one stored answer as JSON, cut to `part` if given.

    With a `total`, return half the sum of the total's table and of this one.
    """
    answer = body.answers[name]
    if part:
        answer = slice_table(answer, body.titles, part)
    if total is not None:
        answer = half_sum(table_of_total(total), answer)
    return answer


def table_of_total(total: TotalSource) -> object:
    """Return the part of a stored table that is the total, as JSON."""
    return part_of_table(read_body(total.paid.body), "", total.part)


def receipt_of(
    charge: Entry,
    body: Body,
    facts: BodyFacts,
    promise: Measure,
    part: Json | None = None,
    *,
    total: TotalSource | None = None,
    numbers: EntryNumbers,
) -> Receipt:
    """Return the receipt of a charge, with the hash of each answer as `part_of_table` returns it.

    `part` names a part of the stored table, `total` a table with which half the sum is taken.
    `numbers` are those of entries as the asker sees them.
    """
    event = from_json(charge.event)
    asked = []
    for name, said in facts.asked.items():
        answer_hash = hash_json(part_of_table(body, name, part, total))
        asked.append(ReceiptQuestion(name, said.text, said.fingerprint, answer_hash))
    price = body.price
    charged = None
    if body.shown is not None:
        price = body.shown.amount
        charged = body.shown.charged
    return Receipt(
        number=numbers.of(charge),
        charge=charge.hash,
        time=charge.time,
        who=charge.who,
        why=charge.why,
        part=charge.part,
        stored_as=charge.key,
        event=event,
        price=price,
        promise=promise,
        neighbours=event.neighbours,
        tables=tuple(facts.tables.items()),
        asked=tuple(asked),
        charged=charged,
        shown=tuple((part or {}).items()),
        total=None if total is None else _receipt_total(total, numbers),
        numbered=numbers.name,
    )


def _receipt_total(total: TotalSource, numbers: EntryNumbers) -> ReceiptTotal:
    entry = total.paid.entry
    return ReceiptTotal(numbers.of(entry), entry.hash, entry.key, tuple(total.part.items()))


def same_plan(charge: Entry, plans: Mapping[str, Plan], terms: Terms) -> bool:
    """Return whether an answer of release 0.1.0 was made by these plans.

    Its key is a hash of event, contribution bounds and level. The level is not stored, so the
    asked level and five usual ones are tried.
    """
    if charge.event not in answer_key.planned_events(plans):
        return False
    for level in (terms.level, *_LEVELS):
        if charge.key == answer_key.old_key_of(plans, level, nonnegative=terms.nonnegative):
            return True
    return False
