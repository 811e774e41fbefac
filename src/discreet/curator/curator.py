"""The curator: stands between analysts and private data, and knows every room of the house.

question ─► plan ─► price ─► charge ─► run ─► finish ─► answer with a receipt
└─ public: explain, plan, rehearse ─┘ └─ in this order, or nothing: `pay` ──┘
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Unpack

from ..answer.answer import Answer
from ..answer.ask import run_plan, run_plans
from ..answer.stored import answer_to_json
from ..arithmetic.rational import Number, whole
from ..data.schema import Schema
from ..engines.base import Engine
from ..errors import InvalidArgument
from ..frozen import field, fill, frozen, replace
from ..ledger import History, Ledger
from ..ledger.names import read_who
from ..plan.asked.terms import Terms, TermWords
from ..plan.plan import Plan
from ..plan.planner import QuestionWords
from ..privacy.filters.remaining import RemainingBudget
from ..privacy.measures import Measure
from . import verbs
from .answers import read_answers
from .charge_request import order_of, plan_to_fit
from .context import CuratorContext, RunControl, read_context
from .explain import explain_plan, store_texts
from .explanation import Explanation
from .history import history_of
from .pay import Locks, Work, pay
from .signing import Signer
from .stored_answer import Body, facts_of, write_body

if TYPE_CHECKING:  # rooms that most questions do not enter: `verbs` loads them
    from ..answer.suggest import SuggestedBounds, SuggestedCaps
    from ..learn.estimator import Estimator
    from ..learn.explanation import TrainingExplanation
    from ..plan import Tradeoff, Workload
    from ..query.python.table import Table
    from ..synthetic.plan import SyntheticPlan
    from ..synthetic.request import SynthesisWords
    from ..synthetic.synthetic import Synthetic
    from .verbs.learn import Model


@frozen(init=False, repr=False)
class Curator:
    """Answer questions about private tables, within a ledger's budget.

    `schemas` declare the tables of `engine`; `who` asks, and is charged; `signer` signs the receipts. Every question
    is charged before it is run. The same question about the same declared version of the data, on the same terms, has
    the same answer and costs nothing. Curators may be used from many threads and processes.

    What somebody else has asked before costs the ledger nothing either. But whether it was asked is not told: it counts
    in the allowance of whoever asks it, with a receipt of their own, as if it were new. `share_questions` is the
    steward's word that analysts may know of each other's questions: they are then free for all, and the receipt names
    who asked first.

    >>> import discreet as dp
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120), "region": dp.Category(["N", "S"])})
    >>> store = dp.Memory({"people": [{"age": 37, "region": "N"}] * 500})
    >>> curator = dp.Curator(store, [people], dp.open_ledger(":memory:", dp.PureDP(3)), who="ana")
    >>> answer = curator.sql("SELECT region, COUNT(*) AS n FROM people GROUP BY region", spend=dp.PureDP(1))
    >>> answer.column("region"), abs(answer.column("n")[0] - 500) < 50
    (['N', 'S'], True)
    >>> curator.left(), curator.sql("select region, count(*) n from people group by 1", spend=dp.PureDP(1)) == answer
    (PureDP(2), True)

    Refuses drafts, tables that the store does not have, a ledger under other neighbours.
    """

    who: str
    signer: Signer | None
    stand: CuratorContext
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
    ) -> None:
        if signer is not None and not isinstance(signer, Signer):
            raise InvalidArgument(
                f"signer must be a Signer, got {type(signer).__name__}; Signer.create() makes one"
            )
        _fill(
            self,
            who,
            signer,
            read_context(engine, schemas, ledger, share_questions=share_questions),
            Locks(),
        )

    def __repr__(self) -> str:
        return f"<Curator of {', '.join(self.stand.schemas)} for {self.who}>"

    def named(self, who: str) -> Curator:
        """Return the same curator for another analyst."""
        return _fill(object.__new__(Curator), who, self.signer, self.stand, self.locks)

    @property
    def ledger(self) -> Ledger:
        """The ledger that is charged."""
        return self.stand.ledger

    def left(self) -> Measure:
        """Return what this analyst may still spend, in the budget's measure: of (ε, δ), at most so much at once."""
        return self.ledger.left(self.who)

    def room(self) -> RemainingBudget:
        """Return the largest pure ε, the largest μ and the δ for keys that fit an (ε, δ) budget now."""
        return self.ledger.room(self.who)

    def spent(self) -> Measure:
        """Return what this analyst has spent, in the budget's measure."""
        return self.ledger.spent(self.who)

    def history(self, last: int | None = None) -> History:
        """List this analyst's entries in the ledger, with what was asked; it shows itself as a table."""
        return history_of(self.stand, self.who, last)

    def table(self, name: str) -> Table:
        """Return a table to build questions on in Python: `curator.table("people").count(by="region")`."""
        return verbs.bounds.table_of(self.stand.planner, name)

    def sql(
        self,
        text: str,
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        **terms: Unpack[TermWords],
    ) -> Answer:
        """Answer one SELECT, spending as said, or as little as keeps every error within `error`.

        Of a ledger that promises a pure ε, `spend=1` and `epsilon=1` mean `spend=PureDP(1)`.
        `weights` divides the budget among statistics; `size` is the number of rows per key for which errors of means
        are predicted; `level` is that of `error` and of quantiles' intervals; `nonnegative` moves counts to 0 or above;
        `why` is kept in the ledger.

        Raises BudgetExceeded if it does not fit: nothing is spent then, and no data touched. A failure of the store
        after the charge is EngineFailure with one constant message, and the charge stays.
        """
        if not isinstance(text, str):
            raise InvalidArgument(
                f"sql takes text, got {type(text).__name__}; ask takes questions built in Python"
            )
        return self.ask(text, spend, why=why, **terms)

    def ask(
        self,
        question: QuestionWords,
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        **terms: Unpack[TermWords],
    ) -> Answer:
        """Answer a question built in Python, or SQL; all else as `sql` does."""
        read = self.stand.planner.terms(spend, **terms)
        return self._answers(self._plans(question, read), read, why)[""]

    def release(
        self,
        questions: Mapping[str, QuestionWords],
        spend: Measure | Number | None = None,
        *,
        why: str = "",
        **terms: Unpack[TermWords],
    ) -> dict[str, Answer]:
        """Answer several questions by name, with one charge for all: all are answered, or nothing is spent.

        `weights` divides the spend among the questions.
        """
        read = self.stand.planner.terms(spend, **terms)
        plans = plan_to_fit(
            self.stand, read, self.who, lambda one: dict(one.workload(questions, read).plans)
        )
        return self._answers(plans, read, why)

    def plan(
        self,
        question: QuestionWords | Mapping[str, QuestionWords],
        spend: Measure | Number | None = None,
        *,
        queries: int | None = None,
        **terms: Unpack[TermWords],
    ) -> Plan | Workload | Tradeoff:
        """Plan without asking: one question, several by name, or, given two of spend, error and queries, the third."""
        return self.stand.planner.find(question, self.stand.planner.terms(spend, **terms), queries)

    def explain(
        self,
        question: QuestionWords,
        spend: Measure | Number | None = None,
        **terms: Unpack[TermWords],
    ) -> Explanation:
        """Show what a question would do, cost and miss, and what the store would be asked.

        No private data is touched, nothing is spent. Refuses what `sql` would refuse, but for the budget: that an
        answer would not fit is told, not raised.
        """
        read = self.stand.planner.terms(spend, **terms)
        return explain_plan(self.stand, self._plans(question, read)[""], read, self.who)

    def rehearse(
        self,
        question: QuestionWords,
        spend: Measure | Number | None = None,
        *,
        rows: int = 1_000,
        **terms: Unpack[TermWords],
    ) -> Answer:
        """Answer from made-up rows of the declared shape, with the noise that the real answer would have. It is free.

        The answer is marked, and says nothing about the data: no private row is read.
        """
        read = self.stand.planner.terms(spend, **terms)
        plan, count = (
            self.stand.planner.plan(question, read),
            whole(rows, "rows", least=0, most=100_000),
        )
        store = verbs.rehearse.make_up(self.stand.schemas.values(), count, self.stand.public_values)
        answer = run_plan(
            plan, store, level=read.level, nonnegative=read.nonnegative, whole=read.whole
        )
        return answer.with_receipt(
            None, f"rehearsal: made-up data, {count} rows a table; nothing was spent"
        )

    def learn(
        self, sql: str, model: Model, spend: Measure | None = None, *, why: str = ""
    ) -> Model:
        """Return a fitted copy of a model of `discreet.learn`, learned from the rows of a SELECT.

        Charged first, stored, with a receipt in `.receipt_`: the same model of the same rows costs nothing again.
        `spend` is said here or by the model, not by both.
        """
        return verbs.learn.learn(self, sql, model, spend, why)

    def explain_model(
        self, sql: str, model: Estimator, spend: Measure | None = None, *, n: int
    ) -> TrainingExplanation:
        """Say what learning from about `n` rows of a SELECT would release, cost and lose; nothing is spent."""
        return verbs.learn.course_of(self.stand.planner, sql, model, spend).explain(n)

    def synthesize(
        self, table: str, spend: Measure, *, why: str = "", **words: Unpack[SynthesisWords]
    ) -> Synthetic:
        """Release tables of the columns of a table, or of a SELECT's rows, with records made from them for free.

        `columns` are all if not said; `workload` is "pairs" (the planner chooses which are worth measuring), "ones", or
        a list of sets of columns; `bins` says how many equal bins a number has; `size`, public, about how many rows
        there are. The same request costs nothing again. Refuses several rows of one person.
        """
        wanted = verbs.synthesize.synthesis_of(self.stand.planner, table, spend, words)
        return verbs.synthesize.synthesize(self, wanted, why)

    def plan_synthesis(
        self, table: str, spend: Measure, **words: Unpack[SynthesisWords]
    ) -> SyntheticPlan:
        """Return what `synthesize` would measure, with which noise; nothing is touched or spent. It shows itself."""
        return verbs.synthesize.synthesis_of(self.stand.planner, table, spend, words).plan

    def suggest_bounds(
        self,
        table: str,
        column: str,
        spend: Measure,
        *,
        tail: Number | None = None,
        why: str = "suggest bounds",
    ) -> SuggestedBounds:
        """Suggest bounds for a column of numbers, privately, to be declared from then on; see `answer.suggest_bounds`.

        Without a `tail` it follows from the declared size and the spend: what two private quantiles can tell apart.
        """
        wanted = verbs.bounds.wanted_bounds(self.stand.planner, table, column, spend, tail)
        return verbs.bounds.bounds_of(self, wanted, why)

    def suggest_caps(
        self, table: str, spend: Measure, *, why: str = "suggest caps"
    ) -> SuggestedCaps:
        """Suggest how many rows of one person should count (`max_rows`), privately, to be declared from then on."""
        return verbs.bounds.caps_of(
            self, verbs.bounds.wanted_caps(self.stand.planner, table, spend), why
        )

    def estimate_cut(
        self,
        table: str,
        spend: Measure | Number,
        *,
        up_to: int,
        of: str | None = None,
        why: str = "estimate cut",
    ) -> Answer:
        """Estimate, privately, how many rows of people `max_rows` cuts off and which share that is.

        See `truncation_question`.

        `of` names a column, to be told the same of its sum. It supposes that nobody has more than `up_to` rows.
        """
        return self.ask(verbs.bounds.cut_of(self.stand.planner, table, up_to, of), spend, why=why)

    def _plans(self, question: QuestionWords, terms: Terms) -> dict[str, Plan]:
        return plan_to_fit(self.stand, terms, self.who, lambda one: {"": one.plan(question, terms)})

    def _answers(self, plans: dict[str, Plan], terms: Terms, why: str) -> dict[str, Answer]:
        stand = self.stand
        priced = order_of(plans, terms, stand, who=self.who, why=why)

        def check() -> None:
            for plan in plans.values():
                store_texts(plan, stand.engine)

        ran: dict[str, dict[str, Answer]] = {}

        def run() -> str:
            words = {"level": terms.level, "nonnegative": terms.nonnegative, "whole": terms.whole}
            found = run_plans(plans, stand.engine, bits=stand.bits, **words)  # type: ignore[arg-type]
            made = {name: answer_to_json(answer) for name, answer in found.items()}
            facts = facts_of(plans, terms, priced.texts, priced.prints)
            text = write_body(Body(priced.price, made, facts))
            ran[text] = found
            return text

        paid = pay(self.ledger, priced.order, Work(run, check, stand.pause), self.locks)
        return read_answers(
            plans, terms, paid, self.ledger.terms.filter, self.signer, fresh=ran.get(paid.body, {})
        )


def stoppable(curator: Curator, control: RunControl) -> Curator:
    """Return the same curator, whose runs and waits `control` can stop; for whoever runs a curator for others."""
    stand = replace(curator.stand, control=control)
    return _fill(object.__new__(Curator), curator.who, curator.signer, stand, curator.locks)


def _fill(
    curator: Curator, who: str, signer: Signer | None, stand: CuratorContext, locks: Locks
) -> Curator:
    fill(curator, who=read_who(who), signer=signer, stand=stand, locks=locks)
    return curator
