"""`discreet ledger`: create, show, verify, export and back up a ledger; set allowances.

`move`, `import` and `repair` are for a new location, a lost ledger and a wrong clock.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, cast

import typer
from rich.console import Console
from rich.progress import Progress

from ...connection import is_server
from ...data.blocks import Blocks
from ...errors import InvalidArgument
from ...ledger import (
    Ledger,
    Parts,
    Verdict,
    import_ledger,
    move_ledger,
    open_ledger,
    repair_ledger,
    verify_export,
)
from ...privacy.budget_text import budget_to_table, parse_budget
from ...privacy.filters.options import FilterKind
from ...privacy.measures import Neighbours
from ...show.table import text_table
from ...wire.reply import entry_to_json
from ..budget import budget_of_flags, pairs
from ..flags import DeltaFlag, EpsilonFlag, JsonFlag, MuFlag, RhoFlag
from ..ledger_access import open_existing
from ..output import echo
from ..refusal import refusals

app = typer.Typer(
    name="ledger",
    help="Keep what has been spent: make a ledger, look at it, prove that it holds.",
    no_args_is_help=True,
)

At = Annotated[
    str, typer.Argument(metavar="LEDGER", help="A file, or postgresql://… of a database.")
]
Name = Annotated[str, typer.Option("--name", help="Which ledger of a database.")]
To = Annotated[
    str, typer.Argument(metavar="TO", help="A new file, or postgresql://… of a database.")
]
Checkpoint = Annotated[
    str | None, typer.Option(help="NUMBER:HASH that was noted before; must be there.")
]


_BLOCKS = re.compile(r"([^.=]+)\.([^=]+)=([a-z]+),(stays|most)=([0-9]{1,9})")


@app.command()
def create(
    where: At,
    *,
    epsilon: EpsilonFlag = None,
    delta: DeltaFlag = None,
    rho: RhoFlag = None,
    mu: MuFlag = None,
    kind: Annotated[
        str | None, typer.Option(help="How spending adds up: pure, zcdp, residue, …; see docs.")
    ] = None,
    keep_delta: Annotated[
        str | None, typer.Option(help="The part of δ that is kept for unknown keys.")
    ] = None,
    neighbours: Annotated[
        str | None, typer.Option(help="add-remove or replace; else the first charge says.")
    ] = None,
    allow: Annotated[
        list[str] | None, typer.Option(help="An allowance: ana=1, or '*=1/2' for all others.")
    ] = None,
    window: Annotated[
        str | None, typer.Option(help="The budget begins anew each day, week, month, …")
    ] = None,
    parts: Annotated[
        str | None, typer.Option(help="Disjoint public parts: visits.month=2026-04,2026-05.")
    ] = None,
    blocks: Annotated[
        str | None,
        typer.Option(help="A promise for life, by blocks of time: visits.day=week,stays=26."),
    ] = None,
    name: Name = "main",
    as_json: JsonFlag = False,
) -> None:
    """Make a new ledger with a budget; its terms are fixed then.

    Example: discreet ledger create people.ledger --epsilon 3 --allow ana=1 --allow "*=1/2"
    """
    with refusals(as_json=as_json):
        budget = budget_of_flags(epsilon, delta, rho, mu)
        if budget is None:
            raise InvalidArgument(
                "a ledger needs a budget: --epsilon (with or without --delta), --rho or --mu"
            )
        # Its terms are fixed for good: an existing ledger is never overwritten.
        if not is_server(where) and Path(where).exists():
            raise InvalidArgument(
                f"{where} is there already; look at it by: discreet ledger show {where}"
            )
        allowances = {}
        for who, amount in pairs(allow, "--allow").items():
            allowances[who] = parse_budget(amount, "--allow")
        with open_ledger(
            where,
            budget,
            kind=cast("FilterKind | None", kind),
            delta=keep_delta,
            neighbours=cast("Neighbours | None", neighbours),
            allowances=allowances or None,
            window=window,  # type: ignore[arg-type]
            parts=None if parts is None else _parts(parts),
            blocks=None if blocks is None else _blocks(blocks),
            name=name,
        ) as ledger:
            _show(ledger, as_json=as_json)


def _parts(option: str) -> Parts:
    """Read TABLE.COLUMN=VALUE,VALUE,… as public parts that are charged in parallel."""
    path, equals, values = option.partition("=")
    table, dot, column = path.partition(".")
    if not equals or not dot:
        raise InvalidArgument(f"--parts is written TABLE.COLUMN=VALUE,VALUE,…, got {option!r}")
    return Parts(table, column, [value.strip() for value in values.split(",")])


def _blocks(option: str) -> Blocks:
    """Read TABLE.COLUMN=week,stays=26 as blocks of time."""
    match = _BLOCKS.fullmatch(option)
    if match is None:
        raise InvalidArgument(
            f"--blocks is written TABLE.COLUMN=week,stays=26 or TABLE.COLUMN=month,most=6, got {option!r}"
        )
    table, column, per, limit, count = match.groups()
    limits = {limit: int(count)}
    return Blocks(table, column, per, **limits)  # type: ignore[arg-type]


def _show(ledger: Ledger, *, as_json: bool) -> None:
    """Print budget, spent and left, and what is left by block if there are blocks."""
    promise = ledger.promise()
    kind = ledger.terms.kind
    spent = ledger.spent()
    left = ledger.left()
    facts: dict[str, object] = {
        "budget": budget_to_table(promise),
        "kind": kind,
        "spent": budget_to_table(spent),
        "left": budget_to_table(left),
    }
    text = f"budget  {promise}, counted as {kind}\nspent   {spent}\nleft    {left}"
    if ledger.terms.blocks is not None:
        left_by_block = ledger.left_by_block()
        facts["blocks"] = ledger.terms.blocks.to_json()
        facts["left_by_block"] = [
            {"part": part, "left": budget_to_table(amount)} for part, amount in left_by_block
        ]
        rows = [(part, str(amount)) for part, amount in left_by_block]
        text += f"\nblocks  {ledger.terms.blocks}\n\n{text_table([('block', 'left'), *rows])}"
    echo(text, facts, as_json=as_json)


@app.command()
def show(where: At, *, name: Name = "main", as_json: JsonFlag = False) -> None:
    """Show the budget, what was spent and what is left.

    Example: discreet ledger show people.ledger
    """
    with refusals(as_json=as_json), open_existing(where, name) as ledger:
        _show(ledger, as_json=as_json)


@app.command()
def history(
    where: At,
    *,
    who: Annotated[str | None, typer.Option(help="Only the entries of this person.")] = None,
    last: Annotated[int | None, typer.Option(help="Only the last few.")] = None,
    name: Name = "main",
    as_json: JsonFlag = False,
) -> None:
    """List the entries: who asked what, when, why, and what was charged.

    Example: discreet ledger history people.ledger --last 20
    """
    with refusals(as_json=as_json), open_existing(where, name) as ledger:
        found = ledger.history(who, last)
        entries = []
        for entry in found:
            # The text of a question is beside the entry: it is no part of its hash.
            text = found.asked.get(entry.number)
            entries.append({**entry_to_json(entry), "asked": text})
        echo(found, entries, as_json=as_json)


@app.command()
def verify(
    where: At,
    *,
    checkpoint: Checkpoint = None,
    name: Name = "main",
    as_json: JsonFlag = False,
) -> None:
    """Prove the chain: check every hash and price every charge anew. Exit code 1 if it does not hold.

    LEDGER may also be a file written by `discreet ledger export`.

    Example: discreet ledger verify people.ledger
    """
    with refusals(as_json=as_json):
        noted = _read_checkpoint(checkpoint)
        with Progress(console=Console(stderr=True), disable=as_json, transient=True) as bar:
            task = bar.add_task("verifying", total=None)

            def advance(done: int, total: int) -> None:
                bar.update(task, completed=done, total=total)

            # Exports are verified from the file alone, without any ledger.
            if not is_server(where) and where.endswith((".jsonl", ".json")):
                verdict = verify_export(where, advance, checkpoint=noted)
            else:
                with open_existing(where, name) as ledger:
                    verdict = ledger.verify(advance, checkpoint=noted)
        _tell_verdict(verdict, as_json=as_json)


@app.command()
def allow(
    where: At,
    who: Annotated[str, typer.Argument(help="A name; '*' is everyone who is not named.")],
    budget: Annotated[
        str, typer.Argument(help="Such as epsilon=1 or rho=1/8; 'none' withdraws it.")
    ],
    *,
    name: Name = "main",
    as_json: JsonFlag = False,
) -> None:
    """Give somebody an allowance under the budget, change it, or withdraw it.

    Example: discreet ledger allow people.ledger ana epsilon=1
    """
    with refusals(as_json=as_json), open_existing(where, name) as ledger:
        allowance = None
        if budget != "none":
            allowance = parse_budget(budget, "an allowance")
        entry = ledger.allow(who, allowance)
        facts = {"number": entry.number, "who": who}
        echo(f"entry {entry.number}: {who} may spend {budget}", facts, as_json=as_json)


@app.command()
def export(
    where: At,
    out: Annotated[Path, typer.Argument(help="A new .jsonl file.")],
    *,
    answers: Annotated[
        bool, typer.Option("--answers", help="The stored answers too, as an import needs them.")
    ] = False,
    name: Name = "main",
    as_json: JsonFlag = False,
) -> None:
    """Write all entries as lines of JSON, for whoever is to check them elsewhere.

    Example: discreet ledger export people.ledger people.jsonl
    """
    with refusals(as_json=as_json), open_existing(where, name) as ledger:
        count = ledger.export(out, answers=answers)
        echo(f"{count} entries written to {out}", {"entries": count}, as_json=as_json)


@app.command()
def backup(
    where: At,
    out: Annotated[Path, typer.Argument(help="A new file.")],
    *,
    as_json: JsonFlag = False,
) -> None:
    """Copy a ledger's file while it is in use. Keep the checkpoint that is shown: an older copy forgets spending.

    Example: discreet ledger backup people.ledger people-monday.ledger
    """
    with refusals(as_json=as_json), open_existing(where, "main") as ledger:
        number, entry_hash = ledger.backup(out)
        checkpoint = f"{number}:{entry_hash}"
        echo(f"{out} ends with entry {checkpoint}", {"checkpoint": checkpoint}, as_json=as_json)


@app.command()
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
        _check_there(where)
        verdict = move_ledger(where, to, name=name, to_name=to_name)
        _tell_verdict(verdict, as_json=as_json)


@app.command("import")
def import_lines(
    lines: Annotated[
        Path, typer.Argument(metavar="LINES", help="A file that `discreet ledger export` wrote.")
    ],
    to: To,
    *,
    checkpoint: Checkpoint = None,
    name: Name = "main",
    as_json: JsonFlag = False,
) -> None:
    """Go on with an exported ledger in a new place, where the ledger itself is lost or closed.

    An export is a copy: if its ledger is still charged, the two do not know of each other. Then move it instead.

    Example: discreet ledger import people.jsonl people.ledger
    """
    with refusals(as_json=as_json):
        noted = _read_checkpoint(checkpoint)
        verdict = import_ledger(lines, to, name=name, checkpoint=noted)
        _tell_verdict(verdict, as_json=as_json)


@app.command()
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
        _check_there(where)
        entry = repair_ledger(where, name=name, lost=lost)
        facts = {"number": entry.number, "time": entry.time, "terms": entry.terms}
        text = f"entry {entry.number} says what was repaired; the ledger goes on at {entry.time}"
        echo(text, facts, as_json=as_json)


def _check_there(where: str) -> None:
    """Refuse a file that is missing, before anything is made in its place."""
    if not is_server(where) and not Path(where).exists():
        raise InvalidArgument(f"{where} is not there; name a ledger that is")


def _read_checkpoint(said: str | None) -> tuple[int, str] | None:
    """Read a checkpoint as `verify` and `backup` show it; None if none is given."""
    if said is None:
        return None
    number, _, entry_hash = said.partition(":")
    if not number.isdecimal() or not entry_hash:
        raise InvalidArgument(
            f"--checkpoint is written NUMBER:HASH, as verify shows it; got {said[:80]!r}"
        )
    return int(number), entry_hash.strip()


def _tell_verdict(verdict: Verdict, *, as_json: bool) -> None:
    """Print the result of a verification that found no error: counts and checkpoint."""
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
