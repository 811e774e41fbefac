"""A curator somewhere else: asks over HTTP, plans here (planning is public), gives real `Answer` objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, Unpack

from ..answer.answer import Answer
from ..answer.stored import answer_from_json, scalar_from_json
from ..arithmetic.rational import Number
from ..curator.explanation import Explanation
from ..curator.receipt import Receipt
from ..curator.verify import read_receipt
from ..data.schema import Schema
from ..ledger.review.history import History
from ..plan import Plan, Third, Workload
from ..plan.asked.terms import TermWords
from ..plan.planner import Planner
from ..privacy.budget_words import budget_from_words
from ..privacy.filters.filter import Filter
from ..privacy.measures import Measure
from ..wire.reply import entry_from_json
from ..wire.request import Ask, ReleaseRequest
from .exchange import make_answer, sql_text
from .line import Line

__all__ = ["Remote"]


@dataclass(frozen=True, slots=True)
class Remote:
    """A data set of a service, for one person; the same verbs as `Curator`. Made by `connect`."""

    line: Line = field(repr=False)
    dataset: str
    who: str
    schemas: Mapping[str, Schema] = field(repr=False)
    filter: Filter = field(repr=False)
    known: dict[tuple[str, str], tuple[object, ...]] = field(default_factory=dict, repr=False)

    def sql(
        self,
        text: str,
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        key: str = "",
        **terms: Unpack[TermWords],
    ) -> Answer:
        """Answer one SELECT, as `Curator.sql` does; `key` names the request, so that sending it again is free.

        Raises what the curator raises.
        """
        read = self._planner.terms(spend, **terms)
        plan = self._planner.plan(sql_text(text), read)
        reply = self.line.charge(self._at("sql"), Ask(text, read, why).to_json(), key)
        return make_answer(reply, plan, {"": plan})

    def ask(
        self,
        question: str,
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        key: str = "",
        **terms: Unpack[TermWords],
    ) -> Answer:
        """Answer a question in SQL; questions built in Python are for a curator at hand."""
        return self.sql(question, spend, why=why, key=key, **terms)

    def release(
        self,
        questions: Mapping[str, str],
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        key: str = "",
        **terms: Unpack[TermWords],
    ) -> dict[str, Answer]:
        """Answer several questions by name with one charge, as `Curator.release` does."""
        read = self._planner.terms(spend, **terms)
        asked = _sql_texts(questions)
        plans = dict(self._planner.workload(asked, read).plans)
        body = ReleaseRequest(asked, read, why).to_json()
        found = self.line.charge(self._at("release"), body, key)["answers"]
        return {name: make_answer(found[name], plan, plans) for name, plan in plans.items()}

    def explain(
        self,
        question: str,
        spend: Measure | Number | None = None,
        **terms: Unpack[TermWords],
    ) -> Explanation:
        """Show what a question would do, cost and miss; nothing is touched or spent."""
        read = self._planner.terms(spend, **terms)
        found = self.line.post(self._at("explain"), Ask(sql_text(question), read).to_json())
        return Explanation(
            question=found["question"],
            plan=self._planner.plan(question, read),
            price=budget_from_words(found["price"]),
            left=budget_from_words(found["left"]),
            fits=found["fits"],
            stored=found["stored"],
            part=found["part"],
            texts=tuple(found["texts"]),
            warnings=tuple(found.get("warnings", ())),
        )

    def plan(
        self,
        question: str | Mapping[str, str],
        spend: Measure | Number | None = None,
        *,
        queries: int | None = None,
        **terms: Unpack[TermWords],
    ) -> Plan | Workload | Third:
        """Plan as `Curator.plan` does, here: a plan needs public facts only."""
        asked = _sql_texts(question) if isinstance(question, Mapping) else sql_text(question)
        return self._planner.find(asked, self._planner.terms(spend, **terms), queries)

    def rehearse(
        self,
        question: str,
        spend: Measure | Number | None = None,
        *,
        rows: int = 1_000,
        **terms: Unpack[TermWords],
    ) -> Answer:
        """Answer from made-up rows; free, and marked."""
        read = self._planner.terms(spend, **terms)
        plan = self._planner.plan(sql_text(question), read)
        reply = self.line.post(self._at("rehearse"), Ask(question, read, rows=rows).to_json())
        return answer_from_json(reply["exact"], plan).with_receipt(None, reply["caption"])

    def left(self) -> Measure:
        """Return what this person may still spend, in the ledger's measure."""
        return budget_from_words(self.line.get(self._at("left"))["left"])

    def spent(self) -> Measure:
        """Return what this person has spent, in the ledger's measure."""
        return budget_from_words(self.line.get(self._at("spent"))["spent"])

    def history(self, last: int = 100) -> History:
        """List the last entries of the ledger; every hash is checked here."""
        found = self.line.get(self._at(f"history?last={last}"))
        return History(tuple(entry_from_json(one) for one in found["entries"]), Filter.from_json(found["filter"]))

    def receipt(self, number: int) -> Receipt:
        """Fetch a receipt again, by its number in the ledger."""
        return read_receipt(self.line.text(self._at(f"receipt/{int(number)}")))

    def close(self) -> None:
        """Hang up."""
        self.line.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _at(self, verb: str) -> str:
        return f"/api/v1/datasets/{self.dataset}/{verb}"

    @property
    def _planner(self) -> Planner:
        return Planner(self.schemas, self.filter, self._values)

    def _values(self, table: str, column: str) -> tuple[Any, ...]:
        """List the values of a public table's column, asked for once."""
        if (table, column) not in self.known:
            found = self.line.get(self._at(f"values/{table}/{column}"))
            self.known[table, column] = tuple(scalar_from_json(value) for value in found["values"])
        return self.known[table, column]


def _sql_texts(questions: Mapping[str, str]) -> dict[str, str]:
    return {name: sql_text(text) for name, text in questions.items()}
