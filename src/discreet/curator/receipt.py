"""Receipts: the question, its cost, its entry in the ledger, and the hash of the answer.

A receipt is plain JSON in one canonical form: keys sorted, no spaces, ASCII. Its hash shows
accidental changes. Anyone who can write a receipt can also write its hash, so only a signature
(`Signer`) or the ledger itself shows that it is genuine. The signature covers all facts, not the
hash and the signer's key.

Law: tests/curator/test_receipt.py
"""

from __future__ import annotations

from ..arithmetic.canonical import canonical_json, hash_json
from ..data.columns.keys import KeyValue
from ..frozen import frozen, replace
from ..ledger.account import count_for_part
from ..privacy.events import Event
from ..privacy.events.json import Json, measure_to_json, to_json
from ..privacy.measures import Measure, decimal_text
from ..privacy.shown_price import Price, price_charge
from ..show.table import html_pairs, text_table
from .signing import Signer

VERSION = 2
"""Version of new receipts for a whole measured table; version 1 is read and verified for ever."""
PART_VERSION = 3
"""Version of receipts for a part of what was measured: one value of each key that is named."""
SUM_VERSION = 4
"""Version of receipts for sums over what was measured, or for several values of a key."""
TOTAL_VERSION = 5
"""Version of receipts for half the sum of a total and a signed count."""


@frozen
class ReceiptQuestion:
    """One question of a receipt: name in a release ("" if alone), text, fingerprint, hash of the answer."""

    name: str
    text: str
    fingerprint: str
    answer: str


@frozen
class ReceiptTotal:
    """Stored total of which an answer is made: its ledger entry, and the used part of its table.

    `number` and `charge` are the entry's number and hash, `stored_as` is its key. `shown` says
    which part of its table is used. The answer of the receipt is half the sum of that table and of
    the charged one.
    """

    number: int
    charge: str
    stored_as: str
    shown: tuple[tuple[str, object], ...]

    def facts(self) -> Json:
        """Return everything as plain JSON types."""
        return {
            "number": self.number,
            "charge": self.charge,
            "stored_as": self.stored_as,
            "shown": dict(self.shown),
        }


