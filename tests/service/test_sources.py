"""A hostile cell in a service's files: the same statuses, texts and lengths as without it, free and charged."""

from __future__ import annotations

import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.data.files.schema_file import write_schemas
from discreet.service.app import build_app
from discreet.service.config import read_config
from intake.sources import ARROW, PLAIN, RULES, hostile_cells, readable, typed
from service.deployment import build
from service.inside import inside
from support.profile import DEEP

STORED = [
    case
    for case in ARROW
    # Parquet has no runs, no seconds and no dictionaries of its own.
    if case not in ("runs", "dictionary") and not case.startswith("time s")
]
WARDS = dp.Schema.public_table(
    "wards", {"ward": dp.Integer(0, 120), "city": dp.Text(20)}, key=["ward"]
)


def questions(names):
    """Counts of every column together, by one of them, and of the rows that one leaves empty."""
    counts = ", ".join(f"COUNT({name}) AS n{place}" for place, name in enumerate(names))
    yield f"SELECT {counts} FROM people"
    yield f"SELECT COUNT(*) AS n FROM people WHERE {names[0]} IS NULL"
    yield "SELECT SUM(age) AS s FROM people"


def asked(folder, case, cells):
    """Every reply of a service over one file; nothing where no declared column reads the type."""
    house = build(folder, service='grid = "0.1"', limits="free_seconds = 60")
    table = typed(case, cells).append_column("age", pa.array([5] * (PLAIN + len(cells))))
    pq.write_table(table, folder / "people.parquet")
    with dp.DuckDB({"t": folder / "people.parquet"}) as engine:
        schema, refused = readable(engine, RULES)
    if schema is None:
        return [(name, text) for (name, _), (text, *_) in refused.items()]
    columns = {**schema.columns, "age": dp.Integer(0, 120)}
    write_schemas(folder / "people.toml", [dp.Schema("people", dp.Rows(), columns), WARDS])
    config = house.config.read_text().replace("people.csv", "people.parquet")
    house.config.write_text(config)
    found = []
    with inside(build_app(read_config(house.config)), house.url) as client:
        headers = {"Authorization": f"Bearer {house.tokens['ana']}"}
        for question in questions(list(schema.columns)):
            body = {"sql": question, "spend": {"epsilon": "1"}}
            path = "/api/v1/datasets/people"
            shown = client.request("POST", f"{path}/explain", json=body, headers=headers)
            found.append((shown.status_code, shown.text))
            reply = client.request("POST", f"{path}/sql", json=body, headers=headers)
            status, answer = reply.status_code, reply.json()
            while status == 202:
                time.sleep(0.05)
                followed = client.request("GET", reply.headers["location"], headers=headers).json()
                if "reply" in followed:
                    status, answer = followed["status"], followed["reply"]
            found.append((status, sorted(answer), answer.get("columns"), answer.get("error")))
    return found


@pytest.mark.parametrize("case", STORED if DEEP else ["text"])
def test_one_cell_moves_no_reply(tmp_path, case):
    plain = asked(tmp_path / "plain", case, ())
    if any(len(seen) > 2 for seen in plain):
        assert {status for status, *_ in plain} == {200}, plain
    else:
        assert len(plain) == len(RULES)
    for number, cell in enumerate(hostile_cells(case)[: None if DEEP else 1]):
        assert asked(tmp_path / str(number), case, (cell,)) == plain
