"""Chart of error against budget: the accuracy that more budget buys, and that less gives up."""

from __future__ import annotations

import math
from fractions import Fraction

from ....curator import Curator
from ....errors import DiscreetError
from ....plan.plan import Plan
from ....show.markup import Html
from ....show.scale import decades
from ....wire.verbs.question import Ask
from ..ask_form import BudgetUnit
from .amount import amount
from .chart import HEIGHT, WIDTH, ChartFrame, axes, circle, path, picture

POINTS = 7


def tradeoff(curator: Curator, ask: Ask, unit: BudgetUnit) -> Html:
    """Draw the error of the first statistic against the spend, and a dot where the question stands."""
    spends = unit.steps[:: max(1, math.ceil(len(unit.steps) / POINTS))]
    delta = getattr(ask.terms.spend, "delta", Fraction())
    try:
        points = [
            (float(step), _error(curator, ask, unit, Fraction(step), delta)) for step in spends
        ]
        here = curator.plan(ask.sql, **ask.terms.words())
    except DiscreetError:
        return Html("")  # some spend on the way cannot be planned: then there is no curve to show
    drawn = [(spend, error) for spend, error in points if math.isfinite(error) and error > 0]
    if not isinstance(here, Plan) or len(drawn) < 2:
        return Html("")
    at = (
        float(getattr(here.spend, "mu", 0) or amount(here.spend)),
        next(iter(here.statistic_errors().values())),
    )
    at = (
        at[0],
        max(at[1], min(error for _, error in drawn) / 2),
    )  # no error at all has no place on this scale
    x, y = ([*(p[i] for p in drawn), at[i]] for i in (0, 1))
    frame = ChartFrame(
        decades(min(x), max(x), 50, WIDTH - 14), decades(min(y), max(y), HEIGHT - 44, 24)
    )
    name = next(iter(here.statistic_errors()))
    parts = [
        axes(frame, f"{unit.symbol} spent", f"95 % error of {name}"),
        path(frame, drawn),
        circle(frame, at, "dot", 6),
    ]
    words = f"The error of {name} falls as more is spent; the dot is this question."
    return picture("Budget against error", words, parts)


def _error(curator: Curator, ask: Ask, unit: BudgetUnit, spend: Fraction, delta: Fraction) -> float:
    plan = curator.plan(ask.sql, unit.measure(spend, delta))
    return next(iter(plan.statistic_errors().values())) if isinstance(plan, Plan) else math.nan
