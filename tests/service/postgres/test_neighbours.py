"""Two services whose data differ by one row: every byte but the released numbers is the same."""

from __future__ import annotations

import struct

import pytest

from service.deployment import build, free_port, rows, serving

from .raw import Raw, query, say
from .test_dashboards import BI_STATEMENTS, LEAST_ANSWERED

HOSTILE = "x\x7f,1e400,nowhere\n"
"""A row that fits no declared column."""
PATIENT = "free_seconds = 60"
SALES = """format = 1
[tables.sales]
unit = { kind = "people", id = "customer", max_rows = 20 }
[tables.sales.columns]
day = { type = "date", low = "2024-01-01", high = "2024-12-31" }
region = { type = "category", values = ["N", "S", "E", "W"] }
product = { type = "category", values = ["A", "B", "C"] }
amount = { type = "real", low = 0, high = 1000, step = 1 }
age = { type = "integer", low = 0, high = 120 }
"""
STATEMENTS = [
    "SET discreet.epsilon = '1/2'",
    "SELECT region, COUNT(*) AS n FROM people GROUP BY region",
    "SELECT region, COUNT(*) AS k FROM people GROUP BY region ORDER BY region LIMIT 2",
    "SELECT AVG(income) AS m, MAX(age) AS x FROM people WHERE age > 30",
    "SELECT COUNT(*) FROM people WHERE region = 'nowhere'",
    "SET discreet.intervals = on",
    "SELECT age > 40 AS old, SUM(income) AS s FROM people GROUP BY old",
    "EXPLAIN SELECT COUNT(*) FROM people",
    "COPY (SELECT region, COUNT(*) AS n FROM people GROUP BY region) TO STDOUT",
    "SELECT * FROM people LIMIT 3",
    "SELECT * FROM people WHERE 1 = 0",
    "SELECT relname, reltuples FROM pg_class WHERE relnamespace = 2200",
    "SELECT COUNT(nix) FROM people",
    "SELECT COUNT(*) FROM people WHERE income / (age - 30) > 1",
    "SHOW discreet.left",
    "BEGIN",
    "SELECT MEDIAN(age) AS q FROM people",
    "SELECT 1 / 0",
    "ROLLBACK",
    "DELETE FROM people",
]


def _masked(found):
    """Messages with released numbers replaced: cells of rows keep only whether they are NULL or text."""
    masked = []
    for kind, payload in found:
        if kind == b"D":
            masked.append((kind, _cells(payload)))
        elif kind == b"d":
            masked.append((kind, payload.split(b"\t")[:1]))
        else:
            masked.append((kind, payload))
    return masked


def _cells(payload):
    [count] = struct.unpack("!h", payload[:2])
    place, cells = 2, []
    for _ in range(count):
        [length] = struct.unpack("!i", payload[place : place + 4])
        place += 4
        value = None if length < 0 else payload[place : place + length]
        place += max(length, 0)
        is_number = (
            value is not None and value.lstrip(b"-").replace(b".", b"").replace(b"e", b"").isdigit()
        )
        cells.append(b"number" if is_number else value)
    return cells


def _streams(folder, csv, statements=STATEMENTS, schema=""):
    budget = '{ epsilon = "100000" }'
    service = 'grid = "0.05"'
    deployment = build(
        folder, csv=csv, port=free_port(), service=service, limits=PATIENT, budget=budget
    )
    if schema:
        (folder / "people.toml").write_text(schema)
        config = deployment.config.read_text()
        tables = '{ people = "people.csv", wards = "wards.csv" }'
        deployment.config.write_text(config.replace(tables, '{ sales = "people.csv" }'))
    port = free_port()
    streams = []
    with serving(deployment, postgres=f"127.0.0.1:{port}"), Raw(port) as line:
        opened = line.sign_in("ana", deployment.tokens["ana"])
        # The key of the connection is random.
        streams.append([part for part in opened if part[0] not in (b"K", b"R")])
        for sql in statements:
            line.send(query(sql))
            streams.append(_masked(line.until(b"Z")))
            described = say(b"P", b"\0" + sql.encode() + b"\0\0\0") + say(b"D", b"S\0")
            line.send(described + say(b"B", bytes(8)) + say(b"E", bytes(5)) + say(b"S"))
            streams.append(_masked(line.until(b"Z")))
    return streams


def _without_released(part):
    """A message whose cells may be released days, as MIN of one, or NULL where the noise is too large."""
    kind, cells = part
    if kind != b"D":
        return part
    days = len(cells) == 3 and b"number" in cells
    hidden = [days and b"-" in (cell or b"") for cell in cells]
    return kind, [
        None if gone or cell == b"number" else cell
        for cell, gone in zip(cells, hidden, strict=True)
    ]


def _compare(one, other, statements):
    told = ["sign-in", *(sql for written in statements for sql in (written, written))]
    differ = {
        sql: (left, right)
        for sql, left, right in zip(told, one, other, strict=True)
        if left != right
    }
    assert not differ, differ


@pytest.mark.parametrize("place", ["last", pytest.param("first", marks=pytest.mark.slow)])
def test_streams_of_neighbours_are_equal(tmp_path, place):
    """Types, names, order and number of columns and rows, tags, notices and errors are public."""
    if place == "first":
        header, _, body = rows().partition("\n")
        changed = f"{header}\n{HOSTILE}{body}"
    else:
        changed = rows() + HOSTILE
    one = _streams(tmp_path / "one", rows())
    other = _streams(tmp_path / "other", changed)
    _compare(one, other, STATEMENTS)


@pytest.mark.slow
def test_streams_of_neighbours_over_the_corpus(tmp_path):
    """The sixty statements of BI tools; one customer more, whose rows fit no column or all of them."""
    lines = [
        f"{k % 90},2024-{k % 12 + 1:02}-{k % 28 + 1:02},{'NSEW'[k % 4]},{'ABC'[k % 3]},{k % 1000},{k % 90}"
        for k in range(900)
    ]
    csv = "\n".join(["customer,day,region,product,amount,age", *lines]) + "\n"
    hers = "she,2024-02-30,x\x7f,Z,1e400,-1\n" + "she,2024-02-01,N,A,999,30\n" * 40
    # Which three are the first by a released number is released with it.
    asked = [sql for sql in BI_STATEMENTS if not sql.endswith("LIMIT 3")]
    assert len(asked) == len(BI_STATEMENTS) - 1
    # Enough that no count comes near the limit of a HAVING, which would show in the number of rows.
    statements = ["SET discreet.epsilon = '100'", *asked]
    one = _streams(tmp_path / "one", csv, statements, SALES)
    other = _streams(tmp_path / "other", csv + hers, statements, SALES)
    # Rows that are ordered by a released number come in an order of their noise.
    ordered = [
        [sorted(map(_without_released, found), key=repr) for found in streams]
        for streams in (one, other)
    ]
    _compare(*ordered, statements)
    # Most of them were answered, so that there was something to compare.
    answered = [
        sql for sql, found in zip(statements[1:], one[3::2], strict=False) if found[-2][0] == b"C"
    ]
    assert len(answered) >= LEAST_ANSWERED - 1, len(answered)
