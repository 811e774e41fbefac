"""`discreet audit`: try to refute the privacy claim of a program or a Python function.

Exit codes: 0 not refuted, 1 refuted, 2 bad arguments, 3 not tested.
"""

from __future__ import annotations

import json as json_text
import sys
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ...audit.playback.private import audit_function
from ...audit.playback.report import PlaybackReport
from ...audit.playback.report import sarif as as_sarif
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
        str | None,
        typer.Option(
            help="What to run, with {input} where the input goes; with {size} too, one output a line."
        ),
    ] = None,
    inputs: Annotated[
        tuple[str, str] | None,
        typer.Option(help="Two neighbouring inputs: values, or names of files."),
    ] = None,
    replay: Annotated[
        str | None,
        typer.Option(help="module:function of a data set, audited as it is, instead of a command."),
    ] = None,
    example: Annotated[
        Path | None,
        typer.Option(help="JSON list of rows near which --replay looks for neighbours."),
    ] = None,
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
    sarif: Annotated[
        Path | None, typer.Option(help="With --replay: write SARIF for code review to this file.")
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

    Example, a Python function of a data set, without rewriting it:
    discreet audit --replay my_library:noisy_mean --epsilon 1 --neighbours add-remove

    Exit code: 0 not refuted (which is no proof), 1 refuted,
    2 bad arguments, 3 nothing could be tested.
    """
    with refusals(as_json=json):
        claim = _claim(epsilon, delta, rho, mu)
        report: Report | PlaybackReport
        if replay is not None:
            if command is not None or inputs is not None:
                raise InvalidArgument("--replay runs a function: leave out --command and --inputs")
            report = _replay(replay, claim, neighbours, unit, example)
        elif command is None or inputs is None:
            raise InvalidArgument("say what to audit: --command with --inputs, or --replay")
        else:
            pair = _pair(inputs, neighbours, unit)
            options = {"confidence": confidence, "assume": assume}
            options |= {"neighbours": neighbours, "unit": unit}
            report = _run(command, pair, claim, quiet=json, samples=samples, options=options)
        if html is not None:
            _write(lambda: report.html(html), html)
        if sarif is not None:
            _write_sarif(report, sarif)
    # A verdict is no refusal: it has exit codes of its own.
    _show(report, as_json=json)
    raise typer.Exit(_CODES[report.verdict])


def _show(report: Report | PlaybackReport, *, as_json: bool) -> None:
    """Print a report as JSON, or as text with its verdict in colour."""
    if as_json:
        typer.echo(report.json())
        return
    heading, _, details = str(report).partition("\n")
    typer.secho(heading, fg=_COLOURS[report.verdict], bold=True)
    typer.echo(details)


def _write(make: Callable[[], object], target: Path) -> None:
    try:
        make()
    except OSError as error:
        raise InvalidArgument(f"the page cannot be written to {target}: {error.strerror}") from None


def _write_sarif(report: Report | PlaybackReport, target: Path) -> None:
    if not isinstance(report, PlaybackReport):
        raise InvalidArgument("--sarif belongs to --replay: only it knows lines of code")
    text = as_sarif([report])
    _write(lambda: target.write_text(text, encoding="utf-8"), target)


def _replay(
    name: str, claim: Measure, neighbours: str | None, unit: str | None, example: Path | None
) -> PlaybackReport:
    """Audit a function that is named as module:function, found from the current folder."""
    if neighbours is None:
        raise InvalidArgument("--replay needs --neighbours: add-remove or replace")
    options: dict[str, Any] = {"neighbours": neighbours, "unit": unit}
    if example is not None:
        options["example"] = _rows(example)
    return audit_function(_function(name), claim, **options)


def _rows(example: Path) -> object:
    try:
        return json_text.loads(example.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidArgument(f"{example} cannot be read as JSON rows: {error}") from None


def _function(name: str) -> Callable[[Any], object]:
    """Import the function that `module:function` names, from the current folder too."""
    module, _, function = name.partition(":")
    if not module or not function:
        raise InvalidArgument(f"--replay takes module:function, got {name!r}")
    # As `python -m` does: a module beside the user is found.
    sys.path.insert(0, str(Path.cwd()))
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise InvalidArgument(f"--replay {name}: {error}") from None
    finally:
        sys.path.pop(0)
    return cast("Callable[[Any], object]", found)


def _claim(epsilon: str | None, delta: str | None, rho: str | None, mu: str | None) -> Measure:
    """Return the one measure that is claimed; refuse none or several."""
    given = sum(amount is not None for amount in (epsilon, rho, mu))
    if given != 1:
        raise InvalidArgument(
            "give exactly one claim: --epsilon (with or without --delta), --rho or --mu"
        )
    return cast("Measure", budget_of_flags(epsilon, delta, rho, mu))


def _pair(
    inputs: tuple[str, str], neighbours: str | None, unit: str | None
) -> tuple[object, object]:
    """Return the inputs: as values, or as CSV files where they are to be checked as neighbours."""
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
    """Audit a command with a progress bar on standard error, if that is a terminal."""
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
