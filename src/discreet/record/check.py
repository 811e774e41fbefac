"""Check of a public record: its hashes, its signature, and every derived file made again.

    what was changed                      is found by
    -----------------------------------   ------------------------------------------------
    a byte of a file, or the list of      the hashes of manifest.json, and its signature
    a charge, or its place                the chain of proof.lines, and their sum
    a sentence together with its hash     making all files again from proof, schemas, words
    a charge or table of another ledger   comparing with the ledger, if it is given

Refuses: a record that does not hold, with ClaimRefuted or LedgerCorrupt, which name the file.
Law: tests/record/test_check.py
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..answer.body import read_body
from ..arithmetic.canonical import canonical_json, digest
from ..data.schema import Schema
from ..errors import ClaimRefuted, DiscreetError, InvalidArgument
from ..frozen import frozen
from ..ledger import Ledger
from ..privacy.events.json import Json
from . import pages
from .deployment import Deployment
from .folder import EVIDENCE, MANIFEST, PROOF, check_schemas, render
from .proof import MALFORMED, prove, read_proof, stored_bodies
from .tables import (
    MEASURED,
    PACKAGE,
    make_table,
    read_again,
    same_measurements,
    stored_print,
    tables_from,
)
from .words import read_words

CheckSignature = Callable[[bytes, str, str], None]
"""Function that refuses a signature that does not belong to a text and a public key."""


@frozen
class Checked:
    """Result of a check that passed; `signed_by` is the public key of the signature, else ""."""

    files: int
    charges: int
    signed_by: str
    against_ledger: bool

    def __str__(self) -> str:
        signed = "not signed"
        if self.signed_by:
            signed = f"signed by {self.signed_by}"
        compared = "not compared with a ledger"
        if self.against_ledger:
            compared = "equal to the ledger's"
        return (
            f"the record holds: {self.files} files, every derived sentence made again; "
            f"{self.charges} charges, {compared}; {signed}"
        )


def check_record(
    folder: str | os.PathLike[str],
    ledger: Ledger | None = None,
    *,
    check_signature: CheckSignature | None = None,
) -> Checked:
    """Check the files of a record.

    Compared are every file with its hash in the manifest; the chain of `proof.lines`; the manifest
    with its signature, if `check_signature` is given; every derived file with one made again from
    proof, tables, schemas and words; and the `ledger`, if given, which must have no later charges.

    Refuses: with ClaimRefuted or LedgerCorrupt what does not hold; the message names the file,
    line or charge. With InvalidArgument a folder that is not there.
    """
    files = _read_folder(Path(folder))
    manifest = _read_manifest(files)
    key = _check_hashes(files, manifest, check_signature)
    proof = read_proof(files[PROOF].splitlines())
    evidence = _json(files, EVIDENCE)
    try:
        schemas = tuple(Schema.from_dict(one) for one in evidence["schemas"].values())
        tables = tables_from(_json(files, PACKAGE), files)
        deployment = Deployment(proof, schemas, read_words(evidence["words"]), tables)
        made = render(deployment).files
    except (*MALFORMED, DiscreetError) as problem:
        raise ClaimRefuted(f"{EVIDENCE}: the record cannot be made again: {problem}") from None
    for name in sorted(made):
        if name != MANIFEST and files.get(name) != made[name]:
            raise ClaimRefuted(f"{name}: what it says does not follow from {PROOF} and the words")
    _check_entries(deployment)
    if ledger is not None:
        _compare_ledger(ledger, deployment)
    return Checked(len(files), len(proof.charges), key, ledger is not None)


def _read_folder(folder: Path) -> dict[str, str]:
    """Return all files of a folder as text, by their path in it; refuse bytes that are no text."""
    if not folder.is_dir():
        raise InvalidArgument(
            f"{folder} is no folder of a record; `discreet record --out` makes one"
        )
    files = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            try:
                files[name] = path.read_bytes().decode("utf-8")
            except UnicodeDecodeError:
                raise ClaimRefuted(f"{name}: was changed: it is no text any more") from None
    return files


def _json(files: Mapping[str, str], name: str) -> Any:  # noqa: ANN401 JSON
    try:
        return json.loads(files[name])
    except MALFORMED:
        raise ClaimRefuted(f"{name}: is missing or was changed") from None


def _read_manifest(files: Mapping[str, str]) -> Any:  # noqa: ANN401 JSON
    manifest = _json(files, MANIFEST)
    # Written in one form only, so that no byte of it can change unnoticed.
    if not isinstance(manifest, dict) or pages.write_json(manifest) != files[MANIFEST]:
        raise ClaimRefuted(f"{MANIFEST}: was changed")
    if not isinstance(manifest.get("files"), dict) or manifest.get("record") != 1:
        raise ClaimRefuted(f"{MANIFEST}: is no manifest of a record")
    return manifest


def _check_hashes(
    files: Mapping[str, str],
    manifest: Any,  # noqa: ANN401 JSON
    check_signature: CheckSignature | None,
) -> str:
    """Compare every file with the manifest, and the manifest with its signature; return the key."""
    listed = manifest["files"]
    for name in sorted({*listed, *files} - {MANIFEST}):
        if name not in files:
            raise ClaimRefuted(f"{name}: is missing")
        if name not in listed:
            raise ClaimRefuted(f"{name}: is not in the manifest")
        if digest(files[name]) != listed[name]:
            raise ClaimRefuted(f"{name}: was changed, or its hash in {MANIFEST} was")
    # The signature is of everything but itself and its key.
    facts = {**manifest}
    key = str(facts.pop("key", ""))
    signature = str(facts.pop("signature", ""))
    if facts.keys() != {"record", "files", "checkpoint"}:
        raise ClaimRefuted(f"{MANIFEST}: was changed")
    proof = read_proof(files.get(PROOF, "").splitlines())
    if facts["checkpoint"] != list(proof.checkpoint):
        raise ClaimRefuted(f"{MANIFEST}: its checkpoint is not the last line of {PROOF}")
    # Without a function that knows keys a signature proves nothing, and none is reported.
    if key and check_signature is not None:
        check_signature(canonical_json(facts).encode(), signature, key)
        return key
    return ""


def _compare_ledger(ledger: Ledger, deployment: Deployment) -> None:
    """Compare lines, schemas and shown tables with a ledger that was not charged since."""
    proof = deployment.proof
    shown = [charge.entry for charge in proof.charges if charge.entry is not None]
    now = prove(ledger, shown, proof.end["service"])  # type: ignore[arg-type]
    # Numbers and hashes differ after the first difference: what the lines say is compared.
    mine = list(map(_charge_facts, proof.lines[1:-1]))
    theirs = list(map(_charge_facts, now.lines[1:-1]))
    if proof.lines[0] != now.lines[0]:
        raise ClaimRefuted(f"{PROOF}: line 1 has other terms than the ledger")
    for number, line in enumerate(theirs[: len(mine) + 1], start=2):
        place = number - 2
        if place >= len(mine):
            raise ClaimRefuted(
                f"{PROOF}: the ledger's charge {number - 1} is missing; make the record again if it is later"
            )
        if mine[place] != line:
            raise ClaimRefuted(f"{PROOF}: line {number} is not charge {number - 1} of the ledger")
    if len(mine) > len(theirs):
        raise ClaimRefuted(f"{PROOF}: line {len(theirs) + 2} is no charge of the ledger")
    # Compared last: whoever sees only this difference has all charges right.
    if proof.lines[-1] != now.lines[-1]:
        raise ClaimRefuted(f"{PROOF}: the last line is not what the ledger gives")
    try:
        check_schemas(ledger, deployment.schemas)
    except InvalidArgument as problem:
        raise ClaimRefuted(f"{EVIDENCE}: its schemas are not the ledger's: {problem}") from None
    _compare_tables(ledger, deployment)


def _charge_facts(line: str) -> Json:
    facts: Json = json.loads(line)
    for name in ("line", "previous", "hash"):
        del facts[name]
    return facts


def _check_entries(deployment: Deployment) -> None:
    """Compare the entries that the proof shows with those that have a table."""
    charges = deployment.proof.charges
    shown = {charge.entry for charge in charges if charge.entry is not None}
    for entry in sorted(shown ^ {table.entry for table in deployment.tables}):
        raise ClaimRefuted(
            f"{PACKAGE}: entry {entry} is shown in {PROOF} or in a table, not in both"
        )


def _compare_tables(ledger: Ledger, deployment: Deployment) -> None:
    """Make the shown tables again from the ledger, and compare them; not if a schema is public."""
    # Keys of public tables are in the store, which is not asked.
    if any(schema.public for schema in deployment.schemas):
        return
    bodies = stored_bodies(ledger.entries())
    for table in deployment.tables:
        body = read_body(bodies[table.entry])
        # A single question has no name in its body, and that of its entry in the record.
        name = table.name
        if name not in body.answers:
            name = next(iter(body.answers))
        question = read_again(body, name, table.sql, deployment.schemas)
        said = body.facts and body.facts.asked[name]
        # Names and order may be a release's own: the fingerprint is of what was measured.
        if question is None or not said or stored_print(body, question) != said.fingerprint:
            raise ClaimRefuted(
                f"{PACKAGE}: {table.name} has another question than entry {table.entry}"
            )
        again = make_table((table.name, table.entry), body, name, question)
        if again.csv != table.csv:
            raise ClaimRefuted(f"data/{table.name}.csv: is not the answer of entry {table.entry}")
        if (again.columns, again.steps, again.errors) != (table.columns, table.steps, table.errors):
            raise ClaimRefuted(
                f"{PACKAGE}: {table.name} is described otherwise than entry {table.entry}"
            )
        if not same_measurements(table.measurements, again.measurements):
            raise ClaimRefuted(f"{MEASURED}: {table.name} is not what entry {table.entry} measured")
