"""Receipts: what was asked, what it cost, where it stands in the ledger, and the hash of what came out.

A receipt is plain JSON in one canonical form: keys in order, no spaces, ASCII. Its hash finds any slip; who can write a
receipt can also write its hash, so only a signature (`Signer`) or the ledger itself shows that it is genuine.
"""

from __future__ import annotations

from ..arithmetic.canonical import canonical_json, hash_json
from ..data.columns.keys import KeyValue
from ..errors import DiscreetError
from ..frozen import frozen, replace
from ..privacy.events import Event
from ..privacy.events.json import Json, measure_to_json, to_json
from ..privacy.filters.filter import open_filter
from ..privacy.filters.remaining import restate
from ..privacy.measures import ApproxDP, Measure
from ..privacy.price_text import price_of_promise
from ..show.table import html_pairs, text_table
from .signing import Signer

VERSION = 1


@frozen
class ReceiptQuestion:
    """One question of a receipt: its name in a release ("" if alone), its text, its fingerprint, its answer's hash."""

    name: str
    text: str
    fingerprint: str
    answer: str


@frozen
class Receipt:
    """What the ledger took for an answer, and what for.

    `number`, `charge` and `time` are the ledger's entry, its hash and its time; `event` is what was charged, `price`
    what it took in the ledger's measure, `promise` the ledger's whole budget; `stored_as` is the ledger's key of the
    answer; `tables` are the private tables with the versions of their data. `signature` and `key` (the signer's public
    key) are "" where nobody signed.
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

    def facts(self) -> Json:
        """Return everything but the hash and the signature, as plain JSON types."""
        return {
            "receipt": VERSION,
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
            "asked": [
                {
                    "name": one.name,
                    "text": one.text,
                    "fingerprint": one.fingerprint,
                    "answer": one.answer,
                }
                for one in self.asked
            ],
        }

    @property
    def hash(self) -> str:
        """The SHA-256 of the facts in canonical form."""
        return hash_json(self.facts())

    def signed(self, signer: Signer) -> Receipt:
        """Return the same receipt with a signature."""
        return replace(
            self, signature=signer.sign(canonical_json(self.facts()).encode()), key=signer.public
        )

    def to_json(self) -> str:
        """Write the receipt as one line of canonical JSON; `verify_receipt` reads it and refuses any changed byte."""
        return canonical_json(
            {**self.facts(), "hash": self.hash, "signature": self.signature, "key": self.key}
        )

    def stated_price(self) -> Measure:
        """Return the price in the words of an (ε, δ) budget: the event's own (ε, δ), or that of its noise at the δ."""
        if not isinstance(self.promise, ApproxDP):
            return self.price
        try:
            return open_filter(self.promise, "approximate").price(self.event)
        except DiscreetError:  # Gaussian noise has an ε for every δ
            return restate(self.price, self.promise.delta)

    def _lines(self) -> list[tuple[str, str]]:
        part = [] if self.part is None else [("part", str(self.part))]
        return [
            ("entry", f"{self.number} of the ledger, {self.time}"),
            ("asked by", self.who + (f", for {self.why}" if self.why else "")),
            *((f"question {one.name}".strip(), " ".join(one.text.split())) for one in self.asked),
            ("data", ", ".join(f"{name} version {version}" for name, version in self.tables)),
            *part,
            (
                "price",
                f"{price_of_promise(self.stated_price(), self.promise)}, {self.neighbours} neighbours",
            ),
            ("charge", self.charge),
            ("receipt", self.hash),
            ("signed by", self.key or "nobody"),
        ]

    def __str__(self) -> str:
        return text_table(self._lines())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return html_pairs(self._lines())
