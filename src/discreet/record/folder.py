"""Record of a deployment: all its files from a ledger, schemas and words.

    ledger ──► proof.lines ─┐
    stored answers ► tables ┼─► fields with evidence ──► pages, registry entry, label, manifest
    schemas, words ─────────┘

All files but the tables follow from `proof.lines`, the tables, and the schemas and words in
`evidence.json`. So `check_record` (`check.py`) makes them again and compares them byte by byte.

Guarantee: the store is not asked and nothing is spent.
Refuses: schemas that are not the ledger's, a broken chain, entries that are no stored tables.
Law: tests/record/test_record.py
"""

from __future__ import annotations

import os
import re
import shutil
import unicodedata
from collections.abc import Collection, Iterable, Mapping
from importlib import resources
from pathlib import Path
from typing import Protocol

from ..answer.body import read_body
from ..arithmetic.canonical import canonical_json, digest, hash_json
from ..data.schema import Schema
from ..errors import DiscreetError, InvalidArgument
from ..frozen import field, frozen
from ..ledger import Ledger
from ..privacy.events.json import Json
from . import pages, statements
from .deployment import Deployment, Sentence
from .derive import Derived, derive
from .proof import PublicProof, prove, stored_bodies
from .sentences import LANGUAGES, sentences_in
from .tables import (
    MEASURED,
    NOTE,
    PACKAGE,
    Asked,
    RecordTable,
    data_package,
    read_again,
    read_tables,
    stored_print,
)
from .words import read_words

MANIFEST = "manifest.json"
EVIDENCE = "evidence.json"
PROOF = "proof.lines"
_SCRIPTS = ("regression.py", "regression.R")


class ManifestSigner(Protocol):
    """Key that signs the manifest, such as `dp.Signer`."""

    @property
    def public(self) -> str:
        """The public key."""

    def sign(self, text: bytes) -> str:
        """Sign a text."""


@frozen
class DeploymentRecord:
    """Files of a record as text, by path; its tier in the registry; titles of what is not answered."""

    files: Mapping[str, str] = field(hash=False, repr=False)
    tier: int
    open: tuple[str, ...]

    def write(self, out: str | os.PathLike[str]) -> Path:
        """Write all files into a new folder.

        Refuses: a folder that exists or cannot be made, with InvalidArgument.
        """
        folder = Path(out)
        if folder.exists():
            raise InvalidArgument(f"{folder} is there already; name a new folder")
        partial = folder.with_name(f".{folder.name}.partial")
        shutil.rmtree(partial, ignore_errors=True)
        try:
            for name, text in self.files.items():
                path = partial / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8", newline="")
            # Renamed at the end, so that no partial record is left.
            partial.rename(folder)
        except OSError as problem:
            raise InvalidArgument(f"{folder} cannot be made: {problem.strerror}") from None
        return folder

    def __str__(self) -> str:
        told = [f"a record of {len(self.files)} files, tier {self.tier}"]
        if self.open:
            told.append(f"not answered: {'; '.join(self.open)}")
        return "\n".join(told)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.files["label.svg"]


def record(
    ledger: Ledger,
    schemas: Schema | Iterable[Schema],
    words: str | os.PathLike[str] | Mapping[str, object],
    *,
    questions: Collection[int] = (),
    asked: Asked | None = None,
    service: Json | None = None,
    signer: ManifestSigner | None = None,
) -> DeploymentRecord:
    """Make the public record of a deployment; the store is not asked and nothing is spent.

    `questions` are numbers of entries whose questions and tables may be shown. `asked` are answers
    of a release, by entry and name: they are shown under their names. `service` has the settings
    `grid` (seconds) and `share_questions` of the service that asks. `signer` signs the manifest.

    >>> import discreet as dp
    >>> people = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 120)})
    >>> ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    >>> made = dp.record(ledger, people, {"data_curators": ["City of Example"]})
    >>> made.tier, "registry.yaml" in made.files
    (1, True)

    Refuses: a broken chain with LedgerCorrupt; other schemas than the ledger's, unknown words, and
    entries without a stored table, with InvalidArgument.
    """
    if not isinstance(ledger, Ledger):
        raise InvalidArgument(f"a record is of a ledger, got {type(ledger).__name__}")
    if isinstance(schemas, Schema):
        schemas = (schemas,)
    listed = tuple(schemas)
    # A promise is about rows of somebody: public tables have none.
    if all(schema.public for schema in listed):
        raise InvalidArgument("a record needs the schema of a private table")
    # Words first: their slips are cheaper to find than a chain is to verify.
    read = read_words(words)
    given = dict(asked or {})
    wanted = sorted({*questions, *given})
    proof = prove(ledger, wanted, service)
    check_schemas(ledger, listed)
    tables = read_tables(ledger, listed, wanted, given)
    return render(Deployment(proof, listed, read, tables), signer)


