"""`discreet verify-receipt`: check a receipt, and compare it with the ledger."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Annotated

import typer

from ...curator import verify_receipt as verify
from ..flags import JsonFlag
from ..ledger_access import open_existing
from ..output import echo
from ..refusal import refusals


def verify_receipt(
    file: Annotated[Path, typer.Argument(help="A receipt, as --receipt writes it.")],
    *,
    key: Annotated[
        str | None, typer.Option(help="The public key that must have signed it.")
    ] = None,
    ledger: Annotated[
        str | None, typer.Option(help="The ledger that must hold the same charge and answer.")
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Check a receipt: every byte, its signature, and against the ledger if one is given. Exit code 1 if it is false.

    Example: discreet verify-receipt receipt.json --ledger people.ledger
    """
    with refusals(as_json=as_json), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        if ledger is None:
            found = verify(file, key=key)
        else:
            with open_existing(ledger) as held:
                found = verify(file, key=key, ledger=held)
        # The library warns about facts that it cannot prove, such as a missing signature.
        unproven = [str(warning.message) for warning in told]
        facts = {"holds": True, "unproven": unproven, **json.loads(found.to_json())}
        paragraphs = [str(found), "the receipt holds"]
        paragraphs += [f"but {message}" for message in unproven]
        echo("\n\n".join(paragraphs), facts, as_json=as_json)
