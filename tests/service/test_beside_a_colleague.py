"""What an analyst sees is the same, byte for byte, whether or not a colleague has asked: HTTP, pages, wire, client.

Two services are asked the same by bob; in one of them ana has asked before, between his questions too. The noise is
next to nothing, so released numbers are equal, whoever drew them. Left out are hashes, times and random names alone.
"""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager

import psycopg
import pytest

import discreet as dp
from service.deployment import build, free_port, serving

SPEND = {"rho": "10000000000000000"}
RHO = SPEND["rho"]
BUDGET = f'{{ rho = "{RHO}000" }}\nallowances = {{ ana = {{ rho = "{RHO}00" }}, bob = {{ rho = "{RHO}00" }} }}'
TOTAL = "SELECT COUNT(*) AS n FROM people"
YOUNG = f"{TOTAL} WHERE age < 18"
NORTH = "SELECT COUNT(*) AS n FROM people WHERE region = 'N'"
TABLE = "SELECT region, COUNT(*) AS n, AVG(income) AS m FROM people GROUP BY region"
FINE = "SELECT region, age, COUNT(*) AS n FROM people GROUP BY region, age"
BY_REGION = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
OF_BOB = [TOTAL, YOUNG, TABLE, NORTH, NORTH.replace("'N'", "'S'"), FINE, BY_REGION, YOUNG]
"""Charged, a contrast, a table, siblings, finer cells, a sum of them, and one again."""
BETWEEN = {
    "the same and others": [
        (sql, f"{TOTAL} WHERE income > {k}000") for k, sql in enumerate(OF_BOB)
    ],
    "what answers his": [(YOUNG, FINE), (BY_REGION, TABLE), (FINE, TOTAL), (NORTH,), (TABLE,)],
}
"""What ana asks before each of his questions."""
RANDOM = re.compile(
    r"\b[0-9a-f]{64}\b"  # hashes of entries, receipts and questions
    # Names of jobs and marks of forms: letters, with a digit or a capital among them.
    r"|(?<![\w-])(?=[\w-]*[A-Za-z])(?=[\w-]*[A-Z0-9])[\w-]{22,43}(?![\w-])"
    r"|\d{4}-\d\d-\d\d[T ][0-9:.]+(?:Z|\+00:00)?"
    r"|\d+(?:\.\d+)? ?(?:s|ms|seconds?)\b"
)


def plain(text, port):
    """Leave out of a text what differs between any two runs: hashes, times, random names, the port."""
    return RANDOM.sub("…", text.replace(f":{port}", ":PORT"))


@contextmanager
def service(folder):
    deployment = build(
        folder, budget=BUDGET, port=free_port(), service='grid = "0.05"', dataset="siblings = true"
    )
    listener = free_port()
    with serving(deployment, postgres=f"127.0.0.1:{listener}"):
        yield deployment, listener


def follow(http, path, body):
    """Send a request and follow its job; return the reply of its end as text."""
    sent = http.post(path, json=body)
    if sent.status_code != 202:
        assert sent.status_code == 200, sent.text
        return json.dumps(sent.json())
    place = sent.headers["Location"].removeprefix("/api/v1")
    seen = sent.json()
    while "reply" not in seen:
        time.sleep(max(0.01, seen["again_in"]))
        seen = http.get(place).json()
    assert seen["status"] == 200, seen
    return json.dumps(seen["reply"])


def body_of(sql):
    return {"sql": sql, "spend": SPEND, "why": "a report"}


def books(http, most):
    """Read all that is told about the own account, and receipts by every number that might be one."""
    seen = [http.get("/datasets/people").text]
    seen += [http.get(f"/datasets/people/{name}").text for name in ("left", "spent", "history")]
    seen += [http.get(f"/datasets/people/receipt/{n}").text for n in range(most)]
    return [*seen, http.get("/me").text, http.get("/jobs").text, http.get("/datasets").text]


def pages(deployment):
    """Read the pages that list what was asked, and each answer that they name."""
    with deployment.client() as visitor:
        visitor.base_url = deployment.url
        visitor.headers["Origin"] = deployment.url
        visitor.post("/sign-in", data={"token": deployment.tokens["bob"]})
        seen = [visitor.get("/history").text]
        for link in re.findall(r'"(/answers/[^"/?]+)"', seen[0]):
            seen += [visitor.get(link).text, visitor.get(f"{link}/receipt.json").text]
        seen += [visitor.get(path).text for path in ("/workbench/people", "/dashboards", "/made")]
    return seen


def on_the_wire(deployment, port):
    """Ask over the PostgreSQL wire: rows, notices and the plan."""
    notices = []
    words = {"user": "bob", "password": deployment.tokens["bob"], "dbname": "people"}
    with psycopg.connect(
        host="127.0.0.1", port=port, options=f"-c discreet.rho={RHO}", autocommit=True, **words
    ) as line:
        line.add_notice_handler(lambda one: notices.append(f"{one.severity} {one.message_primary}"))
        seen = [str(line.execute(sql).fetchall()) for sql in (YOUNG, BY_REGION, f"EXPLAIN {YOUNG}")]
    return [*seen, *notices]


def through_the_client(deployment):
    with dp.connect(deployment.url, deployment.tokens["bob"], dataset="people") as remote:
        answer = remote.sql(YOUNG, spend=dp.ZCDP(int(RHO)))
        entries = remote.history()
        receipt = remote.receipt(answer.receipt.number)
        assert receipt == answer.receipt
        assert receipt.charge in {entry.hash for entry in entries}
        told = [answer.caption, answer.details(), receipt, entries, remote.left(), remote.spent()]
        return list(map(str, told))


def seen_by_bob(folder, between):
    """Return all that bob is sent, in order, where ana asks `between` before his questions."""
    seen = []
    with service(folder) as (deployment, listener):
        bob, ana = deployment.client("bob"), deployment.client("ana")
        for place, sql in enumerate(OF_BOB):
            for before in between[place] if place < len(between) else ():
                follow(ana, "/datasets/people/sql", body_of(before))
            seen.append(bob.post("/datasets/people/explain", json=body_of(sql)).text)
            seen.append(follow(bob, "/datasets/people/sql", body_of(sql)))
        synthesis = {"table": "people", "spend": SPEND, "columns": ["region", "age"]}
        for asker in (ana, bob) if between else (bob,):
            follow(asker, "/datasets/people/synthesize", synthesis)
        seen += [*books(bob, 40), *pages(deployment)]
        seen += [*on_the_wire(deployment, listener), *through_the_client(deployment)]
        if between:
            ledger = dp.open_ledger(deployment.folder / "people.ledger")
            assert {entry.who for entry in ledger.history() if entry.kind == "charge"} >= {"ana"}
            ledger.close()
        seen = [plain(plain(text, deployment.url.rpartition(":")[2]), listener) for text in seen]
        bob.close()
        ana.close()
    return seen


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    return seen_by_bob(tmp_path_factory.mktemp("alone"), [])


@pytest.mark.parametrize("between", [
    "the same and others", *(pytest.param(one, marks=pytest.mark.slow) for one in list(BETWEEN)[1:]),
])  # fmt: skip
def test_no_byte_tells_that_a_colleague_has_asked(tmp_path, alone, between):
    beside = seen_by_bob(tmp_path, BETWEEN[between])
    assert len(beside) == len(alone)
    for place, (one, other) in enumerate(zip(alone, beside, strict=True)):
        assert one == other, place
