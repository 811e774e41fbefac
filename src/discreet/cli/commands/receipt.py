"""`discreet verify-receipt`: is this what the curator wrote, and does the ledger say the same?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...curator import verify_receipt as verify
from ..flags import JsonFlag
from ..refusal import refusals
from ..write import echo
from .ledger import open_existing

__all__ = ["verify_receipt"]


def verify_receipt(
    file: Annotated[Path, typer.Argument(help="A receipt, as --receipt writes it.")],
    *,
    key: Annotated[str | None, typer.Option(help="The public key that must have signed it.")] = None,
    ledger: Annotated[str | None, typer.Option(help="The ledger that must hold the same charge and answer.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check a receipt: every byte, its signature, and against the ledger if one is given. Exit code 1 if it is false.

    Example: discreet verify-receipt receipt.json --ledger people.ledger
    """
    with refusals(as_json=as_json):
        if ledger is None:
            found = verify(file, key=key)
        else:
            with open_existing(ledger) as held:
                found = verify(file, key=key, ledger=held)
        echo(f"{found}\n\nthe receipt holds", {"holds": True, **json.loads(found.to_json())}, as_json=as_json)
