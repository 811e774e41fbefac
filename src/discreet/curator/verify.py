"""Checking receipts: every byte, the signature, the answer, and the ledger's own word."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..answer.answer import Answer
from ..answer.stored import answer_to_json
from ..arithmetic.canonical import canonical_json, hash_json
from ..errors import ClaimRefuted, DiscreetError, InvalidArgument
from ..privacy.events.json import from_json, measure_from_json, to_json
from .body import read_body
from .receipt import VERSION, Asked, Receipt
from .sign import check_signature, read_key

if TYPE_CHECKING:
    from ..ledger import Ledger

__all__ = ["read_receipt", "verify_receipt"]

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
    the answer must be the one that came out; with `ledger` the charge must stand there, with just these facts.

    >>> verify_receipt("{}")
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
    if answer is not None and hash_json(answer_to_json(answer)) not in {one.answer for one in found.asked}:
        raise ClaimRefuted("the answer is not the one that this receipt is for")
    if ledger is not None:
        _stands(found, ledger)
    return found


def _stands(receipt: Receipt, ledger: Ledger) -> None:
    """Refuse a receipt whose charge or answer is not in the ledger as it says."""
    found = ledger.answer(receipt.stored_as)
    if found is None:
        raise ClaimRefuted("the ledger holds no such answer")
    charge, body = found
    kept = read_body(body)
    price, stored = kept.price, kept.answers
    facts = (charge.number, charge.hash, price, ledger.promise())
    if facts != (receipt.number, receipt.charge, receipt.price, receipt.promise):
        raise ClaimRefuted("the ledger holds another charge for this answer")
    if {one.name: one.answer for one in receipt.asked} != {name: hash_json(one) for name, one in stored.items()}:
        raise ClaimRefuted("the ledger holds another answer for this charge")
    said = (receipt.time, receipt.who, receipt.why, receipt.part, to_json(receipt.event))
    if said != (charge.time, charge.who, charge.why, charge.part, charge.event):
        raise ClaimRefuted("the ledger's entry says something else than the receipt")


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
    raise InvalidArgument(f"a receipt is a Receipt, its JSON text or a path to it, got {type(receipt).__name__}")


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
    if not all(isinstance(data[name], str) for name in _TEXTS) or not isinstance(data["part"], str | int | None):
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
        asked=tuple(Asked(*(str(one[name]) for name in _ASKED)) for one in data["asked"]),
    )
