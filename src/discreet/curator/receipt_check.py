"""Verification of receipts: every byte, the signature, the answer, and the facts in the ledger.

Guarantee: a receipt that passes is the canonical text of its facts, its hash is theirs, and its
signature, if it has one, is of these facts. With a ledger, every fact that the ledger holds equals
the receipt's.
Refuses: everything else, with ClaimRefuted; arguments of another form with InvalidArgument.
Law: tests/curator/test_receipt.py::TestAReceipt, tests/curator/test_receipt.py::TestWhatIsNoReceipt
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..answer.answer import Answer
from ..answer.body import BodyFacts, Said, read_body
from ..answer.measured_table import measured_to_json
from ..answer.stored import answer_to_json
from ..arithmetic.canonical import canonical_json, hash_json
from ..errors import ClaimRefuted, DiscreetError, InvalidArgument
from ..privacy.events.json import from_json, measure_from_json
from .answer_key import question_name
from .history import EntryNumbers
from .pay import Paid
from .receipt import (
    PART_VERSION,
    SUM_VERSION,
    TOTAL_VERSION,
    VERSION,
    Receipt,
    ReceiptQuestion,
    ReceiptTotal,
)
from .signing import check_signature, read_key
from .stored_answer import TotalSource, receipt_of

if TYPE_CHECKING:
    from ..ledger import Ledger

UNPROVEN = (
    "release 0.1.0 stored this answer without the question's text and the versions of its tables: the ledger vouches "
    "for the charge, the event, the price, the fingerprint and the answer, but not for these two; a signature would"
)
"""Warning about a receipt with facts that the ledger does not hold."""
# The formats of a receipt: its text fields, all its fields by version, and the fields of a question.
_TEXTS = ("charge", "time", "who", "why", "stored_as", "neighbours", "signature", "key", "hash")
_FIRST = {"receipt", "number", "part", "event", "price", "promise", "tables", "asked", *_TEXTS}
_FIELDS = {
    1: _FIRST,
    VERSION: _FIRST | {"charged"},
    PART_VERSION: _FIRST | {"charged", "shown"},
    SUM_VERSION: _FIRST | {"charged", "shown"},
    TOTAL_VERSION: _FIRST | {"charged", "total"},
}
_ASKED = ("name", "text", "fingerprint", "answer")


def verify_receipt(
    receipt: Receipt | str | Path,
    *,
    answer: Answer | None = None,
    key: str | None = None,
    ledger: Ledger | None = None,
) -> Receipt:
    """Check a receipt and return it: each byte against its hash, and its signature if it has one.

    `receipt` is a `Receipt`, its JSON text, or a path to that text.

    With `key`, a public key that you know from elsewhere, the receipt must be signed by that key.
    Without it, a signature only shows that one and the same key made it. With `answer`, the answer
    must be one of those that the receipt is for.

    With `ledger`, the ledger must hold every fact: its budget; the charge with its time, person,
    reason, part, event and price; the questions with their texts and fingerprints; the versions of
    the tables; the neighbours; the answers. Answers of release 0.1.0 have no texts and versions in
    the ledger. A warning says so, unless `key` is given: then the signature vouches for them.

    >>> import discreet as dp
    >>> dp.verify_receipt("{}")
    Traceback (most recent call last):
    ...
    discreet.errors.ClaimRefuted: this is no receipt of discreet, or it was changed

    Refuses: with ClaimRefuted whatever does not hold; with InvalidArgument a `receipt` of another
    type, and a `key` that is no public key.
    """
    checked = read_receipt(_text(receipt))
    if key is not None:
        read_key(key)
        if not checked.signature:
            raise ClaimRefuted("the receipt is not signed")
        if checked.key != key:
            raise ClaimRefuted("the receipt is signed by another key")
    if answer is not None:
        receipted = {question.answer for question in checked.asked}
        # Earlier releases stored one spelling of an answer; since then the measured table is stored.
        spelled = hash_json(answer_to_json(answer))
        measured = hash_json(measured_to_json(answer))
        if not receipted & {spelled, measured}:
            raise ClaimRefuted("the answer is not the one that this receipt is for")
    if ledger is not None:
        complete = _check_against_ledger(checked, ledger)
        # A signature by a known key vouches for the facts that the ledger does not hold.
        if not complete and key is None:
            warnings.warn(UNPROVEN, stacklevel=2)
    return checked


def _check_against_ledger(receipt: Receipt, ledger: Ledger) -> bool:
    """Refuse a receipt that differs from the ledger; return whether the ledger holds every fact.

    The receipt is written anew from the ledger alone and compared, field by field. Answers of release
    0.1.0 were stored without the questions' texts and the versions of the data. These two are then taken
    from the receipt, and the fingerprint, which is a hash of both, must be the one in the ledger.
    """
    numbers = EntryNumbers(ledger, own=receipt.numbered == "own")
    own = numbers.in_ledger(receipt.who, receipt.number)
    # The asker's own charge first: others may have paid for the same answer.
    stored = ledger.answer(receipt.stored_as, own) or ledger.answer(receipt.stored_as)
    if stored is None:
        raise ClaimRefuted("the ledger holds no such answer")
    charge, text = stored
    body = read_body(text)
    facts = body.facts or _claims(receipt)
    prints = {name: said.fingerprint for name, said in facts.asked.items()}
    # A pending charge of an earlier release may have been run by this one: it names one spelling.
    names_measured = not body.measured or len(charge.key.split(":")) == 4
    wrong_name = names_measured and question_name(prints) != charge.question
    if prints.keys() != body.answers.keys() or wrong_name:
        raise ClaimRefuted("the ledger holds another question for this charge")
    try:
        total = _total_of(receipt, numbers)
        shown = dict(receipt.shown)
        promise = ledger.promise()
        rewritten = receipt_of(charge, body, facts, promise, shown, total=total, numbers=numbers)
    except InvalidArgument:
        raise ClaimRefuted("the ledger holds no such part of this answer") from None
    if receipt.charged is None:
        # A receipt of version 1 of an answer that has a price by now: the filter's amount is compared.
        rewritten = replace(rewritten, price=body.price, charged=None)
    held = _comparable(rewritten)
    claimed = _comparable(receipt)
    wrong = [name for name, fact in held.items() if fact != claimed.get(name)]
    if wrong:
        raise ClaimRefuted(f"the ledger says something else than the receipt: {', '.join(wrong)}")
    return body.facts is not None


def _total_of(receipt: Receipt, numbers: EntryNumbers) -> TotalSource | None:
    """Return the total that a receipt names, as the ledger holds it."""
    total = receipt.total
    if total is None:
        return None
    number = numbers.in_ledger(receipt.who, total.number)
    stored = numbers.ledger.answer(total.stored_as, number)
    if stored is None:
        raise InvalidArgument("the ledger holds no such total")
    return TotalSource(Paid(*stored), dict(total.shown))


def _read_total(data: Mapping[str, Any]) -> ReceiptTotal:
    shown = tuple(data["shown"].items())
    return ReceiptTotal(int(data["number"]), str(data["charge"]), str(data["stored_as"]), shown)


def _claims(receipt: Receipt) -> BodyFacts:
    """Return the facts that a receipt claims about its questions."""
    asked = {}
    for question in receipt.asked:
        asked[question.name] = Said(question.text, question.fingerprint, "", ())
    return BodyFacts({}, receipt.neighbours, dict(receipt.tables), asked)


def _name_of(question: ReceiptQuestion) -> str:
    return question.name


def _comparable(receipt: Receipt) -> dict[str, str]:
    """Write each fact of a receipt as canonical JSON, by its name; questions sorted by name.

    Texts are compared and not values, because in Python True equals 1.
    """
    ordered = replace(receipt, asked=tuple(sorted(receipt.asked, key=_name_of)))
    return {name: canonical_json(fact) for name, fact in ordered.facts().items()}


def _text(receipt: object) -> str:
    """Return the JSON text of a receipt that is given as a value, as text or as a path."""
    match receipt:
        case Receipt():
            return receipt.to_json()
        case str():
            return receipt
        case Path():
            try:
                return receipt.read_text(encoding="utf-8").removesuffix("\n")
            except (OSError, UnicodeDecodeError):
                raise ClaimRefuted(f"{receipt.name} cannot be read as a receipt") from None
    raise InvalidArgument(
        f"a receipt is a Receipt, its JSON text or a path to it, got {type(receipt).__name__}"
    )


def read_receipt(text: str) -> Receipt:
    """Read a receipt written by `Receipt.to_json`.

    Refuses: with ClaimRefuted a text that is not byte for byte what `to_json` writes, and a wrong
    signature.
    """
    try:
        data = json.loads(text)
        receipt = _receipt(data)
        # The text must be canonical, and the facts, with the hash over them, must give it again.
        same = text == canonical_json(data) == receipt.to_json()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, DiscreetError):
        same = False
    if not same:
        raise ClaimRefuted("this is no receipt of discreet, or it was changed")
    if bool(receipt.signature) != bool(receipt.key):
        raise ClaimRefuted("the receipt has half of a signature")
    if receipt.signature:
        signed = canonical_json(receipt.facts()).encode()
        check_signature(signed, receipt.signature, receipt.key)
    return receipt


def _receipt(data: Any) -> Receipt:  # noqa: ANN401 whatever JSON holds
    """Read the fields of a receipt.

    Refuses: other fields. A field of a wrong type raises, or does not give the same text again.
    """
    # Receipts of a service say that their numbers are the asker's own; others have no such field.
    if not isinstance(data, dict) or data.keys() - {"numbered"} != _FIELDS[data["receipt"]]:
        raise ValueError
    if data.get("numbered", "own") != "own":
        raise ValueError
    if not all(isinstance(data[name], str) for name in _TEXTS):
        raise ValueError
    if not isinstance(data["part"], str | int | None):
        raise TypeError
    text: Callable[[str], str] = data.__getitem__
    # The hash is not read: it is made anew from the facts and compared with the text.
    texts = {name: text(name) for name in _TEXTS if name != "hash"}
    tables = [(str(name), str(version)) for name, version in data["tables"].items()]
    asked = []
    for question in data["asked"]:
        fields = [str(question[name]) for name in _ASKED]
        asked.append(ReceiptQuestion(*fields))
    return Receipt(
        number=int(data["number"]),
        **texts,
        part=data["part"],
        event=from_json(data["event"]),
        price=measure_from_json(data["price"]),
        promise=measure_from_json(data["promise"]),
        tables=tuple(tables),
        asked=tuple(asked),
        charged=measure_from_json(data["charged"]) if "charged" in data else None,
        shown=tuple(data.get("shown", {}).items()),
        total=_read_total(data["total"]) if "total" in data else None,
        numbered=data.get("numbered", ""),
    )
