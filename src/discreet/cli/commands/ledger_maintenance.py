"""`discreet ledger move | import | repair`: a new location, a lost ledger, a wrong clock."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...connection import is_server
from ...errors import InvalidArgument
from ...ledger import Verdict, import_ledger, move_ledger, repair_ledger
from ..flags import JsonFlag
from ..output import echo
from ..refusal import refusals

At = Annotated[
    str, typer.Argument(metavar="LEDGER", help="A file, or postgresql://… of a database.")
]
Name = Annotated[str, typer.Option("--name", help="Which ledger of a database.")]
To = Annotated[
    str, typer.Argument(metavar="TO", help="A new file, or postgresql://… of a database.")
]


def move(
    where: At,
    to: To,
    *,
    name: Name = "main",
    to_name: Annotated[
        str, typer.Option(help="Its name in the database that it goes to.")
    ] = "main",
    as_json: JsonFlag = False,
) -> None:
    """Move a ledger: the chain goes on in the new place, and the old one is closed for good.

    If it is interrupted, say the same again.

    Example: discreet ledger move people.ledger postgresql://ledger@db/curator
    """
    with refusals(as_json=as_json):
        if not is_server(where) and not Path(where).exists():
            raise InvalidArgument(f"{where} is not there; name a ledger that is")
        verdict = move_ledger(where, to, name=name, to_name=to_name)
        tell_verdict(verdict, as_json=as_json)


def import_lines(
    lines: Annotated[
        Path, typer.Argument(metavar="LINES", help="A file that `discreet ledger export` wrote.")
    ],
    to: To,
    *,
    checkpoint: Annotated[
        str | None, typer.Option(help="NUMBER:HASH that was noted before; must be there.")
    ] = None,
    name: Name = "main",
    as_json: JsonFlag = False,
) -> None:
    """Go on with an exported ledger in a new place, where the ledger itself is lost or closed.

    An export is a copy: if its ledger is still charged, the two do not know of each other. Then move it instead.

    Example: discreet ledger import people.jsonl people.ledger
    """
    with refusals(as_json=as_json):
        noted = None
        if checkpoint is not None:
            noted = read_checkpoint(checkpoint)
        verdict = import_ledger(lines, to, name=name, checkpoint=noted)
        tell_verdict(verdict, as_json=as_json)


def repair(
    where: At,
    *,
    lost: Annotated[
        bool, typer.Option("--lost", help="Entries are gone: count all of the budget as spent.")
    ] = False,
    name: Name = "main",
    as_json: JsonFlag = False,
) -> None:
    """Go on after a clock was set wrong: the last entry is of a time that has not come. No spend is forgotten.

    Example: discreet ledger repair people.ledger
    """
    with refusals(as_json=as_json):
        if not is_server(where) and not Path(where).exists():
            raise InvalidArgument(f"{where} is not there; name a ledger that is")
        entry = repair_ledger(where, name=name, lost=lost)
        facts = {"number": entry.number, "time": entry.time, "terms": entry.terms}
        text = f"entry {entry.number} says what was repaired; the ledger goes on at {entry.time}"
        echo(text, facts, as_json=as_json)


def read_checkpoint(said: str) -> tuple[int, str]:
    """Read a checkpoint as `verify` and `backup` show it."""
    number, _, entry_hash = said.partition(":")
    if not number.isdecimal() or not entry_hash:
        raise InvalidArgument(
            f"--checkpoint is written NUMBER:HASH, as verify shows it; got {said[:80]!r}"
        )
    return int(number), entry_hash.strip()


def tell_verdict(verdict: Verdict, *, as_json: bool) -> None:
    """Print the result of a verification."""
    number, entry_hash = verdict.checkpoint
    facts = {
        "holds": True,
        "entries": verdict.entries,
        "charges": verdict.charges,
        "answers": verdict.answers,
        "pending": verdict.pending,
        "checkpoint": f"{number}:{entry_hash}",
    }
    echo(verdict, facts, as_json=as_json)
