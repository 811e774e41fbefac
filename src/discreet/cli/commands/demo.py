"""`discreet demo`: a day of a steward and an analyst on bundled data.

They declare, explain, ask by budget and by error, use the budget up and read the ledger.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

from ...answer.answer import Answer
from ...arithmetic.rational import positive
from ...curator import Curator
from ...data.columns.column import Category, Integer, Real
from ...data.schema import Schema
from ...data.unit import Rows
from ...engines.duckdb.engine import DuckDB
from ...errors import BudgetExceeded
from ...ledger import open_ledger
from ...privacy.measures import PureDP
from ...samples import example
from ..output import can_draw, write_picture
from ..refusal import refusals

PICTURE = "discreet-demo.png"
PEOPLE = Schema(
    "people",
    Rows(),
    {
        "age": Integer(0, 120),
        "sex": Category([0, 1]),
        "educ": Integer(0, 20),
        "income": Real(0, 150_000, step=1, default=0),
        "married": Category([0, 1]),
    },
)
BY_AGE = """SELECT CASE WHEN age < 40 THEN 'under 40'
            WHEN age < 60 THEN '40 to 59'
            ELSE '60 and over' END AS ages,
       COUNT(*) AS people, AVG(income) AS income
FROM people GROUP BY ages"""
MARRIED = "SELECT COUNT(*) AS married FROM people WHERE married = 1"
MEDIAN = "SELECT MEDIAN(income) AS median_income FROM people"


def demo(
    epsilon: Annotated[
        str, typer.Option(help="What to spend in all, as pure ε: a number or a fraction.")
    ] = "2",
) -> None:
    """Show how a steward declares a census sample, an analyst asks by budget and by error, and a question is refused.

    Example: discreet demo --epsilon 1/2
    """
    with refusals():
        show(epsilon)


def show(epsilon: str, console: Console | None = None, folder: Path | None = None) -> None:
    """Run the demonstration under one pure budget; its picture is written to `folder`."""
    budget = PureDP(positive(epsilon, "epsilon"))
    screen = console or Console()
    with (
        tempfile.TemporaryDirectory() as home,
        open_ledger(Path(home) / "people.ledger", budget) as ledger,
    ):
        store = DuckDB({"people": example("pums.csv")})
        try:
            curator = Curator(store, [PEOPLE], ledger, who="ana")
            _run(curator, budget, screen, folder or Path.cwd())
        finally:
            store.close()


def _run(curator: Curator, budget: PureDP, screen: Console, folder: Path) -> None:
    """Print the scenes of the demonstration, each with its question and its answer."""
    half = PureDP(budget.epsilon / 2)
    step = _steps(screen)
    step(
        "The steward declares public facts, and a budget that is never exceeded",
        f"{PEOPLE}\nbudget: {budget}",
    )
    step("Ana asks for price and error first; no row is read, nothing is spent", BY_AGE)
    plan = curator.plan(BY_AGE, spend=half)
    screen.print(Text(str(plan)))
    step(f"She asks by budget: {half}")
    answer = curator.sql(BY_AGE, spend=half, why="income by age")
    screen.print(Text(str(answer)))
    step("She asks by error: ± 20 is enough, the planner finds the price", MARRIED)
    married = curator.sql(MARRIED, error=20, why="a rough count")
    screen.print(Text(str(married)))
    step("She asks the first question again: the same answer, for free")
    again = curator.sql(BY_AGE, spend=half)
    screen.print(f"the same numbers: {again.rows == answer.rows}; {curator.left()} is left")
    step("She asks for more than is left", MEDIAN)
    # Half of the budget and more is spent by now, so the whole of it is refused.
    try:
        curator.sql(MEDIAN, spend=budget)
    except BudgetExceeded as refusal:
        screen.print(f"[red]refused:[/red] {refusal}")
    step("The steward reads the ledger and verifies it")
    screen.print(Text(str(curator.ledger.history())))
    screen.print(Text(f"\n{curator.ledger.verify()}\n"))
    _picture(answer, screen, folder)
    screen.print(
        "The same behind HTTP, with a page for people: "
        "[bold]discreet serve --demo[/bold] (or make serve)."
    )


def _steps(screen: Console) -> Callable[..., None]:
    """Return a function that prints the numbered heading of a scene, and its SQL or text."""
    numbers = count(1)

    def step(title: str, body: str = "") -> None:
        screen.print(f"\n[bold cyan]{next(numbers)}[/bold cyan] [bold]{title}[/bold]")
        if body.startswith("SELECT"):
            code = Syntax(body, "sql", background_color="default", word_wrap=True)
            screen.print(Panel(code, expand=False, border_style="dim"))
        elif body:
            # As plain text: brackets in it are no markup.
            screen.print(Text(body))

    return step


def _picture(answer: Answer, screen: Console, folder: Path) -> None:
    """Draw the first answer into a file, if matplotlib is installed."""
    if not can_draw():
        screen.print("A picture of the answer needs matplotlib: pip install 'discreet[plot]'")
        return
    path = folder / PICTURE
    write_picture(answer, path, title="People by age")
    screen.print(f"A picture of the first answer is in [bold]{path.name}[/bold].")
