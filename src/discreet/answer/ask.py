"""Run of a paid plan: exact totals from the store, noise addition, estimates.

    plan ─► charge in the ledger ─► keys ─► exact totals ─► noise ─► estimates ─► answer
            (`curator.pay`)         └ partition selection: unknown keys are selected privately

Tallies are batched (`gather`): needs that differ in their terms only become one query to the store.
Noise is drawn once for all keys of a release: by `draw`; by the selection, for unknown keys; and by
`workload_run`, for several sets of keys, running totals and many counts. `store_texts` shows the
queries before anything is paid. For that, a recording engine keeps each tally instead of answering,
so that explanation and run cannot differ.

Guarantee: every number of an answer from `run_plan` is computed from public facts and from what
mechanisms of the plan released, nothing else.
Law: tests/plan/test_meaning.py, tests/answer/test_coverage.py, tests/statistics/test_partition.py
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product
from typing import Any, Protocol, TypeAlias

import numpy as np

from .. import answer as modules
from ..arithmetic.rational import Number
from ..engines.base import Engine, one_snapshot
from ..noise import Bits, uniform
from ..plan.asked.terms import DEFAULT_LEVEL
from ..plan.choose import plan_question
from ..plan.plan import Plan
from ..plan.thresholded_count import CountSelection
from ..privacy.measures import Measure
from ..query.algebra.open_totals import OpenTotals
from ..query.algebra.tally import KeptKeys, Tally, Term, Totals
from ..query.algebra.tree import Key as KeyColumn
from ..query.algebra.tree import Question, Relation
from ..query.bounds.keys import PublicValues, declares_null
from ..query.domains.domain import Scalar
from ..statistics.laws.noise_sum import Additive
from ..statistics.recipe import Drawn, Draws, Need, NoisyValue, PlannedRelease
from ..statistics.releases.choice import ChosenCell, ChosenRelease
from ..statistics.releases.partition import JointRelease, JointTotals, PartitionNeed
from ..statistics.releases.quantile_release import PlaceNeed, PlaceRelease
from ..statistics.releases.set_totals import CellsNeed, SetsRelease
from ..statistics.releases.total import DistinctNeed, ExactTotals, KeyValues, NoisyTotal, TotalNeed
from .answer import Answer, read_level

GatheredTotals: TypeAlias = Any
"""Totals of one need by key: a number, a tuple of numbers for a partition, or `OpenTotals`. Absent keys are 0."""


class TallyBatch(Protocol):
    """Interface of an engine that an answer uses: exact totals."""

    def tally(self, tally: Tally, /) -> Totals:
        """Return the exact totals of every key that occurs."""
        ...


def answer_question(
    question: Question,
    engine: TallyBatch,
    spend: Measure,
    *,
    level: float = DEFAULT_LEVEL,
    nonnegative: bool = False,
    weights: Mapping[str, Number] | None = None,
    public_values: PublicValues | None = None,
    bits: Bits | None = None,
) -> Answer:
    """Plan a question for a spend and run it at once. No ledger is charged: a `Curator` does that.

    `level` is the confidence level of the intervals of quantiles, fixed when they are drawn. All
    other statistics have intervals at any level. `nonnegative` moves noisy counts to 0 or above,
    and COUNT(DISTINCT x) to no more than there are public values. `weights` divides the spend among
    the statistics, 1 each by default. `public_values` reads the keys of public tables.

    >>> from discreet.answer import answer_question
    >>> from discreet import Category, PureDP, Question, Rows, Schema
    >>> from discreet.query.algebra.expression import Field
    >>> from discreet.query.algebra.statistic import Count
    >>> from discreet.query.algebra.tree import Finish, Key, Scan
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
    level: float = DEFAULT_LEVEL,
    nonnegative: bool = False,
    whole: bool = False,
    bits: Bits | None = None,
) -> Answer:
    """Run a plan that has been paid for: exact totals from the engine, fresh noise, estimates.

    Every public key appears, also those that do not occur; of unknown keys just the selected ones.
    All totals are of one state of the data, if the engine supports snapshots. `nonnegative` moves
    noisy counts to 0 or above. `whole` also moves those of a workload (sets of keys, running
    totals, many counts) to whole numbers.
    """
    confidence = read_level(level)
    if any(isinstance(release, SetsRelease) for release in plan.releases):
        with one_snapshot(engine):
            # Whole counts are never negative: rounding to whole numbers includes the floor at 0.
            moves = modules.workload_run.Moves(nonnegative or whole, whole)
            return modules.workload_run.run_sets(plan, engine, moves, bits=bits)
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
    """Return the estimates of every row by statistic.

    `drawn` has for each release of the plan its noisy numbers in each of the `size` rows;
    statistics of the same releases share them.
    """
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
    level: float = DEFAULT_LEVEL,
    nonnegative: bool = False,
    whole: bool = False,
    bits: Bits | None = None,
) -> dict[str, Answer]:
    """Run plans of several questions that have been paid for; return the answers by the same names.

    Plans that are parts of one joint plan (`within`) share a single run of it.
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
        answers[name] = modules.workload_run.cut_answer(joint_answers[joint], plan)
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
    noisy = []
    for steps in shown.values():
        noisy.append(NoisyTotal(steps, release.unit, release.mechanism))
    return list(shown), noisy


def with_secret_salt(tally: Tally, *, bits: Bits | None = None) -> Tally:
    """Return a tally under `KeptKeys` with a fresh secret salt; any other tally unchanged.

    Contribution bounding: a person counts in a bounded number of keys, chosen by a hash with the
    salt, of 124 bits. With a known salt, an outsider could predict which keys a person keeps.
    """
    if not isinstance(tally.share, KeptKeys):
        return tally
    numbers = uniform(1 << 62, 2, bits=bits)
    salt = "".join(f"{int(number):016x}" for number in numbers)
    return replace(tally, share=replace(tally.share, salt=salt))


def _allowed(key: KeyValues, plan: Plan) -> bool:
    """Return whether a key may be shown.

    The value of a column with public values has to be one of them. In other columns every value may
    be shown, but NULL only where the schema declares it as a key.
    """
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


def frame_of(need: Need | CellsNeed, keys: Sequence[KeyValues]) -> Tally:
    """Return the tally of a need without its terms, restricted to some keys.

    Needs with equal frames are asked for in one query. The frame also lists the cells of the need,
    unless the answer itself tells which cells have rows.
    """
    frame = replace(need.tally, terms=())
    if not need.tally.keys:
        return frame
    open_cells = isinstance(need, DistinctNeed) and need.cells.open
    if isinstance(need, PlaceNeed) or open_cells:
        # Restricted by key alone: which cells have rows is the question itself.
        only = tuple(keys) if any(keys) else None
        return replace(frame, only=only)
    if isinstance(need, TotalNeed | PartitionNeed):
        return replace(frame, only=tuple(keys))
    cells = tuple((*key, *place) for key, place in product(keys, need.cells.places))
    return replace(frame, only=cells)


def gather(
    needs: Sequence[Need | CellsNeed], keys: Sequence[KeyValues], store: TallyBatch
) -> list[GatheredTotals]:
    """Ask the store for the totals of all needs, in as few queries as possible."""
    frames = [frame_of(need, keys) for need in needs]
    # For each frame its terms, and the position of each term in the totals; equal terms are asked once.
    positions: dict[Tally, dict[Term, int]] = {}
    for need, frame in zip(needs, frames, strict=True):
        terms = positions.setdefault(frame, {})
        for term in need.tally.terms:
            terms.setdefault(term, len(terms))
    answered: dict[Tally, Totals] = {}
    for frame, terms in positions.items():
        answered[frame] = store.tally(replace(frame, terms=tuple(terms)))
    gathered = []
    for need, frame in zip(needs, frames, strict=True):
        gathered.append(_totals_of(need, answered[frame], positions[frame]))
    return gathered


def _totals_of(
    need: Need | CellsNeed, totals: Totals, positions: Mapping[Term, int]
) -> GatheredTotals:
    """Pick the totals of one need: a number for each key, or several that are released together."""
    if isinstance(need, PlaceNeed) and isinstance(totals, OpenTotals):
        # Arrays have one total, which is the need's.
        return totals
    own = [positions[term] for term in need.tally.terms]
    if isinstance(need, PartitionNeed):
        together = {}
        for key, values in totals.items():
            together[key] = tuple(values[at] for at in own)
        return together
    first = own[0]
    by_key = {key: values[first] for key, values in totals.items()}
    if isinstance(need, DistinctNeed) and need.cells.open:
        return need.occurring(by_key)
    return by_key


def add_noise(mechanism: Additive, values: Sequence[int], *, bits: Bits | None = None) -> list[int]:
    """Add fresh noise to whole numbers of any size."""
    # Noise is drawn on an array of zeros and added as Python integers: exact totals may exceed 64 bits.
    zeros = np.zeros(len(values), dtype=np.int64)
    noise = mechanism.release(zeros, bits=bits)
    return [value + extra for value, extra in zip(values, noise.tolist(), strict=True)]


def choose_cells(
    release: ChosenRelease,
    counts: ExactTotals,
    keys: Sequence[KeyValues],
    *,
    bits: Bits | None = None,
) -> list[int]:
    """Choose one cell in every key privately, by its scores."""
    chosen = []
    for key in keys:
        scores = np.array(release.need.scores(counts, key))
        chosen.append(release.mechanism.release(scores, bits=bits))
    return chosen


def draw(
    release: PlannedRelease,
    counts: GatheredTotals,
    keys: Sequence[KeyValues],
    level: float,
    *,
    bits: Bits | None = None,
) -> Sequence[Drawn]:
    """Draw one release for all keys; a total without keys is one number, which all of them show."""
    need = release.need
    # Drawn once: the mean of m draws of one total would have less noise than was paid for.
    if isinstance(need, TotalNeed) and not need.tally.keys and any(keys):
        [one] = draw(release, counts, [()], level, bits=bits)
        return [one] * len(keys)
    if isinstance(release, JointRelease):
        return _draw_joint(release, counts, keys, bits=bits)
    if isinstance(release, PlaceRelease):
        by_key = release.need.counts(counts)
        return [release.draw(by_key.get(key, {}), level, bits=bits) for key in keys]
    if isinstance(release, ChosenRelease):
        cells = choose_cells(release, counts, keys, bits=bits)
        return [ChosenCell(release.need.cells, cell, release.error()) for cell in cells]
    exact = []
    for key in keys:
        exact.append(release.need.exact(counts, key))
    noisy = add_noise(release.mechanism, exact, bits=bits)
    return [NoisyTotal(steps, release.unit, release.mechanism) for steps in noisy]


def _draw_joint(
    release: JointRelease, counts: JointTotals, keys: Sequence[KeyValues], *, bits: Bits | None
) -> list[tuple[NoisyTotal, ...]]:
    """Add noise to all totals of all keys at once."""
    exact = []
    for key in keys:
        exact.append(release.need.exact(counts, key))
    # One array for all: drawing noise in blocks is much faster than key by key.
    flat = list(chain.from_iterable(exact))
    noisy = iter(add_noise(release.mechanism, flat, bits=bits))
    drawn = []
    for totals in exact:
        own = islice(noisy, len(totals))
        drawn.append(tuple(NoisyTotal(steps, release.unit, release.mechanism) for steps in own))
    return drawn


@dataclass(slots=True)
class _RecordingEngine:
    """Engine that keeps the tallies it is asked for, and holds no data."""

    tallies: list[Tally]

    def tally(self, tally: Tally) -> Totals:
        self.tallies.append(tally)
        return {}


def store_texts(plan: Plan, engine: Engine) -> tuple[str, ...]:
    """Return the queries that the engine would run for a plan; the first text selects unknown keys.

    Refuses: what the engine would refuse. So it is called before anything is paid for.
    """
    return tuple(engine.explain(tally) for tally in _tallies(plan))


def _tallies(plan: Plan) -> Sequence[Tally]:
    """List the tallies of a plan in the order in which they are asked for."""
    if plan.within is not None:
        return _tallies(plan.within)
    tallies: list[Tally] = []
    if plan.tables:
        for _, table in plan.tables:
            tallies.extend(_tallies(table))
        return tallies
    recorder = _RecordingEngine(tallies)
    # The count that selects keys is released by the selection, not by a tally of its own.
    needs = [release.need for at, release in enumerate(plan.releases) if at != plan.counted]
    gather(needs, plan.keys or [()], recorder)
    for release in plan.releases:
        if isinstance(release, SetsRelease):
            # The first table is the release's own need, which is recorded above.
            for counted in release.tables[1:]:
                gather([counted.need], counted.cells, recorder)
    if plan.selection is None:
        return tallies
    # Which keys will be selected is not known yet, so the tallies are shown for all keys.
    unrestricted = [replace(tally, only=None) for tally in tallies]
    return [plan.selection.tally, *unrestricted]
