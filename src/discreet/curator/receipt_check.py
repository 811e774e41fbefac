"""Checking receipts: every byte, the signature, the answer, and the ledger's own word."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..answer.answer import Answer
from ..answer.stored import answer_to_json
from ..arithmetic.canonical import canonical_json, hash_json
from ..errors import ClaimRefuted, DiscreetError, InvalidArgument
from ..privacy.events.json import from_json, measure_from_json
from .answer_key import question_name
from .answers import receipt_of
from .receipt import VERSION, Receipt, ReceiptQuestion
from .signing import check_signature, read_key
from .stored_answer import BodyFacts, Said, read_body

if TYPE_CHECKING:
    from ..ledger import Ledger

UNPROVEN = (
    "release 0.1.0 stored this answer without the question's text and the versions of its tables: the ledger vouches "
    "for the charge, the event, the price, the fingerprint and the answer, but not for these two; a signature would"
)
"""What is said about a receipt of which the ledger does not know everything."""
_TEXTS = ("charge", "time", "who", "why", "stored_as", "neighbours", "signature", "key", "hash")
_FIELDS = {"receipt", "number", "part", "event", "price", "promise", "tables", "asked", *_TEXTS}
_ASKED = ("name", "text", "fingerprint", "answer")


def verify_receipt(
    receipt: Receipt | str | Path,
    *,
    answer: Answer | None = None,
    key: str | None = None,
    ledger: Ledger | None = None,
) -> Receipt:
    """Check a receipt and give it back: every byte against its hash, and its signature if there is one.

    `receipt` is a `Receipt`, its JSON text, or a path to that text. With `key`, a public key that you know from
    elsewhere, it must be signed by it; without, a signature only shows that one and the same key made it. With `answer`
    the answer must be the one that came out; with `ledger` every fact must stand there: the charge and its time,
    person, reason, part, event and price, the questions with their texts and fingerprints, the tables' versions, the
    neighbours and the answers. What release 0.1.0 answered has no texts and versions in the ledger: a warning says so,
    unless a signature vouches for them.

    >>> import discreet as dp
    >>> dp.verify_receipt("{}")
    Traceback (most recent call last):
    ...
    discreet.errors.ClaimRefuted: this is no receipt of discreet, or it was changed

    Raises ClaimRefuted for whatever does not hold.
    """
    found = read_receipt(_text(receipt))
    if key is not None:
        read_key(key)
        if not found.signature:
            raise ClaimRefuted("the receipt is not signed")
        if found.key != key:
            raise ClaimRefuted("the receipt is signed by another key")
    if answer is not None and hash_json(answer_to_json(answer)) not in {
        one.answer for one in found.asked
    }:
        raise ClaimRefuted("the answer is not the one that this receipt is for")
    if ledger is not None and not _stands(found, ledger) and key is None:
        warnings.warn(UNPROVEN, stacklevel=2)
    return found


def _stands(receipt: Receipt, ledger: Ledger) -> bool:
    """Refuse a receipt of which the ledger says anything else; return whether it knows of every fact.

    The receipt is written anew from the ledger alone and compared, field by field. Answers of release 0.1.0 were stored
    without the questions' texts and the versions of the data; these two are then taken from the receipt, and the
    fingerprint, which is a hash of both, must be the one in the ledger.
    """
    found = ledger.answer(receipt.stored_as, receipt.number) or ledger.answer(receipt.stored_as)
    if found is None:
        raise ClaimRefuted("the ledger holds no such answer")
    charge, body = found[0], read_body(found[1])
    facts = body.facts or _claims(receipt)
    prints = {name: said.fingerprint for name, said in facts.asked.items()}
    if prints.keys() != body.answers.keys() or question_name(prints) != charge.question:
        raise ClaimRefuted("the ledger holds another question for this charge")
    true, said = (
        _comparable(one) for one in (receipt_of(charge, body, facts, ledger.promise()), receipt)
    )
    wrong = [name for name, text in true.items() if text != said[name]]
    if wrong:
        raise ClaimRefuted(f"the ledger says something else than the receipt: {', '.join(wrong)}")
    return body.facts is not None


def _claims(receipt: Receipt) -> BodyFacts:
    """Return what a receipt says was asked."""
    asked = {one.name: Said(one.text, one.fingerprint, "", ()) for one in receipt.asked}
    return BodyFacts({}, receipt.neighbours, dict(receipt.tables), asked)


def _comparable(receipt: Receipt) -> dict[str, str]:
    """Write each fact as its one text, by name, so that true is not 1; the questions in the order of their names."""
    ordered = replace(receipt, asked=tuple(sorted(receipt.asked, key=lambda one: one.name)))
    return {name: canonical_json(fact) for name, fact in ordered.facts().items()}


def _text(receipt: object) -> str:
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
    """Read a receipt written by `Receipt.to_json`; raises ClaimRefuted unless every byte is as it was written."""
    try:
        data = json.loads(text)
        receipt = _receipt(data)
        same = text == canonical_json(data) == receipt.to_json()
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, DiscreetError):
        same = False
    if not same:
        raise ClaimRefuted("this is no receipt of discreet, or it was changed")
    if bool(receipt.signature) != bool(receipt.key):
        raise ClaimRefuted("the receipt has half of a signature")
    if receipt.signature:
        check_signature(canonical_json(receipt.facts()).encode(), receipt.signature, receipt.key)
    return receipt


def _receipt(data: Any) -> Receipt:  # noqa: ANN401 whatever JSON holds
    """Read the fields; anything of a wrong kind does not come out as the same text, or raises."""
    if not isinstance(data, dict) or data.keys() != _FIELDS or data["receipt"] != VERSION:
        raise ValueError
    if not all(isinstance(data[name], str) for name in _TEXTS) or not isinstance(
        data["part"], str | int | None
    ):
        raise ValueError
    text: Callable[[str], str] = data.__getitem__
    return Receipt(
        number=int(data["number"]),
        **{name: text(name) for name in _TEXTS if name != "hash"},
        part=data["part"],
        event=from_json(data["event"]),
        price=measure_from_json(data["price"]),
        promise=measure_from_json(data["promise"]),
        tables=tuple((str(name), str(version)) for name, version in data["tables"].items()),
        asked=tuple(ReceiptQuestion(*(str(one[name]) for name in _ASKED)) for one in data["asked"]),
    )
