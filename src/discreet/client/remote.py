"""A curator somewhere else: asks over HTTP, plans here (planning is public), gives real `Answer` objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self, Unpack

from ..answer.answer import Answer
from ..answer.stored import answer_from_json, scalar_from_json
from ..arithmetic.rational import Number
from ..curator.explanation import Explanation
from ..curator.key import event_of
from ..curator.receipt import Receipt
from ..curator.verify import read_receipt
from ..data.schema import Schema
from ..errors import InvalidArgument, UnsupportedQuery
from ..ledger.review.history import History
from ..plan import Plan, Third, Workload
from ..plan.asked.terms import TermWords
from ..plan.planner import Planner, QuestionWords
from ..privacy.budget_words import budget_from_words
from ..privacy.filters.filter import Filter
from ..privacy.filters.room import Room
from ..privacy.measures import Measure
from ..query.python.table import Table
from ..query.text.question import describe, fingerprint
from ..wire.reply import entry_from_json, room_from_json
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
        price = self._price({"": plan})
        reply = self.line.charge(self._at("sql"), Ask(text, read, why).to_json(), key, price)
        return make_answer(reply, plan, {"": plan})

    def ask(
        self,
        question: QuestionWords,
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        key: str = "",
        **terms: Unpack[TermWords],
    ) -> Answer:
        """Answer a question built in Python, or SQL; all else as `sql` does."""
        return self.sql(self._text(question), spend, why=why, key=key, **terms)

    def release(
        self,
        questions: Mapping[str, QuestionWords],
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        key: str = "",
        **terms: Unpack[TermWords],
    ) -> dict[str, Answer]:
        """Answer several questions by name with one charge, as `Curator.release` does."""
        read = self._planner.terms(spend, **terms)
        asked = {name: self._text(one) for name, one in questions.items()}
        plans = dict(self._planner.workload(asked, read).plans)
        body = ReleaseRequest(asked, read, why).to_json()
        found = self.line.charge(self._at("release"), body, key, self._price(plans))["answers"]
        return {name: make_answer(found[name], plan, plans) for name, plan in plans.items()}

    def explain(
        self,
        question: QuestionWords,
        spend: Measure | Number | None = None,
        **terms: Unpack[TermWords],
    ) -> Explanation:
        """Show what a question would do, cost and miss; nothing is touched or spent."""
        read, text = self._planner.terms(spend, **terms), self._text(question)
        found = self.line.post(self._at("explain"), Ask(text, read).to_json())
        return Explanation(
            question=found["question"],
            plan=self._planner.plan(text, read),
            price=budget_from_words(found["price"]),
            left=budget_from_words(found["left"]),
            fits=found["fits"],
            stored=found["stored"],
            part=found["part"],
            texts=tuple(found["texts"]),
            rest=None if found["after"] is None else budget_from_words(found["after"]),
            warnings=tuple(found.get("warnings", ())),
        )

    def plan(
        self,
        question: QuestionWords | Mapping[str, QuestionWords],
        spend: Measure | Number | None = None,
        *,
        queries: int | None = None,
        **terms: Unpack[TermWords],
    ) -> Plan | Workload | Third:
        """Plan as `Curator.plan` does, here: a plan needs public facts only."""
        return self._planner.find(question, self._planner.terms(spend, **terms), queries)

    def rehearse(
        self,
        question: QuestionWords,
        spend: Measure | Number | None = None,
        *,
        rows: int = 1_000,
        **terms: Unpack[TermWords],
    ) -> Answer:
        """Answer from made-up rows; free, and marked."""
        read, text = self._planner.terms(spend, **terms), self._text(question)
        plan = self._planner.plan(text, read)
        reply = self.line.post(self._at("rehearse"), Ask(text, read, rows=rows).to_json())
        return answer_from_json(reply["exact"], plan).with_receipt(None, reply["caption"])

    def table(self, name: str) -> Table:
        """Return a table to build questions on in Python: `remote.table("people").count(by="region")`."""
        for schema in self.schemas.values():
            if isinstance(name, str) and schema.name.casefold() == name.casefold():
                return Table(schema, self._values)
        raise InvalidArgument(f"there is no table {name!r} here; there are {', '.join(self.schemas)}")

    def left(self) -> Measure:
        """Return what this person may still spend, in the ledger's measure."""
        return budget_from_words(self.line.get(self._at("left"))["left"])

    def room(self) -> Room:
        """Return the largest pure ε, the largest μ and the δ for keys that fit an (ε, δ) budget now."""
        found = self.line.get(self._at("left"))["room"]
        return self.filter.room() if found is None else room_from_json(found)  # which says that there is no such budget

    def spent(self) -> Measure:
        """Return what this person has spent, in the ledger's measure."""
        return budget_from_words(self.line.get(self._at("spent"))["spent"])

    def history(self, last: int = 100) -> History:
        """List the last entries of the ledger, with what was asked; the hash of every whole line is checked here."""
        found = self.line.get(self._at(f"history?last={int(last)}"))
        entries = tuple(entry_from_json(one) for one in found["entries"])
        asked = {int(number): str(text) for number, text in found.get("asked", {}).items()}
        return History(entries, Filter.from_json(found["filter"]), asked)

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

    def _price(self, plans: Mapping[str, Plan]) -> Measure:
        """Return what plans cost in the ledger's measure, under its filter as it was opened."""
        event = event_of(plans)
        return self.filter.stated(event) if self.filter.adds else self.filter.price(event)

    def _text(self, question: QuestionWords) -> str:
        """Return a question as SQL, which is what goes over the line; refuses what SQL does not say."""
        if isinstance(question, str):
            return question
        built = self._planner.question(question).question
        text = describe(built)
        if fingerprint(self._planner.question(text).question) != fingerprint(built):
            raise UnsupportedQuery("this question cannot be written in SQL, in which a service is asked; ask another")
        return text

    def _values(self, table: str, column: str) -> tuple[Any, ...]:
        """List the values of a public table's column, asked for once."""
        if (table, column) not in self.known:
            found = self.line.get(self._at(f"values/{table}/{column}"))
            self.known[table, column] = tuple(scalar_from_json(value) for value in found["values"])
        return self.known[table, column]
