"""Presentation of a workload strategy: name, RMSE of every set, alternatives, and the bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...arithmetic.rounding import shown
from ...query.algebra.tree import Question
from ...statistics.releases.set_totals import SetsRelease

if TYPE_CHECKING:
    from ..plan import Plan


def strategy_lines(plan: Plan) -> list[str]:
    """Return the lines below a plan's table; none for a plan without a strategy."""
    lines: list[str] = []
    if plan.tables:
        for _, table in plan.tables:
            # Of several tables only the strategies are shown, without alternatives and bounds.
            lines += [line for line in strategy_lines(table) if ": by " in line]
        return lines
    question = plan.question if plan.within is None else plan.within.question
    for place, release in enumerate(plan.releases):
        if isinstance(release, SetsRelease):
            names = [name for name, places in plan.uses if places[0] == place]
            label = names[0] if len(names) == 1 else f"all {len(names)}"
            lines += _release_lines(label, release, question)
    return lines


def _release_lines(name: str, release: SetsRelease, question: Question) -> list[str]:
    plan = release.plan
    unit = float(release.unit)
    sets = list(zip(set_labels(question), plan.set_rmse, strict=True))
    if release.asked is not None:
        sets = [sets[place] for place in release.asked]
    errors = ", ".join(f"{label} {shown(rmse * unit, 4)}" for label, rmse in sets)
    lines = [f"{name}: by {plan.strategy.name}, {plan.noise} noise; RMSE of a cell {errors}"]
    tried = ", ".join(f"{one} ({noise}) {shown(rmse * unit, 4)}" for one, noise, rmse in plan.tried)
    if tried:
        lines.append(f"{name}: compared by RMSE: {tried}")
    bound = plan.bound
    distance = f"this plan {100 * plan.gap:.2g} % above"
    lines.append(f"{name}: {bound.why}: RMSE ≥ {bound.rmse * unit:.4g}; {distance}")
    return lines


def set_labels(question: Question) -> list[str]:
    """Return a label for each set: the names of its keys, or the kind of count."""
    names = [key.name for key in question.keys]
    if question.sets is None:
        return [f"up to each {names[0]}" if question.running else "each count"]
    labels: list[str] = []
    for key_set in question.sets:
        listed = ", ".join(names[place] for place in key_set)
        labels.append(f"({listed})")
    return labels
