"""`discreet audit`: point the auditor at any program.

Exit codes: 0 not refuted, 1 refuted, 2 bad arguments, 3 not tested.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..audit.report import Report
    from ..privacy.measures import Measure

__all__ = ["audit"]

REFUTED, BAD, NOT_TESTED = 1, 2, 3


def audit(  # noqa: PLR0917 - each argument is an option
    command: Annotated[str, typer.Option(help="What to run, with {input}; with {size} too, one output a line.")],
    inputs: Annotated[tuple[str, str], typer.Option(help="Two neighbouring inputs.")],
    epsilon: Annotated[str | None, typer.Option(help="The claimed ε.")] = None,
    delta: Annotated[str | None, typer.Option(help="The claimed δ, together with ε.")] = None,
    rho: Annotated[str | None, typer.Option(help="The claimed ρ (zCDP), instead of ε.")] = None,
    mu: Annotated[str | None, typer.Option(help="The claimed μ (Gaussian DP), instead of ε.")] = None,
    samples: Annotated[int, typer.Option(help="Runs on each input.")] = 1000,
    confidence: Annotated[float, typer.Option(help="How sure a refutation must be.")] = 0.999,
    assume: Annotated[str | None, typer.Option(help='"gaussian" takes your word for the shape of the noise.')] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write a page with pictures to this file.")] = None,
) -> None:
    """Try to catch a program breaking its privacy claim, by running it on two neighbouring inputs.

    Example: discreet audit --command "python noisy_count.py {input}" --inputs 10 11 --epsilon 1 --samples 2000
    """
    from ..errors import DiscreetError

    try:
        claim = _claim(epsilon, delta, rho, mu)
        report = _run(command, inputs, claim, quiet=json, samples=samples, confidence=confidence, assume=assume)
    except (DiscreetError, OSError) as refusal:
        typer.secho(f"discreet: {refusal}", err=True, fg="red")
        raise typer.Exit(BAD) from None
    if html is not None:
        report.html(html)
    typer.echo(report.json() if json else str(report))
    raise typer.Exit({"refuted": REFUTED, "not tested": NOT_TESTED}.get(report.verdict, 0))


def _claim(epsilon: str | None, delta: str | None, rho: str | None, mu: str | None) -> Measure:
    from ..errors import InvalidArgument
    from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP

    if sum(amount is not None for amount in (epsilon, rho, mu)) != 1:
        raise InvalidArgument("give exactly one claim: --epsilon (with or without --delta), --rho or --mu")
    if epsilon is None and delta is not None:
        raise InvalidArgument("--delta belongs to --epsilon")
    if rho is not None:
        return ZCDP(rho)
    if mu is not None:
        return GaussianDP(mu)
    return PureDP(str(epsilon)) if delta is None else ApproxDP(str(epsilon), delta)


def _run(
    command: str,
    inputs: tuple[str, str],
    claim: Measure,
    *,
    samples: int,
    confidence: float,
    assume: str | None,
    quiet: bool,
) -> Report:
    from rich.console import Console
    from rich.progress import Progress

    from ..audit.command import command_run
    from ..audit.verify import audit as look

    with Progress(console=Console(stderr=True), disable=quiet, transient=True) as bar:
        task = bar.add_task("running", total=2 * samples)
        return look(
            command_run(command),
            claim,
            inputs,
            samples=samples,
            confidence=confidence,
            assume=assume,
            progress=lambda done: bar.advance(task, done),
        )
