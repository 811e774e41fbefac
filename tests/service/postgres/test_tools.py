"""Tools of analysts with their real packages: connect, reflect, ask, parameters, refusal, ask again."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from . import clients

HERE = Path(__file__).parent
PAGE = (Path(__file__).parents[3] / "docs/how-to/postgres-clients.md").read_text()
ENVIRONMENTS = Path(__file__).parents[3] / ".venv-clients"
SEPARATE = {
    **dict.fromkeys(
        ("psycopg2", "pg8000", "odbc", "odbc_cursors", "sqlalchemy_psycopg2", "sqlalchemy_pg8000"),
        "drivers",
    ),
    **dict.fromkeys(("polars_adbc", "polars_connectorx", "r"), "drivers"),
    **{name: name for name in ("ibis", "jupysql", "dbt", "superset")},
}
"""Tools that run in a process of their own, with the environment that has them."""
NEEDED = {"r": "Rscript", "odbc": "odbcinst", "odbc_cursors": "odbcinst"}


def _place(wire, age):
    return {
        "port": wire.port,
        "token": wire.deployment.tokens["ana"],
        "age": age,
        "profile": _block("dbt", "yaml", wire),
        "superset": _block("Superset", "text", wire),
        "odbc": _block("Excel and other programs with ODBC", "text", wire),
        "sql": f"SELECT region, COUNT(*) AS n FROM people WHERE age < {age} GROUP BY region",
        "counted": "SELECT COUNT(*) AS n FROM people WHERE age > {}",
    }


def _check(found, spent):
    assert "people" in found["tables"]
    assert all(name in found["columns"] for name in ("age", "income", "region"))
    assert sorted(key for key, _ in found["rows"]) == ["E", "N", "S", "W"]
    assert all(isinstance(n, int) for _, n in found["rows"])
    assert isinstance(found["counted"], int)
    assert "shows rows of people" in found["refusal"]
    # The second time it is the same answer; two questions cost what two questions cost.
    assert found["again"] == found["rows"]
    assert spent == Fraction(2, 10)


@pytest.mark.parametrize(("place", "name"), list(enumerate(["asyncpg", "sqlalchemy"])))
def test_in_this_process(wire, place, name):
    pytest.importorskip(name)
    before = wire.spent()
    found = getattr(clients, name)(_place(wire, 20 + place))
    _check(found, wire.spent() - before)


@pytest.mark.slow
@pytest.mark.parametrize(("place", "name"), list(enumerate(SEPARATE)))
def test_with_its_own_packages(wire, place, name):
    made = subprocess.run(
        [HERE / "setup_clients.sh", ENVIRONMENTS, SEPARATE[name]],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode or shutil.which(NEEDED.get(name, "sh")) is None:
        pytest.skip(f"{name} could not be installed")
    before = wire.spent()
    ended = subprocess.run(
        [made.stdout.strip(), HERE / "clients.py", name],
        input=json.dumps(_place(wire, 30 + place)),
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    [told] = [line for line in ended.stdout.splitlines() if line.startswith('{"tables"')]
    _check(json.loads(told), wire.spent() - before)


def _block(heading, language, wire):
    """A block of the page as it stands, but for address, database and encryption."""
    section = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    text = section.split(f"```{language}\n")[1].split("```")[0]
    for before, after in {
        "curator.example": "127.0.0.1",
        "5433": str(wire.port),
        "census": "people",
        "verify-full": "prefer",
        "TOKEN": wire.deployment.tokens["ana"],
    }.items():
        text = text.replace(before, after)
    return text


def test_the_page_says_what_to_type_in_pandas(wire, monkeypatch):
    pytest.importorskip("sqlalchemy")
    monkeypatch.setenv("PGPASSWORD", wire.deployment.tokens["ana"])
    names = {}
    exec(compile(_block("pandas", "python", wire), "page", "exec"), names)  # noqa: S102 the page of this repository
    assert list(names["frame"].columns) == ["region", "n"] and len(names["frame"]) == 4
    assert names["older"].shape == (1, 1)
    names["line"].engine.dispose()


@pytest.mark.parametrize(
    ("heading", "language", "program"),
    [
        ("psql", "sh", ["sh", "-c"]),
        pytest.param("R", "r", ["Rscript", "-e"], marks=pytest.mark.slow),
    ],
)
def test_the_page_says_what_to_type(wire, heading, language, program):
    if shutil.which(program[0]) is None:
        pytest.skip(f"there is no {program[0]} here")
    token = wire.deployment.tokens["ana"]
    text = _block(heading, language, wire).replace("dsc_…", token)
    ended = subprocess.run(
        [*program, text],
        env=os.environ | {"PGPASSWORD": token},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    told = ended.stdout.splitlines()
    assert {key for key in "NSEW" if any(key in line.split() for line in told)} == set("NSEW")
