"""The real way from a question to its answer, with every mechanism on a tape: what goes in is measured, what comes out
is frozen. Nothing but the two functions that add noise is put aside for the recorder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NamedTuple

import numpy as np
import pytest

from discreet.answer import ask, run_plan
from discreet.answer.ask import draw
from discreet.engines.memory.engine import Memory
from discreet.mechanisms.selection.quantile_interval import (
    IntervalSelection,
    outcome_depths,
    ranks_beyond,
)
from discreet.mechanisms.selection.quantile_pair import QuantileAndInterval
from discreet.mechanisms.selection.quantiles import SplitQuantiles
from discreet.plan.selection import Selection
from discreet.plan.thresholded_count import CountSelection
from discreet.query.algebra.tally import KeptKeys
from discreet.query.bounds.relation_facts import neighbours_of
from discreet.statistics.releases import quantile_intervals as parts
from discreet.statistics.releases.choice import ChosenRelease
from discreet.statistics.releases.quantile_release import PlaceRelease
from oracles.quantile_pairs import list_pairs


class Norms(NamedTuple):
    l1: int
    squared_l2: int
    linf: int


@dataclass(frozen=True)
class Step:
    """One release as the recorder wants it: what it declares, and what it does."""

    name: str
    sensitivity: object
    do: Callable[[], object] = field(compare=False, repr=False)

    def release(self, _value: object) -> object:
        return self.do()


def combined(need, counts, keys) -> np.ndarray:
    """Score every combination of choices over the keys by its sum: one choice in all."""
    each = [np.array(need.scores(counts, key), dtype=object) for key in keys]
    return reduce(np.add.outer, each).ravel()


def recorded_draw(recorder):
    def drawn(release, counts, keys, level, *, bits=None):
        def do():
            return draw(release, counts, keys, level, bits=bits)

        if isinstance(
            release, PlaceRelease
        ):  # its choices are on the tape one by one: see `recorded_choice`
            return do()
        if isinstance(release, ChosenRelease):
            step = Step("choice", release.mechanism.sensitivity, do)
            return recorder.release(step, combined(release.need, counts, keys), norm="linf")
        step = Step("noise", release.mechanism.sensitivity, do)
        return recorder.release(
            step, np.array([release.need.exact(counts, key) for key in keys], dtype=object)
        )

    return drawn


def recorded_choice(recorder):
    """One choice of a quantile: all its places are scored, and its part follows from what was chosen before."""
    plain = SplitQuantiles._draw

    def drawn(self, rows, where, aim, level, far, *, bits):  # noqa: PLR0917
        wanted = aim.rank(rows.below(where.end) - rows.below(where.low), self.weight)
        scores = [
            -rows.depth(where, place, wanted, aim.scale)
            for place in range(where.low, where.high + 1)
        ]
        step = Step(
            "place",
            self.sensitivity(aim, level),
            lambda: plain(self, rows, where, aim, level, far, bits=bits),
        )
        return recorder.release(step, np.array(scores, dtype=object), norm="linf")

    return drawn


def recorded_reach(recorder):
    """How far an interval reaches: all distances are scored."""
    plain = IntervalSelection.release

    def released(self, rows, where, centre, aims, scale, beta, *, bits=None):  # noqa: PLR0917
        low, high = ranks_beyond(rows, where, centre, aims, scale)
        outcomes = 1 + len(low or high) * (3 if low and high else 1)
        scores = [-depth for depth in outcome_depths(low, high, self.error(outcomes, beta))]
        step = Step(
            "reach",
            self.sensitivity,
            lambda: plain(self, rows, where, centre, aims, scale, beta, bits=bits),
        )
        return recorder.release(step, np.array(scores, dtype=object), norm="linf")

    return released


def recorded_pair(recorder):
    """A value and its interval at once: the levels of all pairs, rounded down and cut off."""
    plain = QuantileAndInterval.release

    def released(self, rows, where, beta, *, bits=None):
        counts = {cell: rows.before[i + 1] - rows.before[i] for i, cell in enumerate(rows.cells)}
        slack, cut = self.slack(where.places, beta), self.cut(where.places, beta)
        listed = list_pairs(self.aim.at, counts, slack, self.weight, (where.low, where.high))
        scores = []
        for kinds in listed.values():
            for depth, _, _ in kinds:
                scores.append(-min(self.fineness * depth // self.sensitivity, cut))
        step = Step("pair", self.fineness, lambda: plain(self, rows, where, beta, bits=bits))
        return recorder.release(step, np.array(scores, dtype=object), norm="linf")

    return released


def recorded_counts(recorder):
    """The rows between several quantiles: noise on all counts at once."""
    plain = parts._noisy

    def noisy(noise, exact, *, bits=None):
        step = Step("counts", noise.sensitivity, lambda: plain(noise, exact, bits=bits))
        return recorder.release(step, np.array(exact, dtype=object), norm="l1")

    return noisy


def recorded_selection(recorder, universe, units):
    """People per key: one each in at most l0 keys; two units change where one is replaced."""
    plain = Selection.release

    def release(self, counts, *, bits=None):
        l0 = units * self.rule.max_groups
        step = Step("selection", Norms(l0, l0, 1), lambda: plain(self, counts, bits=bits))
        return recorder.release(step, [counts.get(key, 0) for key in universe])

    return release


def recorded_count(recorder, universe):
    """The count that shows keys: its input is the exact totals of all keys there could be."""
    plain = CountSelection.show

    def show(self, counts, *, bits=None):
        step = Step(
            "count", self.release.mechanism.sensitivity, lambda: plain(self, counts, bits=bits)
        )
        return recorder.release(step, [counts.get(key, 0) for key in universe])

    return show


def with_one_salt(tally, *, bits=None):
    """Which keys a person keeps is drawn independently of the data, so it is the same for both neighbours."""
    return (
        replace(tally, share=replace(tally.share, salt="x"))
        if isinstance(tally.share, KeptKeys)
        else tally
    )


def program(plan, universe=(), store=Memory):
    """Make a program for `replay`: the whole way, and everything an analyst sees of the answer."""
    units = 1 if neighbours_of(plan.question.rows) == "add-remove" else 2

    def run(rows, recorder):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ask, "draw", recorded_draw(recorder))
            patch.setattr(
                "discreet.mechanisms.selection.quantiles._PARTS", 4
            )  # all places are scored: few will do
            patch.setattr(SplitQuantiles, "_draw", recorded_choice(recorder))
            patch.setattr(IntervalSelection, "release", recorded_reach(recorder))
            patch.setattr(QuantileAndInterval, "release", recorded_pair(recorder))
            patch.setattr(parts, "_noisy", recorded_counts(recorder))
            patch.setattr(
                "discreet.statistics.releases.quantile_release.uniform",
                lambda length, bits=None: length - 1,
            )
            patch.setattr(Selection, "release", recorded_selection(recorder, universe, units))
            patch.setattr(CountSelection, "show", recorded_count(recorder, universe))
            patch.setattr(ask, "with_secret_salt", with_one_salt)
            answer = run_plan(plan, store({"visits": rows}), level=0.9)
        return answer.to_dict(0.9), str(answer), answer.columns, len(answer)

    return run
