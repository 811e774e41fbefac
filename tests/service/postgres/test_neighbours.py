"""Two services whose data differ by one row: every byte but the released numbers is the same."""

from __future__ import annotations

import struct

import pytest

from service.deployment import build, free_port, rows, serving

from .raw import Raw, query, say

HOSTILE = "x\x7f,1e400,nowhere\n"
"""A row that fits no declared column."""
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


def _streams(folder, csv):
    deployment = build(folder, csv=csv, port=free_port(), service='grid = "0.05"')
    port = free_port()
    streams = []
    with serving(deployment, postgres=f"127.0.0.1:{port}"), Raw(port) as line:
        opened = line.sign_in("ana", deployment.tokens["ana"])
        # The key of the connection is random.
        streams.append([part for part in opened if part[0] not in (b"K", b"R")])
        for sql in STATEMENTS:
            line.send(query(sql))
            streams.append(_masked(line.until(b"Z")))
            line.send(say(b"P", b"\0" + sql.encode() + b"\0\0\0") + say(b"D", b"S\0") + say(b"S"))
            streams.append(line.until(b"Z"))
    return streams


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
    for sql, left, right in zip(
        ["sign-in", *(s for t in STATEMENTS for s in (t, t))], one, other, strict=True
    ):
        assert left == right, sql
