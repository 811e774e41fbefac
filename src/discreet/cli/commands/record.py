"""`discreet record`: write the public record of a deployment, or check one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ...connection import is_server
from ...curator.signing import Signer, check_signature
from ...data.files.schema_file import read_schemas
from ...errors import InvalidArgument
from ...record import check_record
from ...record import record as make_record
from ...record.words import entry_numbers
from ...service.config import read_config
from ..flags import JsonFlag
from ..ledger_access import open_existing
from ..output import echo
from ..refusal import refusals


def record(
    ledger: Annotated[
        str | None, typer.Argument(help="The ledger; it is read, and nothing is spent.")
    ] = None,
    *,
    schema: Annotated[
        Path | None, typer.Option(help="The schema file of the ledger's tables.")
    ] = None,
    words: Annotated[
        Path | None, typer.Option(help="What only you know, as TOML: who, what for, why.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="The folder to make; it must not be there yet.")
    ] = None,
    questions: Annotated[
        str, typer.Option(help="Entries whose questions and tables are shown, as 12,15.")
    ] = "",
    service: Annotated[
        Path | None, typer.Option(help="The service's curator.toml, for its time grid and access.")
    ] = None,
    sign: Annotated[
        Path | None, typer.Option(help="A key of `Signer.save`, to sign the manifest with.")
    ] = None,
    check: Annotated[
        Path | None, typer.Option("--check", help="Check this record instead of making one.")
    ] = None,
    against: Annotated[
        str | None,
        typer.Option("--ledger", help="With --check: the ledger that it must follow from."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Write what a regulator, a data subject and a researcher need to know, from the ledger alone; or check it.

    Names, reasons, times and texts of questions stay out, but for those of --questions.

    Example: discreet record people.ledger --schema people.toml --words words.toml --out record
    """
    with refusals(as_json=as_json):
        if check is not None:
            _check(check, against or ledger, as_json=as_json)
            return
        if ledger is None or schema is None or words is None or out is None:
            raise InvalidArgument(
                "a record needs LEDGER, --schema, --words and --out; `--check FOLDER` checks one"
            )
        if out.exists():
            raise InvalidArgument(f"{out} is there already; name a new folder")
        _refuse_local(ledger)
        signer = None
        settings = None
        # Before the ledger is read: slips in arguments are found at once.
        if sign is not None:
            signer = Signer.load(sign)
        if service is not None:
            settings = _service(service, ledger)
        with open_existing(ledger) as opened:
            made = make_record(
                opened,
                read_schemas(schema),
                words,
                questions=entry_numbers(questions),
                service=settings,
                signer=signer,
            )
        made.write(out)
        facts = {"out": str(out), "tier": made.tier, "open": list(made.open)}
        echo(f"{out}: {made}", facts, as_json=as_json)


def _check(folder: Path, ledger: str | None, *, as_json: bool) -> None:
    """Check a public record, against a ledger if one is given, and print what holds."""
    if ledger is None:
        found = check_record(folder, check_signature=check_signature)
    else:
        with open_existing(ledger) as opened:
            found = check_record(folder, opened, check_signature=check_signature)
    facts = {
        "holds": True,
        "files": found.files,
        "charges": found.charges,
        "signed_by": found.signed_by,
        "against_ledger": found.against_ledger,
    }
    echo(found, facts, as_json=as_json)


def _refuse_local(where: str) -> None:
    """Refuse a file of the local model: it has no ledger, and nobody's charges."""
    if is_server(where):
        return
    try:
        with Path(where).open("rb") as file:
            start = file.read(65_536)
        data = json.loads(start.decode("utf-8").splitlines()[0])
    except (OSError, ValueError, IndexError):
        return
    if isinstance(data, dict):
        raise InvalidArgument(
            f"{where} is a file of JSON, such as the local model's parameters or reports, and no ledger; "
            "a record is of a ledger: in the local model every device keeps its own account"
        )


def _service(path: Path, ledger: str) -> dict[str, object]:
    """Return the settings of the service for the data set of this ledger."""
    config = read_config(path)
    for dataset in config.datasets.values():
        same = dataset.ledger == ledger
        if not is_server(ledger) and not is_server(dataset.ledger):
            same = Path(dataset.ledger).resolve() == Path(ledger).resolve()
        if same:
            return {"grid": config.grid, "share_questions": dataset.share_questions}
    raise InvalidArgument(f"{path} has no data set with the ledger {ledger}")
