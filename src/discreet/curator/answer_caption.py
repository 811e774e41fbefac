"""Caption and notes below an answer: its price, its ledger entry, and how rows were truncated.

An answer that cost nothing says why: it was paid for before, it is made of the cells of another
entry, or it follows from public declarations. The texts are made when somebody reads them.

Law: tests/answer/test_captions.py
"""

from __future__ import annotations

from collections.abc import Iterable

from ..answer import text
from ..answer.answer import Answer
from ..answer.provenance import Late
from ..frozen import frozen
from ..plan.plan import Plan
from ..plan.public_answer import is_public
from ..plan.text.plan import share_text, truncation_sentence, truncation_text
from ..privacy.measures import PureDP
from ..query.algebra.tally import Free
from .receipt import Receipt

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