def check_schemas(ledger: Ledger, schemas: tuple[Schema, ...]) -> None:
    """Compare the schemas with the ledger: read stored SQL again and compare its fingerprint.

    Models, synthetic tables and answers of release 0.1.0 have no such text. If a table is public,
    another fingerprint passes: only the store knows its keys.

    Refuses: tables, neighbours or fingerprints that differ, with InvalidArgument, by entry.

    Law: tests/record/test_schemas.py
    """
    known = {schema.name: schema for schema in schemas}
    relations = {schema.neighbours for schema in schemas if not schema.public}
    terms = ledger.terms
    if terms.neighbours is not None and {terms.neighbours} != relations:
        raise InvalidArgument(
            f"the ledger counts {terms.neighbours} neighbours, the schemas declare "
            f"{', '.join(sorted(relations))}: these are not its schemas"
        )
    has_public = any(schema.public for schema in schemas)
    for number, text in stored_bodies(ledger.entries()).items():
        try:
            body = read_body(text)
        except DiscreetError:
            continue
        if body.facts is None:
            # Release 0.1.0 stored no text that could be read again.
            continue
        unknown = sorted(set(body.facts.tables) - set(known))
        if unknown or {body.facts.neighbours} != relations:
            raise InvalidArgument(
                f"entry {number} is about {', '.join(sorted(body.facts.tables))} with "
                f"{body.facts.neighbours} neighbours: the schemas given are not the ledger's"
            )
        for name, said in body.facts.asked.items():
            # Models and synthetic tables are no SELECT, and have no text to be read again.
            if not said.text.startswith("SELECT"):
                continue
            question = read_again(body, name, said.text, schemas)
            if question is not None and stored_print(body, question) == said.fingerprint:
                continue
            # Values of public tables are keys that only the store knows: such texts are not compared.
            if has_public:
                continue
            raise InvalidArgument(
                f"entry {number} was asked of other schemas than those given: its fingerprint "
                "differs; give the schemas of this ledger, as they were then"
            )


def render(deployment: Deployment, signer: ManifestSigner | None = None) -> DeploymentRecord:
    """Make all files of a record; the same deployment gives the same ones, but for a signature."""
    fields = derive(deployment)
    title = str(fields["name"].value)
    rows = statements.label(deployment, fields)
    points = statements.checklist(deployment, fields)
    still_open = _open_points(fields, points)
    files = _data_files(title, deployment.tables)
    files[PROOF] = "\n".join([*deployment.proof.lines, ""])
    files["registry.yaml"] = pages.registry_entry(fields, _slug(deployment, fields))
    people = {}
    # Every language says the same sentences, so none is the original.
    for language, name in LANGUAGES.items():
        people[name] = statements.people_page(deployment, language)
        files[name] = pages.people_text(sentences_in(language)["title"], people[name])
    english: list[Sentence] = []
    for _, sentences in people[LANGUAGES["en"]]:
        english += sentences
    files["index.html"] = pages.index_page(title, rows, english, still_open)
    files["label.svg"] = pages.label_picture(rows)
    files["checklist.md"] = pages.checklist_page(points)
    # The record's own hash, for citations: of all that was said so far, since they are files too.
    identity = hash_json(_digests(files))
    files["CITATION.cff"] = pages.citation(deployment, fields, identity)
    files["datacite.json"] = pages.write_json(pages.datacite(deployment, fields, identity))
    files[EVIDENCE] = pages.write_json(_evidence(deployment, fields, rows, points, people))
    # Last: it has the hash of every other file.
    files[MANIFEST] = _manifest(files, deployment.proof, signer)
    tier = int(files["registry.yaml"].split("tier: ")[1][0])
    return DeploymentRecord(dict(sorted(files.items())), tier, still_open)


