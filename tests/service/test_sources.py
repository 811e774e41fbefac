"""A hostile cell in a service's files: the same statuses, texts and lengths as without it, free and charged."""

from __future__ import annotations

import time

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.service.app import build_app
from discreet.service.config import read_config
from intake.sources import ARROW, PLAIN, hostile_cells, typed
from service.deployment import SCHEMA, build
from service.inside import inside
from support.profile import DEEP

DECLARED = {
    "text": 'type = "text", max_length = 20',
    "large text": 'type = "category", values = ["1", "a"]',
    "time ms None": 'type = "date", low = "1980-01-01", high = "2010-01-01"',
    "time ns Europe/Oslo": 'type = "timestamp", low = "1980-01-01T00:00:00", high = "2010-01-01T00:00:00"',
    "decimal": 'type = "integer", low = 0, high = 9',
    "double": 'type = "real", low = 0, high = 9, step = 1',
    "duration": 'type = "integer", low = 0, high = 9',
}
"""Types of a Parquet file, each with a declaration that reads it."""
BODIES = [
    {"sql": "SELECT COUNT(x) AS n FROM people", "spend": {"epsilon": "1"}},
    {"sql": "SELECT region, SUM(age) AS s FROM people GROUP BY region", "spend": {"epsilon": "1"}},
    {"sql": "SELECT COUNT(*) AS n FROM people WHERE x IS NULL", "spend": {"epsilon": "1"}},
]


def asked(folder, case, cells):
    """Every reply of a service over one file, or the refusal to start."""
    house = build(folder, service='grid = "0.1"')
    cells_of_x = typed(case, cells)["text"]
    rows = PLAIN + len(cells)
    table = {"age": [5] * rows, "income": [7.0] * rows, "region": ["N"] * rows, "x": cells_of_x}
    pq.write_table(pa.table(table), folder / "people.parquet")
    schema = SCHEMA.replace("[tables.wards]", f"x = {{ {DECLARED[case]} }}\n[tables.wards]", 1)
    (folder / "people.toml").write_text(schema)
    config = house.config.read_text().replace("people.csv", "people.parquet")
    house.config.write_text(config)
    found = []
    with inside(build_app(read_config(house.config)), house.url) as client:
        headers = {"Authorization": f"Bearer {house.tokens['ana']}"}
        for body in BODIES:
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


@pytest.mark.parametrize("case", DECLARED if DEEP else ["text"])
def test_one_cell_moves_no_reply(tmp_path, case):
    assert case in ARROW
    plain = asked(tmp_path / "plain", case, ())
    assert {status for status, *_ in plain} == {200}
    for number, cell in enumerate(hostile_cells(case)[: None if DEEP else 1]):
        assert asked(tmp_path / str(number), case, (cell,)) == plain
