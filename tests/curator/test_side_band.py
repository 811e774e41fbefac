"""Beside the answers nothing tells two neighbouring data sets apart: status, shape, words, logs, ledger, store's SQL.

Two processes ask the same questions of two neighbouring data sets, with the same noise: two hundred in `make deep`.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import random
import ssl
import subprocess
import sys
from hashlib import shake_128

import pyarrow as pa
import pytest

import discreet as dp
from curator.cases import PEOPLE, ROWS, VISITS, WARDS
from support.profile import DEEP

PERSON = {"age": 119, "income": 1e308, "region": "E", "ward": 99, "town": "Atlantis"}
"""The one person more: alone in her region and town, out of all bounds, in no ward."""
HEAVY = [
    {"id": 7_777, "minutes": m, "day": "2024-01-31", "paid": True}
    for m in (None, 60, -5, 10**9) * 10
]
ASKED = [
    "SELECT COUNT(*) AS n FROM people WHERE age > {n}",
    "SELECT region, COUNT(*) AS n, AVG(income) AS m FROM people WHERE age > {n} GROUP BY region",
    "SELECT region, SUM(income) AS s, STDDEV(age) AS d FROM people WHERE age < 110 - {n} GROUP BY region ORDER BY region",
    "SELECT w.city, COUNT(*) AS n FROM people p JOIN wards w ON p.ward = w.ward WHERE age > {n} GROUP BY w.city",
    "SELECT COUNT(DISTINCT region) AS k, MEDIAN(age) AS q FROM people WHERE age > {n}",
    "SELECT paid, COUNT(*) AS n, COUNT(DISTINCT id) AS people FROM visits WHERE minutes >= {n} GROUP BY paid",
    "SELECT AVG(minutes) AS m, MAX(minutes) AS x FROM visits WHERE minutes >= {n}",
    "SELECT AVG(1 / (age - {n})) AS r FROM people",
    "SELECT nothing FROM people WHERE age > {n}",
    "SELECT COUNT(*) AS n FROM people WHERE age > {n} AND town = 'Atlantis'",
]


KINDS = {"memory": 200 if DEEP else 20, "duckdb": 100 if DEEP else 20}
"""How many questions are asked of each store; fewer of the one that is slower to ask."""


def questions(kind):
    """List the questions with their prices."""
    chance, many = random.Random(12), KINDS[kind]
    return [
        (ASKED[k % len(ASKED)].format(n=k // len(ASKED)), chance.choice(["1/10", "1/7", "9"]))
        for k in range(many)
    ]


def store_of(kind, more):
    rows = {**ROWS, "people": [*ROWS["people"][:80], *([PERSON] if more else [])]}
    rows["visits"] = [*ROWS["visits"][:80], *(HEAVY if more else [])]
    if kind == "memory":
        return dp.Memory(rows)
    return dp.DuckDB({name: pa.Table.from_pylist(each) for name, each in rows.items()})


def fix_the_noise():
    """Let every process draw the same bytes: only for this test, only in a process of its own."""
    taken = [0]

    def rand_bytes(count):
        taken[0] += 1
        return shake_128(b"side band %d" % taken[0]).digest(count)

    ssl.RAND_bytes = rand_bytes


def told(asked, sql, spend):
    """List everything that an analyst sees but the released numbers."""
    try:
        answer = asked.sql(sql, spend=dp.PureDP(spend), why="test")
    except dp.DiscreetError as refused:
        return [type(refused).__name__, str(refused), str(asked.left())]
    facts = answer.receipt.facts()
    shape = [
        answer.columns,
        len(answer),
        answer.keys,
        answer.sorts,
        answer.caption,
        str(answer.plan),
    ]
    public = [
        facts[name]
        for name in ("number", "who", "why", "part", "event", "price", "promise", "tables")
    ]
    return ["answer", *shape, *public, str(asked.left())]


def observed(kind, more):
    """Ask everything of one data set; give what was seen, logged, printed and written down."""
    logged, printed = io.StringIO(), io.StringIO()
    logging.getLogger().addHandler(logging.StreamHandler(logged))
    logging.getLogger().setLevel(logging.DEBUG)
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
        asked = dp.Curator(
            store_of(kind, more),
            [PEOPLE, VISITS, WARDS],
            dp.open_ledger(":memory:", dp.PureDP(80 if DEEP else 30)),
        )
        seen = [told(asked, *question) for question in questions(kind)]
        free = [str(asked.explain(sql, spend=dp.PureDP(1))) for sql, _ in questions(kind)[:7]]
        entries = [
            [
                entry.kind,
                entry.who,
                entry.why,
                entry.question,
                entry.key,
                entry.part,
                entry.event,
                entry.refers,
            ]
            for entry in asked.ledger.history()
        ]
    return {
        "seen": seen,
        "free": free,
        "logged": logged.getvalue(),
        "printed": printed.getvalue(),
        "entries": entries,
    }


def in_a_process(more):
    """Observe one data set in all stores, in a fresh process of its own, with the noise fixed there."""
    here = "from curator import test_side_band as t; t.fix_the_noise(); import json, sys; "
    script = f"{here}json.dump({{kind: t.observed(kind, {more}) for kind in t.KINDS}}, sys.stdout, default=str)"
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert (run.returncode, run.stderr) == (0, "")
    return json.loads(run.stdout)


@pytest.fixture(scope="module")
def neighbours():
    return in_a_process(False), in_a_process(True)


@pytest.mark.parametrize("kind", KINDS)
def test_neighbouring_data_sets_look_the_same_from_outside(kind, neighbours):
    without, with_her = (seen[kind] for seen in neighbours)
    assert len(without["seen"]) == len(questions(kind))
    statuses = {one[0] for one in without["seen"]}
    assert (
        statuses == {"answer", "BudgetExceeded", "UnsupportedQuery"}
        and without["printed"] == without["logged"] == ""
    )
    for name in without:
        assert without[name] == with_her[name], name


def test_the_test_can_tell_them_apart():
    """What must differ does: with noise that is next to nothing one person more shows in a count."""
    answers = []
    for more in (False, True):
        asked = dp.Curator(
            store_of("memory", more),
            [PEOPLE, VISITS, WARDS],
            dp.open_ledger(":memory:", dp.PureDP(10**4)),
        )
        answers.append(
            asked.sql("SELECT COUNT(*) AS n FROM people", spend=dp.PureDP(10**4)).column("n")
        )
    assert answers == [[80], [81]]
