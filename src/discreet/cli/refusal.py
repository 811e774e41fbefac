"""Failures of commands: a message on standard error, and an exit code.

    0     done
    1     caught: a claim refuted, a ledger, receipt or store that is not as it says
    2     refused: the arguments, the schema or the question will not do
    3     the budget is exceeded, or this person may not spend
    4     could not be done now: the ledger is busy, the store failed, the line broke
    70    something is wrong with discreet itself
    130   stopped by Ctrl-C
    141   the reader of the output went away (closed pipe)

`discreet audit` gives its verdict by codes of its own: 0, 1, and 3 for "not tested".

Nothing is spent by 3, nor by 2, but for a file that cannot be written after the charge: the message
names it, and asking again is free. After 4, 70, 130 and 141 the ledger's history shows what was
spent; the message of 130 shows it too.
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

# EX_SOFTWARE of sysexits.h; 128 plus SIGINT; 128 plus SIGPIPE.
BROKEN = 70
STOPPED = 130
GONE = 141
_CODES: dict[tuple[type[DiscreetError], ...], int] = {
    (ClaimRefuted, LedgerCorrupt): 1,
    (BudgetExceeded, NotAllowed): 3,
    (LedgerConflict, EngineFailure, NoRandomness, Unreachable): 4,
}


def exit_code(refusal: DiscreetError) -> int:
    """Return the exit code of a refusal.

    >>> import discreet as dp
    >>> from discreet.cli.refusal import exit_code
    >>> exit_code(dp.LedgerCorrupt("entry 3")), exit_code(dp.NotAllowed("ana"))
    (1, 3)
    >>> exit_code(dp.DiscreetError("no"))
    2
    """
    for kinds, code in _CODES.items():
        if isinstance(refusal, kinds):
            return code
    return 2


@contextmanager
def refusals(*, as_json: bool = False) -> Iterator[None]:
    """Turn a refusal, Ctrl-C, a closed pipe or a defect into a message and an exit code."""
    try:
        yield
    except DiscreetError as refusal:
        _report(type(refusal).__name__, str(refusal), as_json=as_json)
        raise typer.Exit(exit_code(refusal)) from None
    except KeyboardInterrupt as stop:
        # A second Ctrl-C ends at once; only the main thread may set that.
        with suppress(ValueError):
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        charged = stop.args[0] if stop.args else "nothing was charged"
        _report("Stopped", f"stopped; {charged}", as_json=as_json)
        raise typer.Exit(STOPPED) from None
    except BrokenPipeError:
        # The interpreter flushes standard output at its end, which would fail once more.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        raise typer.Exit(GONE) from None
    except (typer.Exit, typer.Abort):
        raise
    except Exception as fault:  # noqa: BLE001 - what it says may hold a value of the data
        _report("Broken", _describe_fault(fault), as_json=as_json)
        raise typer.Exit(BROKEN) from None


def _report(kind: str, message: str, *, as_json: bool) -> None:
    """Print a refusal to standard error, as text or as JSON."""
    if as_json:
        error = {"kind": kind, "message": message}
        typer.echo(json.dumps({"error": error}, ensure_ascii=False), err=True)
    else:
        typer.secho(f"discreet: {message}", err=True, fg="red")


def _describe_fault(fault: Exception) -> str:
    """Name a defect by its type and source line; its message may contain data."""
    trace = fault.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    at = ""
    if trace is not None:
        file = Path(trace.tb_frame.f_code.co_filename).name
        at = f" at {file}:{trace.tb_lineno}"
    return f"something is wrong with discreet itself ({type(fault).__name__}{at}); please report it"
