"""The command line: the same verbs and words as the library."""

from __future__ import annotations

from importlib.metadata import version
from typing import Annotated

import typer

from .commands.audit import audit
from .commands.ledger import app as ledger_app
from .commands.local import app as local_app
from .commands.people import app as people_app
from .commands.question import explain, plan, query, rehearse
from .commands.receipt import verify_receipt
from .commands.release import release
from .commands.schema import app as schema_app
from .commands.serve import serve
from .refusal import refusals

__all__ = ["app"]

app = typer.Typer(
    name="discreet",
    help="Answers about private data, with exact noise, the tightest sound price and an error bar on everything.",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"discreet {version('discreet')}")
        raise typer.Exit


@app.callback()
def main(
    _version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and stop.")
    ] = False,
) -> None:
    """Answers about private data, with exact noise, the tightest sound price and an error bar on everything."""


app.add_typer(schema_app)
for command in (query, explain, plan, rehearse, release):
    app.command()(command)
app.add_typer(ledger_app)
app.add_typer(local_app)
app.command("verify-receipt")(verify_receipt)
app.command()(audit)
app.command()(serve)
app.add_typer(people_app)


@app.command()
def demo(
    epsilon: Annotated[str, typer.Option(help="What to spend in all, as pure ε: a number or a fraction.")] = "2",
) -> None:
    """Live through a day of a steward and an analyst on a bundled census sample: ask, by budget and by error, run out.

    Example: discreet demo --epsilon 1/2
    """
    from .commands.demo import show

    with refusals():
        show(epsilon)
