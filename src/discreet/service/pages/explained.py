"""What an answer would be made from, cost and miss, as the workbench shows it before anything is spent."""

from __future__ import annotations

from dataclasses import dataclass

from ...curator.explanation import Explanation
from ...plan.plan import Plan
from ...plan.text.plan import share_text
from ...privacy.measures import Measure
from ...show.markup import Html
from ...statistics.releases.choice import ChosenRelease
from ...statistics.releases.place import PlaceRelease
from .words import error_words, percent

__all__ = ["Explained", "PlanRow", "explained_of", "plan_rows"]


@dataclass(frozen=True, slots=True)
class PlanRow:
    """One statistic: how far off, by which mechanism, and what of a person counts."""

    name: str
    error: str
    mechanism: str
    counts: str


@dataclass(frozen=True, slots=True)
class Explained:
    """Everything the piece shows; `size` is said only where an error depends on it."""

    rows: tuple[PlanRow, ...]
    level: str
    size: str
    stored: bool
    after: Measure | None
    texts: tuple[str, ...]
    warnings: tuple[str, ...]
    curve: Html


def explained_of(explanation: Explanation, curve: Html) -> Explained:
    """Lay out an explanation."""
    plan = explanation.plan
    averaged = any(len(places) > 1 for _, places in plan.uses)
    return Explained(
        rows=plan_rows(plan),
        level=percent(float(plan.level)),
        size=f"{plan.size:,}".replace(",", "\u202f") if averaged else "",
        stored=explanation.stored,
        after=explanation.after,
        texts=explanation.texts,
        warnings=tuple(f"{one}." for one in explanation.warnings),
        curve=curve,
    )


def plan_rows(plan: Plan) -> tuple[PlanRow, ...]:
    """Return one row for each statistic, after one for the keys if they are selected privately."""
    rows = []
    if plan.selection is not None:
        counts = share_text(plan.selection.tally.share)
        rows.append(PlanRow("groups", "only common ones", type(plan.selection).__name__, counts))
    errors = plan.statistic_errors()
    for name, places in plan.uses:
        parts = [plan.releases[place] for place in places]
        chosen = isinstance(parts[0], ChosenRelease | PlaceRelease)
        mechanisms = dict.fromkeys(type(part.mechanism).__name__ for part in parts)
        counts = ", ".join(dict.fromkeys(share_text(part.need.tally.share) for part in parts))
        rows.append(
            PlanRow(name, error_words(errors[name], "rows" if chosen else ""), " and ".join(mechanisms), counts)
        )
    return tuple(rows)
