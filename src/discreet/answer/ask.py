"""Run of a paid plan: exact totals from the store, fresh noise, estimates.

    plan ─► charge in the ledger ─► keys ─► exact totals ─► noise ─► estimates ─► answer
            (`curator.pay`)         └ partition selection: unknown keys are selected privately

Guarantee: exact totals leave this module only with the plan's noise added.
Law: tests/plan/test_meaning.py, tests/answer/test_coverage.py
"""

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
    """Plan a question and run it within a budget; with a ledger, charge `plan.events` before the run.

    `level` is the confidence level of the intervals of quantiles, fixed when they are drawn. All other
    statistics have intervals at any level. `nonnegative` moves noisy counts to 0 or above, and
    COUNT(DISTINCT x) to no more than there are public values.

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

    Every public key appears, also those that do not occur; of unknown keys just the selected ones. All
    totals are of one state of the data, if the engine supports snapshots.
    """
    confidence = read_level(level)
    if any(isinstance(release, SetsRelease) for release in plan.releases):
        with one_snapshot(engine):
            # Whole counts are never negative: rounding to whole numbers includes the floor at 0.
            moves = room.workload_run.Moves(nonnegative or whole, whole)
            return room.workload_run.run_sets(plan, engine, moves, bits=bits)
    # The keys are selected and the totals are taken in one snapshot; estimates need no data.
    with one_snapshot(engine):
        keys, selection_counts = _keys(plan, engine, bits)
        drawn = _draw_releases(plan, keys, engine, confidence, bits)
    if selection_counts and plan.counted is not None:
        # The count that selected the keys is also a statistic: it is released once, not drawn again.
        drawn[plan.counted] = selection_counts
    rows = _estimates(plan, drawn, len(keys), confidence, nonnegative)
    return Answer.of(plan, keys, rows)


def _estimates(
    plan: Plan, drawn: Sequence[Sequence[Drawn]], size: int, level: float, nonnegative: bool
) -> list[dict[str, NoisyValue]]:
    """Return the estimates of every row; statistics of the same releases share their draws."""
    draws: dict[tuple[int, ...], list[Draws]] = {}
    for _, places in plan.uses:
        if places in draws:
            continue
        draws[places] = []
        for row in range(size):
            own = [drawn[place][row] for place in places]
            draws[places].append(Draws.of(own, level=level, nonnegative=nonnegative))
    rows: list[dict[str, NoisyValue]] = [{} for _ in range(size)]
    for (name, places), recipe in zip(plan.uses, plan.recipes, strict=True):
        for estimates, own_draws in zip(rows, draws[places], strict=True):
            estimates[name] = recipe.estimate(own_draws)
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
    """Run plans of several questions that have been paid for.

    Plans that are cut from one joint plan share its single run.
    """
    options: Any = {"level": level, "nonnegative": nonnegative, "whole": whole, "bits": bits}
    answers: dict[str, Answer] = {}
    # By identity: two equal joint plans that were both paid for are two releases.
    joint_answers: dict[int, Answer] = {}
    for name, plan in plans.items():
        if plan.within is None:
            answers[name] = run_plan(plan, engine, **options)
            continue
        joint = id(plan.within)
        if joint not in joint_answers:
            joint_answers[joint] = run_plan(plan.within, engine, **options)
        answers[name] = room.workload_run.cut_answer(joint_answers[joint], plan)
    return answers


def _keys(
    plan: Plan, engine: TallyBatch, bits: Bits | None
) -> tuple[Sequence[KeyValues], Sequence[NoisyTotal]]:
    """Return the keys to show; if a thresholded count selects them, also its noisy totals."""
    selection = plan.selection
    if selection is None:
        return plan.keys or (), ()
    totals = engine.tally(with_secret_salt(selection.tally, bits=bits))
    counts = {}
    for key, values in totals.items():
        if _allowed(key, plan):
            counts[key] = values[0]
    if not isinstance(selection, CountSelection):
        return selection.release(counts, bits=bits), ()
    shown = selection.show(counts, bits=bits)
    release = selection.release
    noisy = [NoisyTotal(steps, release.unit, release.mechanism) for steps in shown.values()]
    return list(shown), noisy


def with_secret_salt(tally: Tally, *, bits: Bits | None = None) -> Tally:
    """Return a tally in which each person keeps some of their keys, chosen by a secret fresh salt.

    Contribution bounding: a person counts in a bounded number of keys. With a known salt, an outsider
    could predict which keys a person keeps.
    """
    if not isinstance(tally.share, KeptKeys):
        return tally
    numbers = uniform(1 << 62, 2, bits=bits)
    salt = "".join(f"{int(number):016x}" for number in numbers)
    return replace(tally, share=replace(tally.share, salt=salt))


def _allowed(key: KeyValues, plan: Plan) -> bool:
    """Return whether a key may be shown: its public values are listed, NULL only where it is declared."""
    for value, column in zip(key, plan.question.keys, strict=True):
        if not _possible(value, column, plan.question.rows):
            return False
    return True


def _possible(value: Scalar, column: KeyColumn, rows: Relation) -> bool:
    if column.values is not None:
        return value in column.values
    return value is not None or declares_null(column.expression, rows)


def _draw_releases(
    plan: Plan, keys: Sequence[KeyValues], engine: TallyBatch, level: float, bits: Bits | None
) -> list[Sequence[Drawn]]:
    """Draw every release of a plan for all keys, except the count that selected them."""
    drawn: list[Sequence[Drawn]] = [[] for _ in plan.releases]
    places = [place for place in range(len(drawn)) if place != plan.counted]
    if not keys or not places:
        return drawn
    needs = [plan.releases[place].need for place in places]
    totals = gather(needs, keys, engine)
    for place, exact in zip(places, totals, strict=True):
        release = plan.releases[place]
        drawn[place] = draw(release, exact, keys, level, bits=bits)
    return drawn
