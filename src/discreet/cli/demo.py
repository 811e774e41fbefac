"""The main job on bundled data: private answers with error bars, and what they cost."""

from __future__ import annotations

import csv
from collections import Counter
from dataclasses import dataclass
from importlib.resources import files

from rich.console import Console
from rich.table import Table

from ..mechanisms.geometric import Geometric
from ..mechanisms.laplace import Laplace
from ..mechanisms.sensitivity import count, histogram, sum_of
from ..privacy.compose import compose
from ..privacy.events import Event
from ..privacy.measures import PureDP
from ..privacy.rounding import shown
from ..rational import positive
from .bars import bar

__all__ = ["show"]

DECADES = tuple(range(0, 100, 10))
INCOME_BOUND = 100_000
BETA = 0.05
DAYS = 30


@dataclass(frozen=True, slots=True)
class Line:
    """One released number and how far off it may be."""

    label: str
    value: float
    error: float


@dataclass(frozen=True, slots=True)
class Release:
    """What one question gave: its lines, its mechanism in words, and its event."""

    question: str
    mechanism: str
    spent: PureDP
    event: Event
    lines: tuple[Line, ...]


def _people() -> list[dict[str, str]]:
    text = files("discreet.samples").joinpath("pums.csv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))


def _ages(people: list[dict[str, str]], spend: PureDP) -> Release:
    noise = Geometric.spending(spend, sensitivity=histogram())
    true = Counter(min(int(p["age"]), 99) // 10 * 10 for p in people)
    error = float(noise.error(BETA, cells=len(DECADES)))
    lines = tuple(Line(f"{d}-{d + 9}" if d < 90 else "90+", noise.release(true[d]), error) for d in DECADES)
    return Release("people by age", "Geometric, one histogram", spend, noise.event, lines)


def _counts(people: list[dict[str, str]], spend: PureDP) -> Release:
    noise = Geometric.spending(spend, sensitivity=count())
    true = sum(p["married"] == "1" for p in people)
    lines = (Line("married", noise.release(true), float(noise.error(BETA))),)
    return Release("married people", "Geometric, one count", spend, noise.event, lines)


def _income(people: list[dict[str, str]], spend: PureDP) -> Release:
    noise = Laplace.spending(spend, sensitivity=sum_of(0, INCOME_BOUND))
    true = sum(min(max(float(p["income"]), 0.0), INCOME_BOUND) for p in people)
    lines = (Line("total income", noise.release(true), float(noise.error(BETA))),)
    return Release(f"total income, each clipped to 0..{INCOME_BOUND:,}", "Laplace, one sum", spend, noise.event, lines)


def show(epsilon: str, console: Console | None = None) -> None:
    """Release three answers under one pure budget and print them with their error bars and their cost.

    The budget is split half to the histogram and a quarter to each of the others.
    """
    total = positive(epsilon, "epsilon")
    people = _people()
    console = console or Console()
    console.print(
        "\n[bold]discreet[/bold] answers questions about 1,000 people of a US census sample; one person is one row."
        f"\nThe budget is [bold]ε = {total}[/bold] in all. Each ± holds with 95 % (jointly over the ten ages).\n"
    )
    shares = (_ages, total / 2), (_counts, total / 4), (_income, total / 4)
    releases = [ask(people, PureDP(share)) for ask, share in shares]
    for release in releases:
        console.print(_table(release))
    console.print(_cost(releases, PureDP(total)))


def _table(release: Release) -> Table:
    table = Table(title=release.question, title_justify="left", title_style="bold", show_header=False, box=None)
    most = max(line.value + line.error for line in release.lines)
    for line in release.lines:
        drawn = bar(line.value, line.error, most, width=36)
        table.add_row(line.label, drawn, f"{line.value:,.0f}", f"± {line.error:,.0f}")
    table.caption = f"{release.mechanism}; cost {release.spent}\n"
    table.caption_justify = "left"
    return table


def _cost(releases: list[Release], budget: PureDP) -> Table:
    table = Table(title="What it cost", title_justify="left", title_style="bold")
    for heading in ("question", "mechanism", "spent"):
        table.add_column(heading)
    for release in releases:
        table.add_row(release.question, release.mechanism, str(release.spent))
    curve = compose([release.event for release in releases])
    month = compose([release.event for release in releases] * DAYS)
    table.add_section()
    table.add_row("all three", "sum (δ = 0)", f"ε = {shown(curve.epsilon(delta=0))}")
    table.add_row("left of the budget", "", f"ε = {shown(float(budget.epsilon) - curve.epsilon(delta=0))}")
    table.add_section()
    table.add_row(f"the same on {DAYS} days", "sum (δ = 0)", f"ε = {shown(month.epsilon(delta=0))}")
    table.add_row("", "tightest price (δ = 1e-6)", f"ε = {shown(month.epsilon(delta=1e-6))}")
    return table
