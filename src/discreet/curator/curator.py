"""Curator: the interface between analysts and private data.

    question ─► plan ─► price ─► charge ─► run ─► store ─► answer with a receipt
    └ no private row: explain ┘  └ only in this order: `pay` ┘

`explain` and `plan` stop before the charge; `rehearse` runs a plan on made-up rows. Each method
reads its arguments and calls one function. Effects are in `pay`, plans in `plan.planner`, noise in
`answer.ask`; requests other than questions (models, synthetic tables, suggestions, streams) are in
`verbs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

from ..answer import text
from ..answer.answer import Answer
from ..answer.ask import run_plan
from ..arithmetic.rational import Number, whole
from ..data.display import heading
from ..data.schema import Schema
from ..engines.base import Engine
from ..errors import InvalidArgument, NotAllowed
from ..frozen import field, fill, frozen, replace
from ..ledger import History, Ledger
from ..ledger.charge_order import Overtaken
from ..ledger.entry import read_text, read_who
from ..plan.asked.terms import TermOptions
from ..plan.plan import Plan
from ..plan.planner import CheckedRequest, QuestionLike
from ..privacy.events.json import Json
from ..privacy.filters.remaining import RemainingBudget
from ..privacy.measures import Measure
from ..query.sql.parse import mentions_stream
from ..show.table import html_table
from . import verbs
from .answer_key import AnswerKey, key_of, same_target
from .charge_request import PaidBy, pay_request, plan_to_fit
from .context import CuratorContext, RunControl, read_context
from .explain import explain_plan
from .explanation import Explanation
from .history import EntryNumbers, history_of
from .pay import Locks
from .reuse import find_way
from .signing import Signer
from .standing_reports import StandingReports
from .stored_answer import read_answers

if TYPE_CHECKING:
    # Most questions need none of these packages: `verbs` loads them when they are used.
    from ..answer.suggest import SuggestedBounds, SuggestedCaps
    from ..learn.estimator import Estimator
    from ..learn.explanation import TrainingExplanation
    from ..plan import Tradeoff, Workload
    from ..query.python.table import Table
    from ..streams.seal import Seal
    from ..synthetic.plan import SyntheticPlan
    from ..synthetic.request import SynthesisWords
    from ..synthetic.synthetic import Synthetic
    from .verbs.learn import Model


@frozen(init=False, repr=False)
class Curator(StandingReports):
    """Answer questions about private tables, within a ledger's budget.

    `schemas` declare the tables of `engine`; `who` asks, and is charged; `signer` signs the
    receipts; `seal` is the key file of its streams. Asked again about the same declared
    version of the data, on the same terms, a question has the same answer and costs nothing.
    Curators may be used from many threads and processes.

    A question that somebody else has asked before costs the ledger nothing either. But an analyst
    is not told whether it was asked. It counts in the asker's own allowance, with a receipt of its
    own, as if it were new. With `share_questions` the steward permits analysts to know of each
    other's questions. They are then free for all, and the receipt names the first asker.

    A charge measures all that its price allows: `WHERE region = 'N'` costs what `GROUP BY region`
    costs, so the other regions are measured too and are free later. `siblings=False` switches that
    off. Under Gaussian noise a count under any other condition costs less if the asker has the
    count without it (`contrast`).

    >>> import discreet as dp
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120), "region": dp.Category(["N", "S"])})
    >>> store = dp.Memory({"people": [{"age": 37, "region": "N"}] * 500})
    >>> curator = dp.Curator(store, [people], dp.open_ledger(":memory:", dp.PureDP(3)), who="ana")
    >>> answer = curator.sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region", spend=dp.PureDP(1))
    >>> answer.column("region"), abs(answer.column("n")[0] - 500) < 50
    (['N', 'S'], True)
    >>> curator.left(), curator.sql("select region, count(*) n from people group by 1", spend=dp.PureDP(1)) == answer
    (PureDP(2), True)

    Guarantee: every question is charged before it is run.
    Refuses: what `read_context` refuses, such as drafts and a ledger under other neighbours.
    Law: tests/curator/test_curator.py, tests/curator/test_kill.py
    """

    who: str
    signer: Signer | None
    context: CuratorContext
    locks: Locks = field(compare=False)

    def __init__(
        self,
        engine: Engine,
        schemas: Iterable[Schema] | Mapping[str, Schema],
        ledger: Ledger,
        *,
        who: str = "analyst",
        signer: Signer | None = None,
        share_questions: bool = False,
        siblings: bool = True,
        seal: Seal | None = None,
    ) -> None:
        if signer is not None and not isinstance(signer, Signer):
            raise InvalidArgument(
                f"signer must be a Signer, got {type(signer).__name__}; Signer.create() makes one"
            )
        context = read_context(
            engine, schemas, ledger, share_questions=share_questions, siblings=siblings
        )
        _fill(self, who, signer, replace(context, seal=seal), Locks())

    def __repr__(self) -> str:
        tables = ", ".join(self.context.schemas)
        return f"<Curator of {tables} for {self.who}>"

    def _repr_html_(self) -> str:
        """Return a table for notebooks: the tables with who is protected, and what is left."""
        facts = []
        for schema in self.context.schemas.values():
            name, _, unit = heading(schema).partition(": ")
            facts.append((name, unit))
        try:
            left = str(self.left())
        except NotAllowed:
            left = "no allowance"
        facts.append((f"left for {self.who}" if self.who else "left", left))
        return html_table(("curator", ""), facts)

    def named(self, who: str) -> Curator:
        """Return a curator with the same tables, ledger and signer, which charges another analyst."""
        # The context was checked when the first curator was made, so `__init__` is not run again.
        renamed = object.__new__(Curator)
        return _fill(renamed, who, self.signer, self.context, self.locks)

    @property
    def ledger(self) -> Ledger:
        """The ledger that is charged."""
        return self.context.ledger

    def left(self) -> Measure:
        """Return the remaining budget of this analyst, in the budget's measure.

        Of an (ε, δ) budget it is the most that one question may spend now.
        """
        return self.ledger.left(self.who)

    def room(self) -> RemainingBudget:
        """Return the largest pure ε, the largest μ and the δ for keys that fit an (ε, δ) budget now."""
        return self.ledger.room(self.who)

    def spent(self) -> Measure:
        """Return the budget that this analyst has spent, in the budget's measure."""
        return self.ledger.spent(self.who)

    def history(self, last: int | None = None) -> History:
        """List this analyst's entries in the ledger with their questions; prints as a table."""
        return history_of(self.context, self.who, last)

    def table(self, name: str) -> Table:
        """Return a table to build questions on: `curator.table("people").count(by="region")`."""
        return verbs.bounds.table_of(self.context.planner, name)

    def sql(
        self,
        text: str,
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        **terms: Unpack[TermOptions],
    ) -> Answer:
        """Answer one SELECT, spending as said, or as little as keeps every error within `error`.

        Of a ledger that promises a pure ε, `spend=1` and `epsilon=1` mean `spend=PureDP(1)`. `weights` is the budget
        allocation among statistics. `size` is the number of rows per key for which errors of means are predicted.
        `level` is the confidence level of `error` and of quantiles' confidence intervals. `nonnegative` moves
        counts to 0 or above. `why` is kept in the ledger. `reuse=False` measures only what is asked; `reuse="only"`
        charges nothing, and refuses with BudgetExceeded what released answers do not answer. `within=2` takes sums
        of released cells for nothing if their error is at most twice the planned one; by default it is 1.
        `FROM stream.visits` reads what a stream has published, for nothing.

        Refuses: with BudgetExceeded a question that does not fit; nothing is spent then, and no data touched. A
        failure of the store after the charge raises EngineFailure with one constant message, and the charge stays.
        """
        if not isinstance(text, str):
            raise InvalidArgument(
                f"sql takes text, got {type(text).__name__}; ask takes questions built in Python"
            )
        return self.ask(text, spend, why=why, **terms)

    def ask(
        self,
        question: QuestionLike,
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        **terms: Unpack[TermOptions],
    ) -> Answer:
        """Answer a question built in Python, or SQL; all else as `sql` does."""
        planner = self.context.planner_for(self.who)
        read = planner.terms(spend, **terms)
        if mentions_stream(question):
            published = verbs.stream.select_stream(self.context, str(question), read)
            if published is not None:
                return published
        answers = self._answers(planner.request(question, read), why)
        return answers[""]

    def release(
        self,
        questions: Mapping[str, QuestionLike],
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        **terms: Unpack[TermOptions],
    ) -> dict[str, Answer]:
        """Answer several questions by name, with one charge: all are answered, or nothing is spent.

        `weights` divides the spend among the questions.
        """
        planner = self.context.planner_for(self.who)
        read = planner.terms(spend, **terms)
        return self._answers(planner.request_several(questions, read), why)

    def released(
        self,
        questions: Mapping[str, QuestionLike],
        spend: Measure | Number | None = None,
        **terms: Unpack[TermOptions],
    ) -> dict[str, Answer] | None:
        """Return the answers of a `release` that this asker has paid for; None if there are none.

        Nothing is planned, charged or written.
        """
        planner = self.context.planner_for(self.who)
        request = planner.request_several(questions, planner.terms(spend, **terms))
        return self._stored_answers(request, key_of(request.questions, request.terms), "")

    def plan(
        self,
        question: QuestionLike | Mapping[str, QuestionLike],
        spend: Measure | Number | None = None,
        *,
        queries: int | None = None,
        **terms: Unpack[TermOptions],
    ) -> Plan | Workload | Tradeoff:
        """Plan one question, or several by name, without asking; nothing is touched or spent.

        `queries` is the number of such questions that the budget is to pay for. Given two of
        spend, error and queries, it works out the third.
        """
        planner = self.context.planner
        read = planner.terms(spend, **terms)
        return planner.find(question, read, queries)

    def explain(
        self,
        question: QuestionLike,
        spend: Measure | Number | None = None,
        **terms: Unpack[TermOptions],
    ) -> Explanation:
        """Show the noise, the cost and the errors of a question, and the queries of the store.

        No private data is touched, nothing is spent.

        Refuses: all that `sql` refuses, except a lack of budget, which the explanation tells.
        """
        planner = self.context.planner_for(self.who)
        read = planner.terms(spend, **terms)
        request = planner.request(question, read)
        plans = plan_to_fit(self.context, request, self.who)
        return explain_plan(self.context, request, plans, self.who)

    def rehearse(
        self,
        question: QuestionLike,
        spend: Measure | Number | None = None,
        *,
        rows: int = 1_000,
        **terms: Unpack[TermOptions],
    ) -> Answer:
        """Answer from made-up rows of the declared shape, with the noise of a real answer, for free.

        The answer is marked, and says nothing about the data: no private row is read.
        """
        planner = self.context.planner
        read = planner.terms(spend, **terms)
        plan = planner.plan(question, read)
        count = whole(rows, "rows", least=0, most=100_000)
        store = verbs.rehearse.make_up(
            self.context.schemas.values(), count, self.context.public_values
        )
        answer = run_plan(
            plan, store, level=read.level, nonnegative=read.nonnegative, whole=read.whole
        )
        made_up = f"rehearsal: made-up data, {count} rows a table; nothing was spent"
        return answer.with_receipt(None, text.caption.caption_line(answer, made_up), (made_up,))

    def learn(
        self, sql: str, model: Model, spend: Measure | None = None, *, why: str = ""
    ) -> Model:
        """Return a fitted copy of a model of `discreet.learn`, learned from the rows of a SELECT.

        It is charged first and stored, with a receipt in `.receipt_`. The same model of the same rows costs
        nothing again. `spend` is given here or by the model, not by both.
        """
        return verbs.learn.learn(self, sql, model, spend, why)

    def explain_model(
        self, sql: str, model: Estimator, spend: Measure | None = None, *, n: int
    ) -> TrainingExplanation:
        """Explain releases, cost and loss of learning from about `n` rows of a SELECT, for free."""
        course = verbs.learn.plan_training(self.context.planner, sql, model, spend)
        return course.explain(n)

    def synthesize(
        self, table: str, spend: Measure, *, why: str = "", **words: Unpack[SynthesisWords]
    ) -> Synthetic:
        """Release noisy marginals of a table, or of a SELECT's rows, and synthetic records made from them.

        `columns` are all by default. `workload` is "pairs" (the planner chooses which are worth measuring), "ones",
        or a list of sets of columns. `bins` has a number of equal bins by column. `size` is about how many
        rows there are, a public fact; without it a noisy total is released first. Pairs with `target` come first.

        Refuses: tables in which one person may have several rows.
        """
        wanted = verbs.synthesize.plan_synthesis_of(self.context.planner, table, spend, words)
        return verbs.synthesize.synthesize(self, wanted, why)

    def plan_synthesis(
        self, table: str, spend: Measure, **words: Unpack[SynthesisWords]
    ) -> SyntheticPlan:
        """Return the marginals that `synthesize` would measure, with their noise, for free."""
        wanted = verbs.synthesize.plan_synthesis_of(self.context.planner, table, spend, words)
        return wanted.plan

    def suggest_bounds(
        self,
        table: str,
        column: str,
        spend: Measure,
        *,
        tail: Number | None = None,
        why: str = "suggest bounds",
    ) -> SuggestedBounds:
        """Suggest bounds for a column of numbers, privately; see `answer.suggest_bounds`.

        The suggestion is private, so it may be declared from then on. By default the `tail` follows from
        the declared size and the spend: the least that two private quantiles can tell apart.
        """
        wanted = verbs.bounds.plan_suggested_bounds(
            self.context.planner, table, column, spend, tail
        )
        return verbs.bounds.bounds_of(self, wanted, why)

    def suggest_caps(
        self,
        table: str,
        spend: Measure,
        *,
        by: str | Sequence[str] = (),
        why: str = "suggest caps",
    ) -> SuggestedCaps:
        """Suggest a contribution bound (`max_rows`, rows of one person that count), privately.

        With columns `by`, suggest `max_rows_per_group` for questions grouped by them.
        """
        wanted = verbs.bounds.plan_suggested_caps(self.context.planner, table, spend, by)
        return verbs.bounds.caps_of(self, wanted, why)

    def estimate_truncation(
        self,
        table: str,
        spend: Measure | Number,
        *,
        up_to: int,
        of: str | None = None,
        why: str = "estimate truncation",
    ) -> Answer:
        """Estimate the truncation by `max_rows`, privately: the rows cut off and their fraction of all.

        See `truncation_question`. `of` names a column, of whose sum the same is estimated too. The
        estimate supposes that nobody has more than `up_to` rows.
        """
        question = verbs.bounds.truncation_question_of(self.context.planner, table, up_to, of)
        return self.ask(question, spend, why=why)

    def estimate_cut(self, *arguments: Any, **options: Any) -> Answer:  # noqa: ANN401 as its new name
        """Estimate a truncation; the former name of `estimate_truncation`, until version 0.3."""
        verbs.bounds.warn_estimate_cut()
        return self.estimate_truncation(*arguments, **options)

    def _answers(self, request: CheckedRequest, why: str) -> dict[str, Answer]:
        """Return the stored answers of a request; else plan it, charge for it, run it and store it."""
        key = key_of(request.questions, request.terms)
        stored = self._stored_answers(request, key, why)
        if stored is not None:
            return stored
        while True:
            try:
                return self._answers_by_a_way(request, key, why)
            except Overtaken:
                # Another process of this asker paid for what answers this: nothing was charged here.
                continue

    def _answers_by_a_way(
        self, request: CheckedRequest, key: AnswerKey, why: str
    ) -> dict[str, Answer]:
        """Plan a request, choose how it is answered, and pay for what that needs."""
        plans = plan_to_fit(self.context, request, self.who)
        way = find_way(self.context, request, key, plans, self.who)
        read_text(why, "why")  # refused as for a new question, also where nothing is written
        part: Json = {}
        fresh: Mapping[str, Answer] = {}
        contrast = way.contrast
        by = PaidBy(who=self.who, why=why, locks=self.locks)
        if way.summed is not None:
            paid, part = way.summed.paid, way.summed.part
        elif contrast is None:
            paid, fresh = pay_request(
                self.context, request, key, plans, way.measured, watch=way.watch, **by
            )
            # An answer of an earlier release has the question itself, not a wide one.
            part = way.measured.slice if paid.entry.key == way.measured.key.text else {}
        elif contrast.paid is not None:
            paid = contrast.paid
        else:
            bought = contrast.measured
            paid, _ = pay_request(
                self.context,
                contrast.request,
                bought.key,
                bought.plans,
                bought,
                told=request.questions,
                watch=way.watch,
                **by,
            )
        return read_answers(
            request,
            lambda: plans,
            paid,
            self.context,
            self.signer,
            fresh=fresh,
            part=part,
            derived=way.summed is not None,
            total=None if contrast is None else contrast.total,
        )

    def _stored_answers(
        self, request: CheckedRequest, key: AnswerKey, why: str
    ) -> dict[str, Answer] | None:
        """Return the answers that this asker has paid for under a key, before anything is planned.

        Others' answers are planned, priced and held back like new ones (timing side channel).
        """
        find = partial(self.context.find_paid, self.who)
        paid = find(key.text) or find(key.spelled)
        if paid is None:
            # An answer of an earlier meaning counts only if it is proved to be the same. The proof is
            # worked out where this asker has such an answer, so its time tells nothing of others.
            paid = find(key.former)
            if paid is None or not same_target(request.checked):
                return None
        # Refused as for a new question, although nothing is written here.
        read_text(why, "why")
        opened = self.ledger.terms.filter

        def plan() -> dict[str, Plan]:
            return request.plans(opened)

        return read_answers(request, plan, paid, self.context, self.signer)


def served(curator: Curator, control: RunControl | None = None) -> Curator:
    """Return the same curator for a service: `control` can stop it, and entries have own numbers."""
    numbers = EntryNumbers(curator.ledger, own=not curator.context.share_questions)
    context = replace(curator.context, control=control, numbers=numbers)
    copied = object.__new__(Curator)
    return _fill(copied, curator.who, curator.signer, context, curator.locks)


def _fill(
    curator: Curator, who: str, signer: Signer | None, context: CuratorContext, locks: Locks
) -> Curator:
    fill(curator, who=read_who(who), signer=signer, context=context, locks=locks)
    return curator
