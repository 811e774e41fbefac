"""How the strategy of a workload shows itself: its name, the RMSE of every set, what else was tried, and the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...arithmetic.rounding import shown
from ...query.algebra.tree import Question
from ...statistics.releases.set_totals import SetsRelease

if TYPE_CHECKING:
    from ..plan import Plan


def strategy_lines(plan: Plan) -> list[str]:
    """Return the lines below a plan's table; none for a plan without a strategy."""
    if plan.tables:
        return [
            line for _, table in plan.tables for line in strategy_lines(table) if ": by " in line
        ]
    found: list[str] = []
    for place, release in enumerate(plan.releases):
        if isinstance(release, SetsRelease):
            names = [name for name, places in plan.uses if places[0] == place]
            label = names[0] if len(names) == 1 else f"all {len(names)}"
            found += _lines(
                label, release, plan.question if plan.within is None else plan.within.question
            )
    return found


def _lines(name: str, release: SetsRelease, question: Question) -> list[str]:
    made, unit = release.plan, float(release.unit)
    pairs = list(zip(set_labels(question), made.set_rmse, strict=True))
    sets = pairs if release.asked is None else [pairs[place] for place in release.asked]
    errors = ", ".join(f"{label} {shown(rmse * unit, 4)}" for label, rmse in sets)
    tried = ", ".join(f"{one} ({noise}) {shown(rmse * unit, 4)}" for one, noise, rmse in made.tried)
    lines = [f"{name}: by {made.strategy.name}, {made.noise} noise; RMSE of a cell {errors}"]
    lines += [f"{name}: compared by RMSE: {tried}"] if tried else []
    best = f"RMSE ≥ {made.bound.rmse * unit:.4g}; this plan {100 * made.gap:.2g} % above"
    return [*lines, f"{name}: {made.bound.why}: {best}"]


def set_labels(question: Question) -> list[str]:
    """Return the sets of a question by the names of their keys, or what else it counts."""
    names = [key.name for key in question.keys]
    if question.sets is None:
        return [f"up to each {names[0]}" if question.running else "each count"]
    return ["(" + ", ".join(names[i] for i in one) + ")" for one in question.sets]