def _digests(files: Mapping[str, str]) -> dict[str, str]:
    return {name: digest(text) for name, text in files.items()}


def _open_points(
    fields: Mapping[str, Derived], points: Iterable[statements.Answered]
) -> tuple[str, ...]:
    told = []
    for derived in fields.values():
        if derived.is_open:
            told.append(derived.about.name)
    # Points that repeat an open field are named too: regulators read these alone.
    for answered in points:
        if answered.is_open:
            told.append(answered.point.title)
    return tuple(told)


def _slug(deployment: Deployment, fields: Mapping[str, Derived]) -> str:
    """Return the stable part of the entry's address: name, curator and year in lower-case ASCII."""
    # Accents are dropped with what no address may hold.
    year = str(fields["publication_date"].value)[:4]
    parts = [str(fields["name"].value), *deployment.words.get("data_curators", ()), year]
    plain = unicodedata.normalize("NFKD", " ".join(parts)).encode("ascii", "ignore").decode()
    return re.sub("[^a-z0-9]+", "-", plain.lower()).strip("-")[:120].strip("-")


def _data_files(title: str, tables: Iterable[RecordTable]) -> dict[str, str]:
    """Return the files under data/: tables, measurements, data dictionary, regression scripts."""
    listed = list(tables)
    files = {}
    measured = {}
    for table in listed:
        files[f"data/{table.name}.csv"] = table.csv
        measured[table.name] = table.measurements
    files[MEASURED] = pages.write_json({"how": NOTE, "tables": measured})
    files[PACKAGE] = pages.write_json(data_package(title, listed))
    for name in _SCRIPTS:
        script = resources.files(__package__).joinpath("scripts", f"{name}.txt")
        files[f"data/{name}"] = script.read_text(encoding="utf-8")
    return files


def _evidence(
    deployment: Deployment,
    fields: Mapping[str, Derived],
    rows: Iterable[statements.LabelRow],
    points: Iterable[statements.Answered],
    people: Mapping[str, Iterable[tuple[str, Iterable[Sentence]]]],
) -> Json:
    """List every sentence with its place and evidence, and the schemas and words of the record."""
    said: list[Json] = []
    for derived in fields.values():
        value = None
        # Texts are their sentences; names and numbers stand beside theirs.
        if derived.about.type == "numbers" or derived.about.allowed:
            value = derived.value
        said += _facts(f"registry.yaml: {derived.about.path}", derived.sentences, value)
    for row in rows:
        said += _facts(f"label.svg: {row.name}", [row.said], row.mark or None)
    for answered in points:
        said += _facts(f"checklist.md: {answered.point.number}", answered.said, None)
    for name, parts in people.items():
        for _, sentences in parts:
            said += _facts(name, sentences, None)
    schemas = {schema.name: schema.to_dict() for schema in deployment.schemas}
    # JSON has lists alone; they are read back as words.
    words = dict(deployment.words)
    return {"sentences": said, "schemas": schemas, "words": words}


def _facts(place: str, sentences: Iterable[Sentence], value: object) -> list[Json]:
    facts: list[Json] = []
    for sentence in sentences:
        fact: Json = {"place": place, "text": sentence.text, "rests_on": list(sentence.rests_on)}
        if value is not None:
            fact["value"] = value
        if sentence.open:
            fact["open"] = True
        facts.append(fact)
    return facts


def _manifest(files: Mapping[str, str], proof: PublicProof, signer: ManifestSigner | None) -> str:
    facts: Json = {
        "record": 1,
        "files": _digests(files),
        "checkpoint": list(proof.checkpoint),
    }
    if signer is not None:
        signature = signer.sign(canonical_json(facts).encode())
        facts |= {"key": signer.public, "signature": signature}
    return pages.write_json(facts)
