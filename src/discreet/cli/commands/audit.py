"""`discreet audit`: test the privacy claim of any program.

Exit codes: 0 not refuted, 1 refuted, 2 bad arguments, 3 not tested.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ...audit.reports.report import Report
from ...audit.targets.command import TableFile, command_run
from ...audit.verify import audit as run_audit
from ...errors import InvalidArgument
from ...privacy.measures import Measure
from ..budget import budget_of_flags
from ..refusal import refusals

_CODES = {"not refuted": 0, "refuted": 1, "not tested": 3}
_COLOURS = {"not refuted": "green", "refuted": "red", "not tested": "yellow"}


def audit(  # noqa: PLR0917 - each argument is an option
    command: Annotated[
        str,
        typer.Option(
            help="What to run, with {input} where the input goes; with {size} too, one output a line."
        ),
    ],
    inputs: Annotated[
        tuple[str, str], typer.Option(help="Two neighbouring inputs: values, or names of files.")
    ],
    epsilon: Annotated[str | None, typer.Option(help="The claimed ε.")] = None,
    delta: Annotated[str | None, typer.Option(help="The claimed δ, together with ε.")] = None,
    rho: Annotated[str | None, typer.Option(help="The claimed ρ (zCDP), instead of ε.")] = None,
    mu: Annotated[
        str | None, typer.Option(help="The claimed μ (Gaussian DP), instead of ε.")
    ] = None,
    samples: Annotated[int, typer.Option(help="Runs on each input.")] = 1000,
    confidence: Annotated[float, typer.Option(help="How sure a refutation must be.")] = 0.999,
    neighbours: Annotated[
        str | None,
        typer.Option(
            help="add-remove or replace: check that the inputs, two CSV files, are neighbours."
        ),
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="The column that says whose row it is; else a row is a unit.")
    ] = None,
    assume: Annotated[
        str | None, typer.Option(help='"gaussian" takes your word for the shape of the noise.')
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    html: Annotated[
        Path | None, typer.Option(help="Write a page with pictures to this file.")
    ] = None,
) -> None:
    """Try to catch a program breaking its privacy claim, by running it on two neighbouring inputs.

    What the program prints is its output: JSON if it is JSON, else text.

    Example, one noisy count a call:
    discreet audit --command "./count {input}" --inputs 10 11 --epsilon 1

    Example, many a call, much faster, and a page with pictures:
    discreet audit --command "./count {input} {size}" --inputs 10 11
    --epsilon 1 --samples 100000 --html report.html

    Example, two data sets that differ by one person:
    discreet audit --command "./report {input}" --inputs all.csv but_ada.csv
    --epsilon 1 --delta 1e-6 --neighbours add-remove --unit person_id

    Exit code: 0 not refuted (which is no proof), 1 refuted,
    2 bad arguments, 3 nothing could be tested.
    """
    with refusals(as_json=json):
        claim = _claim(epsilon, delta, rho, mu)
        pair = _pair(inputs, neighbours, unit)
        options = {"confidence": confidence, "assume": assume}
        options |= {"neighbours": neighbours, "unit": unit}
        report = _run(command, pair, claim, quiet=json, samples=samples, options=options)
        if html is not None:
            _write(report, html)
    # A verdict is no refusal: it has exit codes of its own.
    _show(report, as_json=json)
    raise typer.Exit(_CODES[report.verdict])


def _show(report: Report, *, as_json: bool) -> None:
    if as_json:
        typer.echo(report.json())
        return
    heading, _, details = str(report).partition("\n")
    typer.secho(heading, fg=_COLOURS[report.verdict], bold=True)
    typer.echo(details)


def _write(report: Report, html: Path) -> None:
    try:
        report.html(html)
    except OSError as error:
        raise InvalidArgument(f"the page cannot be written to {html}: {error.strerror}") from None


def _claim(epsilon: str | None, delta: str | None, rho: str | None, mu: str | None) -> Measure:
    given = sum(amount is not None for amount in (epsilon, rho, mu))
    if given != 1:
        raise InvalidArgument(
            "give exactly one claim: --epsilon (with or without --delta), --rho or --mu"
        )
    return cast("Measure", budget_of_flags(epsilon, delta, rho, mu))


def _pair(
    inputs: tuple[str, str], neighbours: str | None, unit: str | None
) -> tuple[object, object]:
    if neighbours is not None:
        return TableFile(inputs[0]), TableFile(inputs[1])
    if unit is not None:
        raise InvalidArgument(
            "--unit belongs to --neighbours: name the relation that is to be checked"
        )
    return inputs


def _run(
    command: str,
    inputs: tuple[object, object],
    claim: Measure,
    *,
    samples: int,
    quiet: bool,
    options: Mapping[str, Any],
) -> Report:
    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    disabled = quiet or not console.is_terminal
    with Progress(*columns, console=console, disable=disabled, transient=True) as bar:
        # Each of the two inputs gets this number of runs.
        task = bar.add_task("runs", total=2 * samples)

        def advance(done: int) -> None:
            bar.advance(task, done)

        run = command_run(command)
        return run_audit(run, claim, inputs, samples=samples, progress=advance, **options)
