"""A curator somewhere else: asks over HTTP, plans here (planning is public), gives real `Answer` objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, Unpack

from ..answer.answer import Answer
from ..answer.stored import answer_from_json, scalar_from_json
from ..answer.suggest import SuggestedBounds, SuggestedCaps
from ..arithmetic.rational import Number
from ..curator.answer_key import event_of
from ..curator.explanation import Explanation
from ..curator.receipt import Receipt
from ..curator.receipt_check import read_receipt
from ..curator.verbs.bounds import cut_of, table_of, wanted_bounds, wanted_caps
from ..curator.verbs.learn import Model, course_of
from ..curator.verbs.synthesize import synthesis_of
from ..data.schema import Schema
from ..errors import UnsupportedQuery
from ..frozen import field, frozen
from ..learn.estimator import Estimator
from ..learn.explanation import TrainingExplanation
from ..ledger.review.history import History
from ..plan import Plan, Tradeoff, Workload
from ..plan.asked.terms import TermWords
from ..plan.planner import Planner, QuestionWords
from ..privacy.budget_text import budget_from_words
from ..privacy.events import Event
from ..privacy.filters.filter import Filter
from ..privacy.filters.remaining import RemainingBudget
from ..privacy.measures import Measure
from ..query.python.table import Table
from ..query.text.question import describe, fingerprint
from ..synthetic.plan import SyntheticPlan
from ..synthetic.request import SynthesisWords
from ..synthetic.synthesizer import warn_if_hopeless
from ..synthetic.synthetic import Synthetic
from ..wire.product_request import (
    BoundsRequest,
    CapsRequest,
    LearnRequest,
    SynthesisRequest,
    TruncationRequest,
)
from ..wire.reply import entry_from_json, remaining_from_json
from ..wire.request import Ask, ReleaseRequest
from .decode import (
    make_answer,
    make_bounds,
    make_caps,
    make_model,
    make_synthetic,
    sent_model,
    sql_text,
)
from .http import Line


@frozen
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
        price = self._price(event_of({"": plan}))
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
        found = self.line.charge(self._at("release"), body, key, self._price(event_of(plans)))[
            "answers"
        ]
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
    ) -> Plan | Workload | Tradeoff:
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

    def learn(
        self, sql: str, model: Model, spend: Measure | None = None, *, why: str = "", key: str = ""
    ) -> Model:
        """Return a fitted copy of a model of `discreet.learn`, learned there from the rows of a SELECT.

        As `Curator.learn`: charged first, stored, with a receipt in `.receipt_`; only what was learned travels.
        """
        course = course_of(self._planner, sql, sent_model(model), spend)
        body = LearnRequest(sql, course.model, model.price(spend), why).to_json()
        reply = self.line.charge(self._at("learn"), body, key, self._price(course.training.event))
        return make_model(reply, course, model)

    def explain_model(
        self, sql: str, model: Estimator, spend: Measure | None = None, *, n: int
    ) -> TrainingExplanation:
        """Say what learning from about `n` rows of a SELECT would release, cost and lose; nothing is spent."""
        return course_of(self._planner, sql, model, spend).explain(n)

    def synthesize(
        self,
        table: str,
        spend: Measure,
        *,
        why: str = "",
        key: str = "",
        **words: Unpack[SynthesisWords],
    ) -> Synthetic:
        """Release tables of the columns of a table, or of a SELECT's rows, as `Curator.synthesize` does.

        Records are made here, from what was released, as many as are wanted, for free.
        """
        made = synthesis_of(self._planner, table, spend, words)
        warn_if_hopeless(made.plan)
        body = SynthesisRequest(table, spend, words, why).to_json()
        return make_synthetic(
            self.line.charge(self._at("synthesize"), body, key, self._price(made.plan.event)), made
        )

    def plan_synthesis(
        self, table: str, spend: Measure, **words: Unpack[SynthesisWords]
    ) -> SyntheticPlan:
        """Return what `synthesize` would measure, with which noise; nothing is touched or spent. It shows itself."""
        return synthesis_of(self._planner, table, spend, words).plan

    def suggest_bounds(
        self,
        table: str,
        column: str,
        spend: Measure,
        *,
        tail: Number | None = None,
        why: str = "suggest bounds",
        key: str = "",
    ) -> SuggestedBounds:
        """Suggest bounds for a column of numbers, privately, to be declared from then on."""
        wanted = wanted_bounds(self._planner, table, column, spend, tail)
        body = BoundsRequest(table, column, spend, tail, why).to_json()
        reply = self.line.charge(self._at("suggest_bounds"), body, key, self._price(wanted.event))
        return make_bounds(reply, wanted)

    def suggest_caps(
        self, table: str, spend: Measure, *, why: str = "suggest caps", key: str = ""
    ) -> SuggestedCaps:
        """Suggest how many rows of one person should count (`max_rows`), privately, to be declared from then on."""
        wanted = wanted_caps(self._planner, table, spend)
        body = CapsRequest(table, spend, why).to_json()
        return make_caps(
            self.line.charge(self._at("suggest_caps"), body, key, self._price(wanted.event)), wanted
        )

    def estimate_cut(
        self,
        table: str,
        spend: Measure,
        *,
        up_to: int,
        of: str | None = None,
        why: str = "estimate cut",
        key: str = "",
    ) -> Answer:
        """Estimate, privately, how many rows of people `max_rows` cuts off, as `Curator.estimate_cut` does."""
        plan = self._planner.plan(
            cut_of(self._planner, table, up_to, of), self._planner.terms(spend)
        )
        body = TruncationRequest(table, spend, up_to, of, why).to_json()
        reply = self.line.charge(
            self._at("estimate_cut"), body, key, self._price(event_of({"": plan}))
        )
        return make_answer(reply, plan, {"": plan})

    def table(self, name: str) -> Table:
        """Return a table to build questions on in Python: `remote.table("people").count(by="region")`."""
        return table_of(self._planner, name)

    def left(self) -> Measure:
        """Return what this person may still spend, in the ledger's measure."""
        return budget_from_words(self.line.get(self._at("left"))["left"])

    def room(self) -> RemainingBudget:
        """Return the largest pure ε, the largest μ and the δ for keys that fit an (ε, δ) budget now."""
        found = self.line.get(self._at("left"))["room"]
        return (
            self.filter.room() if found is None else remaining_from_json(found)
        )  # which says that there is no such budget

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

    def _price(self, event: Event) -> Measure:
        """Return what an event costs in the ledger's measure, under its filter as it was opened."""
        return self.filter.stated(event) if self.filter.adds else self.filter.price(event)

    def _text(self, question: QuestionWords) -> str:
        """Return a question as SQL, which is what goes over the line; refuses what SQL does not say."""
        if isinstance(question, str):
            return question
        built = self._planner.question(question).question
        text = describe(built)
        if fingerprint(self._planner.question(text).question) != fingerprint(built):
            raise UnsupportedQuery(
                "this question cannot be written in SQL, in which a service is asked; ask another"
            )
        return text

    def _values(self, table: str, column: str) -> tuple[Any, ...]:
        """List the values of a public table's column, asked for once."""
        if (table, column) not in self.known:
            found = self.line.get(self._at(f"values/{table}/{column}"))
            self.known[table, column] = tuple(scalar_from_json(value) for value in found["values"])
        return self.known[table, column]