@frozen
class Receipt:
    """Proof of a charge: the event that the ledger was charged with for an answer.

    `number`, `charge` and `time` are the ledger's entry, its hash and its time. `event` was charged,
    `price` is its price in the measure of the spend, `charged` the same in the ledger's own unit,
    `promise` the ledger's whole budget. `stored_as` is the key of the answer. `tables` are the private
    tables with the versions of their data. `signature` and `key` (the signer's public key) are ""
    without a signature.

    Receipts of version 1 have no `charged`: their `price` is the amount that the ledger's filter took.
    Answers that were stored with such a price keep them, byte for byte.
    """

    number: int
    charge: str
    time: str
    who: str
    why: str
    part: KeyValue | None
    stored_as: str
    event: Event
    price: Measure
    promise: Measure
    neighbours: str
    tables: tuple[tuple[str, str], ...]
    asked: tuple[ReceiptQuestion, ...]
    signature: str = ""
    key: str = ""
    charged: Measure | None = None
    shown: tuple[tuple[str, object], ...] = ()
    """Part of the measured table that was asked for: values of its keys, as JSON; empty for all of it."""
    total: ReceiptTotal | None = None
    """The total with which the answer was made; None for an answer of one entry."""
    numbered: str = ""
    """Whose numbers entries have: "own" for those of the asker, as a service tells them; else the ledger's."""

    def facts(self) -> Json:
        """Return all but the hash, the signature and the signer's key, as plain JSON types."""
        facts: Json = {
            "receipt": 1,
            "number": self.number,
            "charge": self.charge,
            "time": self.time,
            "who": self.who,
            "why": self.why,
            "part": self.part,
            "stored_as": self.stored_as,
            "event": to_json(self.event),
            "price": measure_to_json(self.price),
            "promise": measure_to_json(self.promise),
            "neighbours": self.neighbours,
            "tables": dict(self.tables),
            "asked": [_question_facts(question) for question in self.asked],
        }
        if self.charged is not None:
            facts["receipt"] = VERSION
            facts["charged"] = measure_to_json(self.charged)
        if self.shown:
            facts["receipt"] = PART_VERSION
            # Earlier releases know parts by one value of a key, and no sums.
            if any(_is_choice(value) for _, value in self.shown):
                facts["receipt"] = SUM_VERSION
            facts["shown"] = dict(self.shown)
        if self.total is not None:
            facts["receipt"] = TOTAL_VERSION
            facts["total"] = self.total.facts()
        if self.numbered:
            facts["numbered"] = self.numbered
        return facts

    @property
    def hash(self) -> str:
        """The SHA-256 of the facts in canonical form."""
        return hash_json(self.facts())

    def signed(self, signer: Signer) -> Receipt:
        """Return the same receipt with a signature."""
        signature = signer.sign(canonical_json(self.facts()).encode())
        return replace(self, signature=signature, key=signer.public)

    def to_json(self) -> str:
        """Write the receipt as one line of canonical JSON.

        `verify_receipt` reads it and refuses any changed byte.
        """
        proof = {"hash": self.hash, "signature": self.signature, "key": self.key}
        return canonical_json({**self.facts(), **proof})

    def stated_price(self) -> Measure:
        """Return the price in the measure of the spend; of version 1 as derived from the event."""
        return self.shown_price().amount

    def shown_price(self) -> Price:
        """Return the price as explanation, caption, history and pages say it."""
        if self.charged is not None:
            return Price(self.price, self.charged)
        # Version 1 does not know the spend, only the event and the amount that the filter took.
        counted = self.event if self.part is None else count_for_part(self.event)
        return price_charge(
            self.event, None, counted=counted, taken=self.price, budget=self.promise
        )

    def price_words(self) -> str:
        """Return the price beside the whole budget, as text."""
        return f"{self.shown_price()} of {decimal_text(self.promise)}"

    def _lines(self) -> list[tuple[str, str]]:
        """Return the rows of the table that a receipt prints: name and text."""
        asker = self.who
        if self.why:
            asker = f"{self.who}, for {self.why}"
        lines = [("entry", f"{self.number} of the ledger, {self.time}"), ("asked by", asker)]
        for question in self.asked:
            one_line = " ".join(question.text.split())
            lines.append((f"question {question.name}".strip(), one_line))
        if self.shown:
            lines.append(("shown", _shown_text(self.shown)))
        if self.total is not None:
            lines.append(
                ("shown", f"half the sum of it and of the counts of entry {self.total.number}")
            )
        versions = [f"{name} version {version}" for name, version in self.tables]
        lines.append(("data", ", ".join(versions)))
        if self.part is not None:
            lines.append(("part", str(self.part)))
        lines.append(("price", f"{self.price_words()}, {self.neighbours} neighbours"))
        lines.append(("charge", self.charge))
        lines.append(("receipt", self.hash))
        lines.append(("signed by", self.key or "nobody"))
        return lines

    def __str__(self) -> str:
        return text_table(self._lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_pairs(self._lines())


def is_sum(value: object) -> bool:
    """Return whether a part is a sum over several values of a key."""
    return isinstance(value, dict) and "sum" in value


def _is_choice(value: object) -> bool:
    """Return whether several values of a key are named: summed over, or shown and no others."""
    return is_sum(value) or (isinstance(value, dict) and "of" in value)


def _shown_text(shown: tuple[tuple[str, object], ...]) -> str:
    """Return which part of a table is shown, in words: values of keys, sums over keys, some values."""
    parts = []
    sums = []
    for name, value in shown:
        match value:
            case {"sum": list(values)}:
                sums.append(f"{name} ({len(values)} values)")
            case {"of": list(values)}:
                parts.append(f"{name} among {len(values)} values")
            case _:
                parts.append(f"{name} = {value}")
    told = f"the part with {', '.join(parts)}" if parts else "the table"
    if sums:
        told += f", summed over {', '.join(sums)}"
    return told


def _question_facts(question: ReceiptQuestion) -> Json:
    return {
        "name": question.name,
        "text": question.text,
        "fingerprint": question.fingerprint,
        "answer": question.answer,
    }
