"""A curator somewhere else: asks over HTTP, plans here (planning is public), gives real `Answer` objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from ..answer.answer import Answer
from ..answer.stored import answer_from_json, scalar_from_json
from ..curator.explanation import Explanation
from ..curator.receipt import Receipt
from ..curator.verify import read_receipt
from ..data.schema import Schema
from ..ledger.review.history import History
from ..plan import Plan, plan_question
from ..privacy.filters.filter import Filter
from ..privacy.measures import Measure
from ..query.algebra.tree import Question
from ..query.sql.parse import parse
from ..wire.measure import budget_from_json
from ..wire.reply import entry_from_json
from ..wire.request import Ask, Release, Terms
from .exchange import ErrorWords, Weights, made_answer, read_terms, sql_text
from .line import Line

if TYPE_CHECKING:
    from ..plan import Third, Workload

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
        spend: Measure | None = None,
        *,
        error: ErrorWords | None = None,
        weights: Weights | None = None,
        size: int | None = None,
        level: float = 0.95,
        nonnegative: bool = False,
        why: str = "",
        key: str = "",
    ) -> Answer:
        """Answer one SELECT, as `Curator.sql` does; `key` names the request, so that sending it again is free.

        Raises what the curator raises.
        """
        terms = read_terms(spend, error, weights, size=size, level=level, nonnegative=nonnegative)
        plan = self._planned(text, terms)
        reply = self.line.charged(self._at("sql"), Ask(sql_text(text), terms, why).to_json(), key)
        return made_answer(reply, plan, {"": plan})

    def ask(self, question: str, spend: Measure | None = None, **options: Any) -> Answer:  # noqa: ANN401
        """Answer a question in SQL; questions built in Python are for a curator at hand."""
        return self.sql(question, spend, **options)

    def release(
        self,
        questions: Mapping[str, str],
        spend: Measure | None = None,
        *,
        error: ErrorWords | None = None,
        weights: Weights | None = None,
        size: int | None = None,
        level: float = 0.95,
        nonnegative: bool = False,
        why: str = "",
        key: str = "",
    ) -> dict[str, Answer]:
        """Answer several questions by name with one charge, as `Curator.release` does."""
        terms = read_terms(spend, error, weights, size=size, level=level, nonnegative=nonnegative)
        plans = dict(self._workload(questions, terms).plans)
        body = Release({name: sql_text(text) for name, text in questions.items()}, terms, why).to_json()
        found = self.line.charged(self._at("release"), body, key)["answers"]
        return {name: made_answer(found[name], plan, plans) for name, plan in plans.items()}

    def explain(
        self,
        question: str,
        spend: Measure | None = None,
        *,
        error: ErrorWords | None = None,
        weights: Weights | None = None,
        size: int | None = None,
        level: float = 0.95,
        nonnegative: bool = False,
    ) -> Explanation:
        """Show what a question would do, cost and miss; nothing is touched or spent."""
        terms = read_terms(spend, error, weights, size=size, level=level, nonnegative=nonnegative)
        found = self.line.post(self._at("explain"), Ask(sql_text(question), terms).to_json())
        return Explanation(
            question=found["question"],
            plan=self._planned(question, terms),
            price=budget_from_json(found["price"]),
            left=budget_from_json(found["left"]),
            fits=found["fits"],
            stored=found["stored"],
            part=found["part"],
            texts=tuple(found["texts"]),
        )

    def plan(
        self,
        question: str | Mapping[str, str],
        spend: Measure | None = None,
        *,
        error: ErrorWords | None = None,
        queries: int | None = None,
        weights: Weights | None = None,
        size: int | None = None,
        level: float = 0.95,
    ) -> Plan | Workload | Third:
        """Plan as `Curator.plan` does, here: a plan needs public facts only."""
        terms = read_terms(spend, error, weights, size=size, level=level)
        if isinstance(question, Mapping):
            return self._workload(question, terms)
        if queries is not None or (spend is not None and error is not None):
            from ..plan import find_third

            asked = self._read(question)
            return find_third(asked, spend=spend, error=error, queries=queries, under=self.filter)
        return self._planned(question, terms)

    def rehearse(
        self,
        question: str,
        spend: Measure | None = None,
        *,
        error: ErrorWords | None = None,
        weights: Weights | None = None,
        size: int | None = None,
        level: float = 0.95,
        nonnegative: bool = False,
        rows: int = 1_000,
    ) -> Answer:
        """Answer from made-up rows; free, and marked."""
        terms = read_terms(spend, error, weights, size=size, level=level, nonnegative=nonnegative)
        plan = self._planned(question, terms)
        reply = self.line.post(self._at("rehearse"), Ask(sql_text(question), terms, rows=rows).to_json())
        return answer_from_json(reply["exact"], plan).with_receipt(None, reply["caption"])

    def left(self) -> Measure:
        """Give what this person may still spend, in the ledger's measure."""
        return budget_from_json(self.line.get(self._at("left"))["left"])

    def spent(self) -> Measure:
        """Give what this person has spent, in the ledger's measure."""
        return budget_from_json(self.line.get(self._at("spent"))["spent"])

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

    def _read(self, text: str) -> Question:
        return parse(sql_text(text), self.schemas, self._values)

    def _values(self, table: str, column: str) -> tuple[Any, ...]:
        """List the values of a public table's column, asked for once."""
        if (table, column) not in self.known:
            found = self.line.get(self._at(f"values/{table}/{column}"))
            self.known[table, column] = tuple(scalar_from_json(value) for value in found["values"])
        return self.known[table, column]

    def _planned(self, text: str, terms: Terms) -> Plan:
        return plan_question(
            self._read(text),
            terms.spend,
            error=terms.error,
            weights=terms.weights,
            size=terms.size,
            under=self.filter,
            public_values=self._values,
            level=terms.level,
        )

    def _workload(self, questions: Mapping[str, str], terms: Terms) -> Workload:
        from ..plan import plan_workload

        return plan_workload(
            {name: self._read(text) for name, text in questions.items()},
            terms.spend,
            error=terms.error,
            weights=terms.weights,
            size=terms.size,
            under=self.filter,
            public_values=self._values,
            level=terms.level,
        )
