"""What an end other than a good one looks like on the command line: a line on standard error, and an exit code.

    0     done
    1     caught: a claim refuted, a ledger, receipt or store that is not as it says
    2     refused: the arguments, the schema or the question will not do
    3     the budget is exceeded, or this person may not spend
    4     could not be done now: the ledger is busy, the store failed, the line broke
    70    something is wrong with discreet itself
    130   stopped by Ctrl-C
    141   whoever read the output went away

Nothing is spent by 2 or 3; after 4, 70, 130 and 141 the ledger's history says what was, and 130 says it itself.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

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

BROKEN, STOPPED, GONE = 70, 130, 141
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
    """Turn a refusal, Ctrl-C, a reader that went away or a fault of ours into its line and its exit code."""
    try:
        yield
    except DiscreetError as refusal:
        _say(type(refusal).__name__, str(refusal), as_json=as_json)
        raise typer.Exit(exit_code(refusal)) from None
    except KeyboardInterrupt as stop:
        with suppress(ValueError):  # not the main thread
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # the next one ends at once
        _say(
            "Stopped",
            f"stopped; {stop.args[0] if stop.args else 'nothing was charged'}",
            as_json=as_json,
        )
        raise typer.Exit(STOPPED) from None
    except BrokenPipeError:
        os.dup2(
            os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno()
        )  # nothing is left to be flushed at the end
        raise typer.Exit(GONE) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as fault:  # noqa: BLE001 - what it says may hold a value of the data
        _say("Broken", _where(fault), as_json=as_json)
        raise typer.Exit(BROKEN) from None


def _say(kind: str, message: str, *, as_json: bool) -> None:
    if as_json:
        said = {"kind": kind, "message": message}
        typer.echo(json.dumps({"error": said}, ensure_ascii=False), err=True)
    else:
        typer.secho(f"discreet: {message}", err=True, fg="red")


def _where(fault: Exception) -> str:
    """Name a fault by its type and the line it came from, and nothing that it says."""
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    at = (
        ""
        if trace is None
        else f" at {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    )
    return f"something is wrong with discreet itself ({type(fault).__name__}{at}); please report it"
