"""What a refusal looks like on the command line: one line on standard error, and an exit code.

    0   done
    1   caught: a claim refuted, a ledger or receipt that does not verify
    2   refused: the arguments, the schema or the question will not do
    3   the budget is exceeded, or this person may not spend
    4   could not be done now: the ledger is busy, the store failed, the line broke

Nothing is spent by a refusal of 2 or 3; after 4 the ledger's history says what was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ..errors import (
    BudgetExceeded,
    ClaimRefuted,
    DiscreetError,
    EngineFailure,
    LedgerConflict,
    LedgerCorrupt,
    NoRandomness,
    NotAllowed,
    Unreachable,
)

__all__ = ["exit_code", "refusals"]

_CODES: dict[tuple[type[DiscreetError], ...], int] = {
    (ClaimRefuted, LedgerCorrupt): 1,
    (BudgetExceeded, NotAllowed): 3,
    (LedgerConflict, EngineFailure, NoRandomness, Unreachable): 4,
}


def exit_code(refusal: DiscreetError) -> int:
    """Return the exit code of a refusal.

    >>> import discreet as dp
    >>> from discreet.cli.refusal import exit_code
    >>> exit_code(dp.LedgerCorrupt("entry 3")), exit_code(dp.NotAllowed("ana")), exit_code(dp.DiscreetError("no"))
    (1, 3, 2)
    """
    return next((code for kinds, code in _CODES.items() if isinstance(refusal, kinds)), 2)


@contextmanager
def refusals(*, as_json: bool = False) -> Iterator[None]:
    """Turn a refusal into its line and its exit code."""
    try:
        yield
    except DiscreetError as refusal:
        if as_json:
            said = {"kind": type(refusal).__name__, "message": str(refusal)}
            typer.echo(json.dumps({"error": said}, ensure_ascii=False), err=True)
        else:
            typer.secho(f"discreet: {refusal}", err=True, fg="red")
        raise typer.Exit(exit_code(refusal)) from None
