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
from ..number_text import percent
from .amount import amount
from .chart import HEIGHT, WIDTH, ChartFrame, axes, circle, path, picture

POINTS = 7


def tradeoff(curator: Curator, ask: Ask, unit: BudgetUnit) -> Html:
    """Draw the error of the first statistic against the spend, with a dot for this question.

    Empty if a spend of the curve cannot be planned, or fewer than two points have a positive error.
    """
    spends = unit.steps[:: max(1, math.ceil(len(unit.steps) / POINTS))]
    delta = getattr(ask.terms.spend, "delta", Fraction())
    drawn = []
    try:
        for step in spends:
            error = _error(curator, ask, unit, Fraction(step), delta)
            if math.isfinite(error) and error > 0:
                drawn.append((float(step), error))
        here = curator.plan(ask.sql, **ask.terms.words())
    except DiscreetError:
        # Some spend on the way cannot be planned: then there is no curve to show.
        return Html("")
    if not isinstance(here, Plan) or len(drawn) < 2:
        return Html("")
    name, error = next(iter(here.statistic_errors().items()))
    spend = float(getattr(here.spend, "mu", 0) or amount(here.spend))
    errors = [error for _, error in drawn]
    # No error at all has no place on a logarithmic axis.
    dot = (spend, max(error, min(errors) / 2))
    all_spends = [*(spend for spend, _ in drawn), dot[0]]
    all_errors = [*errors, dot[1]]
    x = decades(min(all_spends), max(all_spends), 50, WIDTH - 14)
    y = decades(min(all_errors), max(all_errors), HEIGHT - 44, 24)
    frame = ChartFrame(x, y)
    parts = [
        axes(frame, f"{unit.symbol} spent", f"{percent(float(here.level))} error of {name}"),
        path(frame, drawn),
        circle(frame, dot, "dot", 6),
    ]
    words = f"The error of {name} falls as more is spent; the dot is this question."
    if name in here.error_ranges():
        words += " It is drawn for the data that the plan supposes; other data move all of it."
    return picture("Budget against error", words, parts)


def _error(curator: Curator, ask: Ask, unit: BudgetUnit, spend: Fraction, delta: Fraction) -> float:
    plan = curator.plan(ask.sql, unit.measure(spend, delta), level=ask.terms.level)
    if not isinstance(plan, Plan):
        return math.nan
    return next(iter(plan.statistic_errors().values()))
