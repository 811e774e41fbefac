"""Remote curator: asks a service over HTTP and returns real `Answer` objects.

Plans are made in the client, as they need public facts only. A plan also gives the price of a
request, for the error if no reply comes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self, Unpack
from urllib.parse import quote

from ..answer.answer import Answer
from ..answer.stored import answer_from_json, scalar_from_json
from ..answer.suggest import SuggestedBounds, SuggestedCaps
from ..arithmetic.rational import Number
from ..curator.answer_key import event_of
from ..curator.explanation import Explanation
from ..curator.receipt import Receipt
from ..curator.receipt_check import read_receipt
from ..curator.verbs.bounds import (
    plan_suggested_bounds,
    plan_suggested_caps,
    table_of,
    truncation_question_of,
    warn_estimate_cut,
)
from ..curator.verbs.learn import Model, plan_training
from ..curator.verbs.stream import StreamWords, price_of
from ..curator.verbs.synthesize import plan_synthesis_of
from ..data.schema import Schema
from ..errors import UnsupportedQuery
from ..frozen import field, frozen
from ..learn.estimator import Estimator
from ..learn.explanation import TrainingExplanation
from ..ledger.review.history import History
from ..plan import Plan, Tradeoff, Workload
from ..plan.asked.terms import TermOptions
from ..plan.planner import Planner, QuestionLike
from ..privacy.budget_text import parse_budget
from ..privacy.events import Event
from ..privacy.filters.filter import Filter
from ..privacy.filters.remaining import RemainingBudget
from ..privacy.measures import Measure
from ..privacy.shown_price import shown_price
from ..query.python.table import Table
from ..query.sql.parse import mentions_stream
from ..query.sql.published import stream_in
from ..query.text.question import describe, fingerprint
from ..show.table import printable
from ..streams.select import select
from ..synthetic.plan import SyntheticPlan
from ..synthetic.request import SynthesisWords
from ..synthetic.synthesizer import warn_if_hopeless
from ..synthetic.synthetic import Synthetic
from ..wire.reply import entry_from_json, remaining_from_json
from ..wire.verb import Request
from ..wire.verbs.declaration import BoundsRequest, CapsRequest, TruncationRequest
from ..wire.verbs.question import Ask, ReleaseRequest
from ..wire.verbs.streams import StreamRequest
from ..wire.verbs.synthesis import SynthesisRequest
from ..wire.verbs.training import LearnRequest
from .decode import (
    details_notes,
    make_answer,
    make_bounds,
    make_caps,
    make_model,
    make_synthetic,
    sent_model,
    sql_text,
)
from .http import Connection
from .stream import RemoteStream


@frozen
class Remote:
    """Data set of a service for one person, with the verbs of `Curator`; made by `connect`.

    `schemas` and `filter` are the public facts of the data set, `known` keeps the values of public
    tables that were fetched.

    Law: tests/client/test_client.py::TestAsking
    """

    line: Connection = field(repr=False)
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
        **terms: Unpack[TermOptions],
    ) -> Answer:
        """Answer one SELECT, as `Curator.sql` does.

        `key` is the idempotency key: sending a request again under it is free. Raises the errors of
        the curator.
        """
        checked_terms = self._planner.terms(spend, **terms)
        if mentions_stream(text):
            name = stream_in(text)
            if name is not None:
                return select(self._stream(name), self._planner, text, checked_terms.level)
        plan = self._planner.plan(sql_text(text), checked_terms)
        request = Ask(text, checked_terms, why)
        reply = self._charge("sql", request, key, event_of({"": plan}), checked_terms.spend)
        return make_answer(reply, plan, {"": plan}, self._values)

    def ask(
        self,
        question: QuestionLike,
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        key: str = "",
        **terms: Unpack[TermOptions],
    ) -> Answer:
        """Answer a question built in Python, or SQL; all else as `sql` does."""
        return self.sql(self._text(question), spend, why=why, key=key, **terms)

    def release(
        self,
        questions: Mapping[str, QuestionLike],
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        key: str = "",
        **terms: Unpack[TermOptions],
    ) -> dict[str, Answer]:
        """Answer several questions by name with one charge, as `Curator.release` does."""
        checked_terms = self._planner.terms(spend, **terms)
        texts = {name: self._text(question) for name, question in questions.items()}
        plans = dict(self._planner.workload(texts, checked_terms).plans)
        request = ReleaseRequest(texts, checked_terms, why)
        reply = self._charge("release", request, key, event_of(plans), checked_terms.spend)
        answers = reply["answers"]
        return {name: make_answer(answers[name], plan, plans) for name, plan in plans.items()}

    def explain(
        self,
        question: QuestionLike,
        spend: Measure | Number | None = None,
        **terms: Unpack[TermOptions],
    ) -> Explanation:
        """Explain a question: its releases, its price and its error; free, reads no rows."""
        checked_terms = self._planner.terms(spend, **terms)
        text = self._text(question)
        found = self.line.post(self._at("explain"), Ask(text, checked_terms).to_json())
        after = None
        if found["after"] is not None:
            after = parse_budget(found["after"])
        # Services of older versions send one price, in the ledger's own unit.
        charged = found.get("charged", found["price"])
        return Explanation(
            question=found["question"],
            plan=self._planner.plan(text, checked_terms),
            price=parse_budget(found["price"]),
            charged=parse_budget(charged),
            left=parse_budget(found["left"]),
            fits=found["fits"],
            stored=found["stored"],
            part=found["part"],
            texts=tuple(map(printable, found["texts"])),
            rest=after,
            # Services of older versions send no warnings.
            warnings=tuple(found.get("warnings", ())),
            sources=tuple(found.get("sources", ())),
            times=float(found.get("times", 1.0)),
        )

    def plan(
        self,
        question: QuestionLike | Mapping[str, QuestionLike],
        spend: Measure | Number | None = None,
        *,
        queries: int | None = None,
        **terms: Unpack[TermOptions],
    ) -> Plan | Workload | Tradeoff:
        """Plan as `Curator.plan` does, without the service: a plan needs public facts only."""
        checked_terms = self._planner.terms(spend, **terms)
        return self._planner.find(question, checked_terms, queries)

    def rehearse(
        self,
        question: QuestionLike,
        spend: Measure | Number | None = None,
        *,
        rows: int = 1_000,
        **terms: Unpack[TermOptions],
    ) -> Answer:
        """Answer from made-up rows, which the service draws; free, and marked as a rehearsal."""
        checked_terms = self._planner.terms(spend, **terms)
        text = self._text(question)
        plan = self._planner.plan(text, checked_terms)
        body = Ask(text, checked_terms, rows=rows).to_json()
        reply = self.line.post(self._at("rehearse"), body)
        answer = answer_from_json(reply["exact"], plan)
        return answer.with_receipt(None, printable(reply["caption"]), details_notes(reply))

    def learn(
        self, sql: str, model: Model, spend: Measure | None = None, *, why: str = "", key: str = ""
    ) -> Model:
        """Return a copy of a model of `discreet.learn`, fitted by the service to rows of a SELECT.

        As `Curator.learn`: charged first, stored, with a receipt in `.receipt_`. The service sends
        fitted parameters only.
        """
        course = plan_training(self._planner, sql, sent_model(model), spend)
        request = LearnRequest(sql, course.model, model.price(spend), why)
        reply = self._charge("learn", request, key, course.training.event, request.spend)
        return make_model(reply, course, model)

    def explain_model(
        self, sql: str, model: Estimator, spend: Measure | None = None, *, n: int
    ) -> TrainingExplanation:
        """Explain a training on about `n` rows of a SELECT: releases, price and error; free."""
        return plan_training(self._planner, sql, model, spend).explain(n)

    def synthesize(
        self,
        table: str,
        spend: Measure,
        *,
        why: str = "",
        key: str = "",
        **words: Unpack[SynthesisWords],
    ) -> Synthetic:
        """Release tables of the columns of a table or SELECT, as `Curator.synthesize` does.

        Records are made here, from the released tables, in any number, for free (post-processing).
        """
        made = plan_synthesis_of(self._planner, table, spend, words)
        warn_if_hopeless(made.plan)
        request = SynthesisRequest(table, spend, words, why)
        reply = self._charge("synthesize", request, key, made.plan.event, spend)
        return make_synthetic(reply, made)

    def plan_synthesis(
        self, table: str, spend: Measure, **words: Unpack[SynthesisWords]
    ) -> SyntheticPlan:
        """Plan `synthesize`: the tables to be measured and their noise; free, reads no rows."""
        return plan_synthesis_of(self._planner, table, spend, words).plan

    def stream(
        self,
        sql: QuestionLike,
        spend: Measure,
        *,
        name: str,
        why: str = "",
        key: str = "",
        **words: Unpack[StreamWords],
    ) -> RemoteStream:
        """Open a standing report, as `Curator.stream` does; the service keeps its key file.

        The same call again returns the stream and costs nothing. Days close by the service's clock.
        """
        text = self._text(sql)
        event = price_of(self._planner, text, spend, name, words)
        request = StreamRequest(text, spend, name, words, why)
        self._charge("streams", request, key, event, spend)
        return self._stream(name)

    def streams(self) -> dict[str, RemoteStream]:
        """Return all streams of the data set by name."""
        found = self.line.get(self._at("streams"))["streams"]
        return {state["stream"]: self._stream(state["stream"]) for state in found}

    def dashboards(self) -> list[dict[str, Any]]:
        """List one's own dashboards, and those that colleagues share, as the service describes them."""
        found: list[dict[str, Any]] = self.line.get(self._at("dashboards"))["dashboards"]
        return found

    def dashboard(
        self, title: str, parts: Sequence[Mapping[str, str]], *, shared: bool = False
    ) -> dict[str, Any]:
        """Make a dashboard of one's own answers; nothing is charged.

        A part is `{"text": …}`, `{"answer": job}` or `{"stream": name, "by": "week"}`.
        """
        body = {"title": title, "parts": [dict(part) for part in parts], "shared": shared}
        made: dict[str, Any] = self.line.post(self._at("dashboards"), body)
        return made

    def refresh_dashboard(self, name: str, parts: Sequence[int], *, key: str = "") -> list[str]:
        """Ask the answers in `parts` of one's own dashboard again, at their price.

        Parts count from 1. Returns the ids of the new answers' jobs. `key` is the idempotency key.
        """
        path = self._at(f"dashboards/{quote(name, safe='')}/refresh")
        reply = self.line.charge(path, {"parts": list(parts)}, key)
        jobs: list[str] = reply["jobs"]
        return jobs

    def refresh_prices(self, name: str) -> list[dict[str, Any]]:
        """Price every answer of one's own dashboard as if it were asked again; free."""
        path = self._at(f"dashboards/{quote(name, safe='')}/refresh")
        reply = self.line.get(path)
        prices: list[dict[str, Any]] = reply["prices"]
        return prices

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
        wanted = plan_suggested_bounds(self._planner, table, column, spend, tail)
        request = BoundsRequest(table, column, spend, tail, why)
        reply = self._charge("suggest_bounds", request, key, wanted.event, wanted.spend)
        return make_bounds(reply, wanted)

    def suggest_caps(
        self,
        table: str,
        spend: Measure,
        *,
        by: str | Sequence[str] = (),
        why: str = "suggest caps",
        key: str = "",
    ) -> SuggestedCaps:
        """Suggest the number of rows of one person that count (`max_rows`), privately.

        With columns `by`, suggest `max_rows_per_group` for questions grouped by them. The suggestion is
        to be declared from then on (contribution bounding).
        """
        wanted = plan_suggested_caps(self._planner, table, spend, by)
        names = [by] if isinstance(by, str) else list(by)
        request = CapsRequest(table, spend, names or None, why)
        reply = self._charge("suggest_caps", request, key, wanted.event, wanted.spend)
        return make_caps(reply, wanted)

    def estimate_truncation(
        self,
        table: str,
        spend: Measure,
        *,
        up_to: int,
        of: str | None = None,
        why: str = "estimate truncation",
        key: str = "",
    ) -> Answer:
        """Estimate privately the truncation by `max_rows`, as `Curator.estimate_truncation` does."""
        question = truncation_question_of(self._planner, table, up_to, of)
        checked_terms = self._planner.terms(spend)
        plan = self._planner.plan(question, checked_terms)
        request = TruncationRequest(table, spend, up_to, of, why)
        # The path of version 0.1, which every service has; older ones know no other.
        reply = self._charge(
            "estimate_cut", request, key, event_of({"": plan}), checked_terms.spend
        )
        return make_answer(reply, plan, {"": plan})

    def estimate_cut(self, *arguments: Any, **options: Any) -> Answer:  # noqa: ANN401 as its new name
        """Estimate a truncation; the former name of `estimate_truncation`, dropped by version 0.3."""
        warn_estimate_cut()
        return self.estimate_truncation(*arguments, **options)

    def table(self, name: str) -> Table:
        """Return a table for questions in Python: `remote.table("people").count(by="region")`."""
        return table_of(self._planner, name)

    def left(self) -> Measure:
        """Return this person's remaining budget, in the ledger's measure."""
        reply = self.line.get(self._at("left"))
        return parse_budget(reply["left"])

    def left_by_block(self) -> list[tuple[str, Measure]]:
        """Return this person's remaining budget on each interval of time blocks; [] without blocks.

        A block is a span of days whose rows have a budget of their own.
        """
        blocks = self.line.get(self._at("left")).get("blocks", [])
        return [(found["part"], parse_budget(found["left"])) for found in blocks]

    def room(self) -> RemainingBudget:
        """Return the largest single charges that still fit: pure ε, μ, and δ for keys.

        Refuses: a budget in another measure than (ε, δ).
        """
        remaining = self.line.get(self._at("left"))["room"]
        if remaining is None:
            # The filter's own refusal says that this budget is no (ε, δ) budget.
            return self.filter.room()
        return remaining_from_json(remaining)

    def spent(self) -> Measure:
        """Return this person's spending, in the ledger's measure."""
        reply = self.line.get(self._at("spent"))
        return parse_budget(reply["spent"])

    def history(self, last: int = 100) -> History:
        """List the last entries of the ledger with their questions: one's own, for stewards all.

        The hash of every complete entry is checked here. An entry that hides its links to others
        cannot be checked.
        """
        found = self.line.get(self._at(f"history?last={int(last)}"))
        entries = tuple(map(entry_from_json, found["entries"]))
        # Services of older versions send no texts and no prices.
        texts = found.get("asked", {})
        asked = {int(number): str(text) for number, text in texts.items()}
        told = found.get("prices", {})
        prices = {int(number): str(text) for number, text in told.items()}
        return History(entries, Filter.from_json(found["filter"]), asked, prices)

    def receipt(self, number: int, who: str = "") -> Receipt:
        """Fetch a receipt by its number: one's own; a steward names `who` or the ledger's number."""
        whose = f"{quote(who, safe='')}:" if who else ""
        text = self.line.text(self._at(f"receipt/{whose}{int(number)}"))
        return read_receipt(text)

    def close(self) -> None:
        """Close the connection."""
        self.line.http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def _at(self, verb: str) -> str:
        return f"/api/v1/datasets/{self.dataset}/{verb}"

    def _stream(self, name: str) -> RemoteStream:
        return RemoteStream(self.line, self._at(f"streams/{name}"), name, self._planner)

    @property
    def _planner(self) -> Planner:
        return Planner(self.schemas, self.filter, self._values)

    def _charge(
        self, verb: str, request: Request, key: str, event: Event, spend: Measure | None
    ) -> dict[str, Any]:
        price = shown_price(event, spend, self.filter.promise())
        return self.line.charge(self._at(verb), request.to_json(), key, price)

    def _text(self, question: QuestionLike) -> str:
        """Return a question as SQL, the form that is sent; refuse questions beyond SQL."""
        if isinstance(question, str):
            return question
        built = self._planner.question(question).question
        text = describe(built)
        # Read back: the text must mean the same question to the service.
        read_back = self._planner.question(text).question
        if fingerprint(read_back) != fingerprint(built):
            raise UnsupportedQuery(
                "this question cannot be written in SQL, in which a service is asked; ask another"
            )
        return text

    def _values(self, table: str, column: str) -> tuple[Any, ...]:
        """List the values of a public table's column; fetched once."""
        if (table, column) not in self.known:
            found = self.line.get(self._at(f"values/{table}/{column}"))
            self.known[table, column] = tuple(scalar_from_json(value) for value in found["values"])
        return self.known[table, column]
