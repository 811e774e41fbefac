"""Tools of analysts with their real packages: connect, reflect, ask, parameters, refusal, ask again."""

from __future__ import annotations

import json
import shutil
import subprocess
from fractions import Fraction
from pathlib import Path

import pytest

from . import clients

HERE = Path(__file__).parent
ENVIRONMENTS = Path(__file__).parents[3] / ".venv-clients"
SEPARATE = {
    **dict.fromkeys(
        ("psycopg2", "pg8000", "odbc", "odbc_cursors", "sqlalchemy_psycopg2", "sqlalchemy_pg8000"),
        "drivers",
    ),
    **dict.fromkeys(("polars_adbc", "polars_connectorx", "r"), "drivers"),
    **{name: name for name in ("ibis", "jupysql", "dbt")},
}
"""Tools that run in a process of their own, with the environment that has them."""
NEEDED = {"r": "Rscript", "odbc": "odbcinst", "odbc_cursors": "odbcinst"}


def _place(wire, age):
    return {
        "port": wire.port,
        "token": wire.deployment.tokens["ana"],
        "age": age,
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
