"""Command line interface: the same verbs and argument names as the library.

The table COMMANDS names the module of each command. It is imported when the command is called:
`discreet ledger show` does not load the planner, nor `discreet query` the web server.
"""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated

import typer
from typer.core import TyperGroup
from typer.main import get_command

from ..show.nearest import did_you_mean
from .refusal import refusals

if TYPE_CHECKING:
    from typer._click import Command, Context

COMMANDS = {
    "schema": "schema",
    "prepare": "prepare",
    "forget": "forget",
    "query": "question",
    "explain": "question",
    "plan": "question",
    "rehearse": "question",
    "estimate-truncation": "question",
    "release": "release",
    "record": "record",
    "stream": "stream",
    "learn": "learn",
    "synthesize": "synthesize",
    "ledger": "ledger",
    "local": "local",
    "verify-receipt": "receipt",
    "audit": "audit",
    "serve": "serve",
    "people": "people",
    "demo": "demo",
}
"""Commands in the order of the help, with their modules.

A module has a group `app`, or a function of the command's name.
"""

_FORMER = {"estimate-cut": "estimate-truncation"}
"""Former names of commands, which still work; the help does not list them."""


class LazyCommands(TyperGroup):
    """Group whose commands are imported when they are called."""

    def list_commands(self, ctx: Context) -> list[str]:
        """List the commands in the order of the table."""
        del ctx
        return list(COMMANDS)

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Find the command of the first word; refuse an unknown one with the nearest."""
        name = args[0]
        # Options of this program come first; a word that is no option names a command.
        if not name.startswith("-") and name not in COMMANDS and name not in _FORMER:
            hint = did_you_mean(name, COMMANDS) or f"there are {', '.join(COMMANDS)}"
            ctx.fail(f"there is no command {name!r}; {hint}")
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: Context, cmd_name: str) -> Command | None:
        """Return the command of this name, from its own module."""
        del ctx
        # Imports take a moment: Ctrl-C during them ends as orderly as later.
        with refusals():
            name = _FORMER.get(cmd_name, cmd_name)
            if name not in COMMANDS:
                return None
            if name != cmd_name:
                message = f"discreet: {cmd_name} is now {name}; version 0.3 drops it"
                typer.secho(message, err=True, fg="yellow")
            return _load(name)


def _load(name: str) -> Command:
    """Import the module of a command and return the command."""
    module = import_module(f".commands.{COMMANDS[name]}", __package__)
    # The empty callback keeps Typer from turning a single command into the whole program.
    holder = typer.Typer(callback=lambda: None, rich_markup_mode="rich")
    if hasattr(module, "app"):
        holder.add_typer(module.app)
    else:
        function = getattr(module, name.replace("-", "_"))
        holder.command(name)(function)
    command: Command = get_command(holder).commands[name]  # type: ignore[attr-defined]
    return command


app = typer.Typer(
    name="discreet",
    cls=LazyCommands,
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
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and stop."
        ),
    ] = False,
) -> None:
    """Answers about private data, with exact noise, the tightest sound price and an error bar on everything."""
