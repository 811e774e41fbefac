"""From a question to its answer: plan, ask the store, add noise, estimate. The ledger stands between plan and run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from .. import answer as room
from ..arithmetic.rational import Number
from ..engines.snapshot import one_snapshot
from ..noise import Bits, uniform
from ..plan.plan import Plan
from ..plan.question import plan_question
from ..plan.thresholded_count import CountSelection
from ..privacy.measures import Measure
from ..query.algebra.tally import KeptKeys, Tally
from ..query.algebra.tree import Key as KeyColumn
from ..query.algebra.tree import Question, Relation
from ..query.bounds.keys import PublicValues, declares_null
from ..query.domains.domain import Scalar
from ..statistics.recipe import Drawn, Draws, NoisyValue
from ..statistics.releases.set_totals import SetsRelease
from ..statistics.releases.total import KeyValues, NoisyTotal
from .answer import Answer
from .confidence import read_level
from .fresh_noise import draw
from .tally_batch import TallyBatch, gather


def answer_question(
    question: Question,
    engine: TallyBatch,
    spend: Measure,
    *,
    level: float = 0.95,
    nonnegative: bool = False,
    weights: Mapping[str, Number] | None = None,
    public_values: PublicValues | None = None,
    bits: Bits | None = None,
) -> Answer:
    """Answer a question within a budget; whoever keeps a ledger plans first, charges `plan.events`, then runs.

    `level` is the level of the intervals of quantiles, fixed when they are drawn; those of all other statistics can be
    had at any level. `nonnegative` moves noisy counts to 0 or above, and COUNT(DISTINCT x) to no more than there are
    public values.

    >>> from discreet.answer import answer_question
    >>> from discreet import Category, PureDP, Question, Rows, Schema
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.tree import Count, Finish, Key, Scan
    >>> class Three:
    ...     def tally(self, tally):
    ...         return {("N",): (3000,)}
    >>> people = Scan(Schema("people", Rows(), {"region": Category(["N", "S"])}))
    >>> finish = Finish((("region", Field("region")), ("n", Field("n"))))
    >>> question = Question(people, (Key("region", Field("region"), ("N", "S")),), (("n", Count()),), finish)
    >>> answer = answer_question(question, Three(), PureDP(10))
    >>> answer.column("region"), [abs(n - exact) < 9 for n, exact in zip(answer.column("n"), (3000, 0))]
    (['N', 'S'], [True, True])
    """
    level = read_level(level)
    plan = plan_question(question, spend, weights=weights, public_values=public_values, level=level)
    return run_plan(plan, engine, level=level, nonnegative=nonnegative, bits=bits)


def run_plan(
    plan: Plan,
    engine: TallyBatch,
    *,
    level: float = 0.95,
    nonnegative: bool = False,
    whole: bool = False,
    bits: Bits | None = None,
) -> Answer:
    """Run a plan that has been paid for: exact totals from the engine, fresh noise, estimates.

    Every public key appears, also those that do not occur; of unknown keys just the selected ones. All totals are of
    one state of the data, if the engine can hold it still.
    """
    confidence = read_level(level)
    if any(isinstance(release, SetsRelease) for release in plan.releases):
        with one_snapshot(engine):
            moves = room.workload_run.Moves(nonnegative or whole, whole)
            return room.workload_run.run_sets(plan, engine, moves, bits=bits)
    with one_snapshot(engine):
        keys, counted = _keys(plan, engine, bits)
        drawn = _drawn(plan, keys, engine, confidence, bits)
    if counted and plan.counted is not None:
        drawn[plan.counted] = counted
    rows = _estimates(plan, drawn, len(keys), confidence, nonnegative)
    return Answer.of(plan, keys, rows)


def _estimates(
    plan: Plan, drawn: Sequence[Sequence[Drawn]], size: int, level: float, nonnegative: bool
) -> list[dict[str, NoisyValue]]:
    """Return the estimates of every row; statistics of the same releases share what was drawn for them."""
    draws = {
        places: [
            Draws.of([drawn[place][row] for place in places], level=level, nonnegative=nonnegative)
            for row in range(size)
        ]
        for places in {places for _, places in plan.uses}
    }
    rows: list[dict[str, NoisyValue]] = [{} for _ in range(size)]
    for (name, places), recipe in zip(plan.uses, plan.recipes, strict=True):
        for row, own in zip(rows, draws[places], strict=True):
            row[name] = recipe.estimate(own)
    return rows


def run_plans(
    plans: Mapping[str, Plan],
    engine: TallyBatch,
    *,
    level: float = 0.95,
    nonnegative: bool = False,
    whole: bool = False,
    bits: Bits | None = None,
) -> dict[str, Answer]:
    """Run plans of several questions that have been paid for; those that are cut from one plan share its one run."""
    words: Any = {"level": level, "nonnegative": nonnegative, "whole": whole, "bits": bits}
    found: dict[str, Answer] = {}
    shared: dict[int, Answer] = {}
    for name, plan in plans.items():
        if plan.within is None:
            found[name] = run_plan(plan, engine, **words)
            continue
        if id(plan.within) not in shared:
            shared[id(plan.within)] = run_plan(plan.within, engine, **words)
        found[name] = room.workload_run.cut_answer(shared[id(plan.within)], plan)
    return found


def _keys(
    plan: Plan, engine: TallyBatch, bits: Bits | None
) -> tuple[Sequence[KeyValues], Sequence[NoisyTotal]]:
    """Return the keys to show; where a count shows them, with its noisy totals."""
    selection = plan.selection
    if selection is None:
        return plan.keys or (), ()
    totals = engine.tally(salted(selection.tally, bits=bits))
    counts = {key: found[0] for key, found in totals.items() if _allowed(key, plan)}
    if not isinstance(selection, CountSelection):
        return selection.release(counts, bits=bits), ()
    shown, release = selection.show(counts, bits=bits), selection.release
    return list(shown), [
        NoisyTotal(total, release.unit, release.mechanism) for total in shown.values()
    ]


def salted(tally: Tally, *, bits: Bits | None = None) -> Tally:
    """Return a tally whose people keep some of their keys, by a salt drawn now that nobody sees."""
    if not isinstance(tally.share, KeptKeys):
        return tally
    words = uniform(1 << 62, 2, bits=bits)
    return replace(
        tally, share=replace(tally.share, salt="".join(f"{int(word):016x}" for word in words))
    )


def _allowed(key: KeyValues, plan: Plan) -> bool:
    """Return whether a key may be shown at all: a public one if it is listed, and NULL only where it is a key."""
    return all(
        _possible(value, column, plan.question.rows)
        for value, column in zip(key, plan.question.keys, strict=True)
    )


def _possible(value: Scalar, column: KeyColumn, rows: Relation) -> bool:
    if column.values is not None:
        return value in column.values
    return value is not None or declares_null(column.expression, rows)


def _drawn(
    plan: Plan, keys: Sequence[KeyValues], engine: TallyBatch, level: float, bits: Bits | None
) -> list[Sequence[Drawn]]:
    drawn: list[Sequence[Drawn]] = [[] for _ in plan.releases]
    places = [place for place in range(len(drawn)) if place != plan.counted]
    if not keys or not places:
        return drawn
    counts = gather([plan.releases[place].need for place in places], keys, engine)
    for place, found in zip(places, counts, strict=True):
        drawn[place] = draw(plan.releases[place], found, keys, level, bits=bits)
    return drawn
