"""`discreet forget`: list people, so that `discreet prepare --forgotten` leaves their rows out.

Removes the prepared stores that are named; prints what stays and why, and what is left to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...engines.duckdb.manifest import is_store
from ...errors import InvalidArgument
from ...intake.forgotten import read_forgotten
from ..flags import JsonFlag
from ..output import echo
from ..refusal import refusals

PERSON = (
    "Your rows will not be counted in any new answer, and the working copies that held them are "
    "removed. Published numbers stay: each has noise that hides whether you were in the data, and "
    "would be about as likely without you, up to the promised factor. We keep a scrambled mark of "
    "your id, so that you are not counted beyond the promise should you return; beside it, while a "
    "standing report counts each person on so many days, the days that you have used up; nothing else."
)
REGULATOR = (
    "Removed: prepared copies with the person's rows. Kept: the ledger and its answers, which are "
    "differentially private; the promise compares with a world without this person, so withdrawing "
    "or recomputing an answer would add information about them instead of removing it. Kept: a keyed "
    "hash of the id, so that a person who returns is not counted beyond the promise. For a stream "
    "that counts each person on so many days its key file keeps, by another keyed hash, the days that "
    "are used up, until the stream has ended. No other day, no count and no attribute is kept."
)
"""Words for the person who asked, and for the regulator; the documentation repeats both."""


def forget(
    people: Annotated[
        list[str], typer.Argument(metavar="ID…", help="Ids as they are stored in the data.")
    ],
    *,
    forgotten: Annotated[
        Path, typer.Option(help="The list of forgotten people; made if it is not there.")
    ],
    store: Annotated[
        list[Path] | None, typer.Option(help="A prepared store to remove: it holds their rows.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Forget people: list them by keyed hash, remove prepared copies, and say what stays and why.

    Example: discreet forget 4711 --forgotten visits.forgotten --store visits.store
    """
    with refusals(as_json=as_json):
        stores = store or []
        # Refused before any effect: a file that is no store is not removed.
        for path in stores:
            if not path.is_file() or not is_store(path):
                raise InvalidArgument(
                    f"{path} is no prepared store; name stores of `prepare` alone"
                )
        known = read_forgotten(forgotten, new=True)
        listed = known.adding(people)
        # First the list: after a death here the copies are still there, and are removed by the
        # same command; the other way round a new copy could be made with the rows in it.
        listed.save(forgotten)
        for path in stores:
            path.unlink()
        _report(forgotten, stores, len(listed.hashes) - len(known.hashes), as_json=as_json)


def _report(forgotten: Path, stores: list[Path], new: int, *, as_json: bool) -> None:
    """Print what was listed and removed, what is left to do, and words for person and regulator."""
    removed = [str(path) for path in stores]
    left_to_do = [
        "delete their rows in the sources themselves, all of them, on a date that is public",
        f"prepare again: discreet prepare … --forgotten {forgotten}",
    ]
    facts = {
        "new": new,
        "list": str(forgotten),
        "removed": removed,
        "left_to_do": left_to_do,
        "person": PERSON,
        "regulator": REGULATOR,
    }
    lines = [
        f"listed   {new} new in {forgotten}, by keyed hash",
        f"removed  {', '.join(removed) or 'nothing: no --store was named'}",
        *(f"to do    {step}" for step in left_to_do),
        "",
        f"For the person: {PERSON}",
        "",
        f"For the regulator: {REGULATOR}",
    ]
    echo("\n".join(lines), facts, as_json=as_json)
