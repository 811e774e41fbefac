"""The check of a record: one changed byte anywhere, or one missing charge, is named."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace

import pytest

import discreet as dp
from discreet.arithmetic.canonical import canonical_json, digest
from discreet.curator.signing import check_signature
from discreet.errors import ClaimRefuted, LedgerCorrupt
from discreet.record.deployment import Deployment
from discreet.record.folder import render
from discreet.record.proof import read_proof
from discreet.record.tables import tables_from
from discreet.record.words import read_words
from record.conftest import PEOPLE, SQL, WORDS, ask


@pytest.fixture(scope="module")
def asked():
    """A ledger with a table of means, a cube and a line that no test charges."""
    ledger = dp.open_ledger(":memory:", dp.PureDP(3))
    ask(ledger, *SQL.values())
    return ledger


@pytest.fixture(scope="module")
def made(asked):
    """The record of that ledger, with its tables."""
    numbers = [entry.number for entry in asked.history(kinds=["charge"])]
    return dp.record(asked, PEOPLE, WORDS, questions=numbers)


@pytest.fixture
def folder(made, tmp_path):
    """The record in a folder of its own."""
    return made.write(tmp_path / "record")


def test_holds_as_it_was_written(folder, asked):
    found = dp.check_record(folder)
    assert (found.charges, found.signed_by, found.against_ledger) == (3, "", False)
    assert dp.check_record(folder, asked).against_ledger
    assert "3 charges" in str(found)


def test_one_changed_byte_anywhere_is_named(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    assert len(files) == 18
    for path in files:
        kept = path.read_bytes()
        for place in (len(kept) // 2, len(kept) - 1):
            path.write_bytes(kept[:place] + bytes([kept[place] ^ 1]) + kept[place + 1 :])
            with pytest.raises((ClaimRefuted, LedgerCorrupt), match=path.name.replace(".", r"\.")):
                dp.check_record(folder)
        path.write_bytes(kept)
    dp.check_record(folder)


def test_a_file_that_is_missing_or_too_many_is_named(folder):
    (folder / "people.md").rename(folder / "more.md")
    with pytest.raises(ClaimRefuted, match=r"more\.md: is not in the manifest"):
        dp.check_record(folder)
    (folder / "more.md").unlink()
    with pytest.raises(ClaimRefuted, match=r"people\.md: is missing"):
        dp.check_record(folder)


def _forge(folder, name, text):
    """Write a file, and a manifest that has its hash."""
    (folder / name).write_text(text, encoding="utf-8")
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = digest(text)
    lines = (folder / "proof.lines").read_text().splitlines()
    manifest["checkpoint"] = [len(lines), json.loads(lines[-1])["hash"]]
    text = json.dumps(manifest, indent=1, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(text)


@pytest.mark.parametrize(
    "name",
    ["registry.yaml", "index.html", "label.svg", "people.md", "checklist.md", "datacite.json"],
)
def test_a_forged_sentence_with_a_fitting_hash_is_named(folder, name):
    text = (folder / name).read_text(encoding="utf-8")
    changed = text.replace("a", "b", 1)
    _forge(folder, name, changed)
    with pytest.raises(ClaimRefuted, match=rf"{name}: what it says does not follow"):
        dp.check_record(folder)


def _chained(lines):
    """Chain lines anew, as whoever forges a proof would."""
    previous, told = "", []
    for number, line in enumerate(lines, start=1):
        facts = {name: one for name, one in json.loads(line).items() if name != "hash"}
        facts |= {"line": number, "previous": previous}
        previous = digest(canonical_json(facts))
        told.append(canonical_json(facts | {"hash": previous}))
    return told


def test_a_missing_charge_is_named(folder, asked):
    lines = (folder / "proof.lines").read_text().splitlines()
    left = [*lines[:2], *lines[3:]]
    _forge(folder, "proof.lines", "\n".join(left) + "\n")
    with pytest.raises(LedgerCorrupt, match="line 3 does not follow: a charge is missing"):
        dp.check_record(folder)
    # Chained anew: the other files do not follow from it, and the ledger has the charge.
    _forge(folder, "proof.lines", "\n".join(_chained(left)) + "\n")
    with pytest.raises(ClaimRefuted, match="does not follow"):
        dp.check_record(folder)


def test_lines_that_are_numbered_and_hashed_anew_but_not_chained_are_named(folder):
    lines = (folder / "proof.lines").read_text().splitlines()
    loose = []
    for number, line in enumerate([*lines[:2], *lines[3:]], start=1):
        facts = {name: one for name, one in json.loads(line).items() if name != "hash"}
        facts["line"] = number
        loose.append(canonical_json(facts | {"hash": digest(canonical_json(facts))}))
    _forge(folder, "proof.lines", "\n".join(loose) + "\n")
    with pytest.raises(LedgerCorrupt, match="line 3 does not follow: a charge is missing"):
        dp.check_record(folder)


def test_a_whole_record_of_fewer_charges_is_caught_by_the_ledger(tmp_path):
    asked = dp.open_ledger(":memory:", dp.PureDP(3))
    ask(asked, *SQL.values())
    folder = dp.record(asked, PEOPLE, WORDS).write(tmp_path / "record")
    dp.check_record(folder, asked)
    ask(asked, "SELECT COUNT(*) AS n FROM people")
    dp.check_record(folder)
    with pytest.raises(ClaimRefuted, match="the ledger's charge 4 is missing"):
        dp.check_record(folder, asked)
    other = dp.open_ledger(":memory:", dp.PureDP(3))
    ask(other, "SELECT COUNT(*) AS n FROM people", "SELECT AVG(age) AS a FROM people")
    with pytest.raises(ClaimRefuted, match="line 2 is not charge 1 of the ledger"):
        dp.check_record(folder, other)
    with pytest.raises(ClaimRefuted, match="other terms"):
        dp.check_record(folder, dp.open_ledger(":memory:", dp.PureDP(2)))


def test_charges_that_cost_more_than_is_stated_are_named(folder):
    lines = (folder / "proof.lines").read_text().splitlines()
    end = json.loads(lines[-1])
    end["spent"]["epsilon"] = "1/4"
    _forge(folder, "proof.lines", "\n".join(_chained([*lines[:-1], canonical_json(end)])) + "\n")
    with pytest.raises(LedgerCorrupt, match=r"the charges cost ε = 0\.75, and ε = 0\.25 is stated"):
        dp.check_record(folder)


def test_a_table_that_is_not_the_stored_answer_is_named_by_the_ledger(folder, asked):
    name = "data/entry-2.csv"
    text = (folder / name).read_text().replace("\nN,", "\nN,1", 1)
    _forge(folder, name, text)
    with pytest.raises(ClaimRefuted, match="does not follow"):
        dp.check_record(folder)
    # All other files made again for the forged table: the ledger alone knows better.
    account = _account(folder)
    tables = (replace(account.tables[0], csv=text), *account.tables[1:])
    shutil.rmtree(folder)
    render(replace(account, tables=tables)).write(folder)
    dp.check_record(folder)
    with pytest.raises(ClaimRefuted, match=r"entry-2\.csv: is not the answer of entry 2"):
        dp.check_record(folder, asked)


def _measured(table):
    """Measurements with another first number, and with a variance a thousand times too small."""
    made = json.loads(json.dumps(table.measurements))
    [first, *_] = made.values()
    return made, first


def _other_number(table):
    made, first = _measured(table)
    first["rows"][0][-1] += 5
    return {"measurements": made}


def _less_variance(table):
    made, first = _measured(table)
    for component in first.get("components", ()):
        component["variance"] /= 1000
    if not isinstance(first["covariance"], str):
        first["covariance"] = [[first["covariance"][0][0] / 1000]]
    return {"measurements": made}


FORGED = {
    "number": (_other_number, "measurements.json"),
    "variance": (_less_variance, "measurements.json"),
    "question": (lambda table: {"sql": "none", "csv": table.csv + "x,1\n"}, "datapackage.json"),
    "steps": (lambda _: {"steps": ("counts were checked",)}, "datapackage.json"),
    "errors": (lambda _: {"errors": ("n ± 0",)}, "datapackage.json"),
    "columns": (lambda table: {"columns": table.columns[:1]}, "datapackage.json"),
}


@pytest.mark.parametrize("kind", FORGED)
@pytest.mark.parametrize("place", [0, 1])
def test_a_forged_table_with_all_files_made_again_is_named_by_the_ledger(
    folder, asked, kind, place
):
    account = _account(folder)
    forge, file = FORGED[kind]
    tables = list(account.tables)
    tables[place] = replace(tables[place], **forge(tables[place]))
    shutil.rmtree(folder)
    render(replace(account, tables=tuple(tables))).write(folder)
    dp.check_record(folder)
    with pytest.raises(ClaimRefuted, match=file):
        dp.check_record(folder, asked)


def test_a_shown_entry_without_its_table_is_named(folder):
    account = _account(folder)
    for tables in (account.tables[1:], (replace(account.tables[0], entry=99), *account.tables[1:])):
        shutil.rmtree(folder)
        render(replace(account, tables=tables)).write(folder)
        with pytest.raises(ClaimRefuted, match="entry 2 is shown"):
            dp.check_record(folder)


def test_other_schemas_with_all_files_made_again_are_named_by_the_ledger(folder, asked):
    account = _account(folder)
    schema = dp.Schema.from_dict({**PEOPLE.to_dict(), "size": 7})
    shutil.rmtree(folder)
    render(replace(account, schemas=(schema,))).write(folder)
    with pytest.raises(ClaimRefuted, match=r"evidence\.json: its schemas are not the ledger's"):
        dp.check_record(folder, asked)


@pytest.mark.parametrize("place", [0, 1, -1])
def test_a_line_of_another_form_is_named(folder, place):
    lines = (folder / "proof.lines").read_text().splitlines()
    for name in json.loads(lines[place]):
        for value in (None, [], "x", {"a": 1}):
            facts = json.loads(lines[place]) | {name: value}
            changed = list(lines)
            changed[place] = canonical_json(facts)
            _forge(folder, "proof.lines", "\n".join(_chained(changed)) + "\n")
            if (folder / "proof.lines").read_text().splitlines() != lines:
                with pytest.raises((ClaimRefuted, LedgerCorrupt)):
                    dp.check_record(folder)


@pytest.mark.parametrize("name", ["manifest.json", "proof.lines", "evidence.json"])
def test_json_without_end_is_named(folder, name):
    (folder / name).write_text("[" * 100_000)
    with pytest.raises((ClaimRefuted, LedgerCorrupt), match=name):
        dp.check_record(folder)


def _account(folder):
    """Read what a record speaks of back from its files."""
    files = {}
    for path in folder.rglob("*"):
        if path.is_file():
            files[path.relative_to(folder).as_posix()] = path.read_text(encoding="utf-8")
    proof = read_proof(files["proof.lines"].splitlines())
    tables = tables_from(json.loads(files["data/datapackage.json"]), files)
    return Deployment(proof, (PEOPLE,), read_words(WORDS), tables)


def test_a_signature_holds_for_its_manifest_alone(asked, tmp_path):
    signer = dp.Signer.create()
    folder = dp.record(asked, PEOPLE, WORDS, signer=signer).write(tmp_path / "record")
    assert dp.check_record(folder, check_signature=check_signature).signed_by == signer.public
    text = (folder / "index.html").read_text(encoding="utf-8")
    _forge(folder, "index.html", text + " ")
    with pytest.raises(ClaimRefuted, match="signature"):
        dp.check_record(folder, check_signature=check_signature)


def test_a_broken_chain_makes_no_record(tmp_path):
    import sqlite3

    path = tmp_path / "people.ledger"
    with dp.open_ledger(path, dp.PureDP(3)) as ledger:
        ask(ledger, "SELECT COUNT(*) AS n FROM people")
    broken = tmp_path / "broken.ledger"
    shutil.copy(path, broken)
    with sqlite3.connect(broken) as connection:
        connection.execute(
            "UPDATE entry SET line = replace(line, '\"ann\"', '\"bob\"') WHERE number = 2"
        )
    with dp.open_ledger(broken) as ledger, pytest.raises(LedgerCorrupt):
        dp.record(ledger, PEOPLE, WORDS)


def test_a_folder_that_is_none_is_refused(tmp_path):
    with pytest.raises(dp.InvalidArgument, match="no folder of a record"):
        dp.check_record(tmp_path / "none")
    with pytest.raises(ClaimRefuted, match=r"manifest\.json: is missing"):
        dp.check_record(tmp_path)
