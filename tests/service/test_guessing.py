"""Strangers who guess by the thousand over both protocols, and one request sent many times at once (D6)."""

from __future__ import annotations

import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path

import psycopg
import pytest

from support.profile import DEEP

from .deployment import build, free_port, start
from .postgres.raw import Raw, error_of

PAGE = os.sysconf("SC_PAGE_SIZE")


def _limited(deployment, **limits):
    """Limits as they are by default, which the tests' own service has not."""
    text = deployment.config.read_text()
    for name, value in limits.items():
        text = text.replace(f"{name} = 100000", f"{name} = {value}")
        text = text.replace(f"{name} = 1000\n", f"{name} = {value}\n")
    deployment.config.write_text(text)


def _megabytes(process):
    fields = Path(f"/proc/{process}/statm").read_text().split()
    return int(fields[1]) * PAGE / 1e6


@pytest.mark.slow
def test_guesses_by_the_thousand(tmp_path):
    """Guesses over HTTP, pages and PostgreSQL's protocol: limits hold, nobody else waits, memory stays."""
    deployment = build(
        tmp_path, port=free_port(), service='grid = "0.05"', limits="free_seconds = 60"
    )
    _limited(deployment, failures_per_minute=20)
    port, count = free_port(), 1500 if DEEP else 100
    server = start(deployment, postgres=port)
    found = Counter()

    def guess(number):
        token = f"dsc_{number:043d}"
        with deployment.client() as client:
            headers = {"Authorization": f"Bearer {token}"}
            found["http", client.get("/me", headers=headers).status_code] += 1
            path = deployment.url + "/sign-in"
            found["page", client.post(path, data={"token": token}).status_code] += 1
        # Names of people and of nobody, whole and given up half-way.
        with Raw(port) as line:
            found["wire", error_of(line.sign_in(("ana", "nobody")[number % 2], token))] += 1

    def rightly():
        """Somebody with the right token is answered, from the same address."""
        where = (
            f"host=127.0.0.1 port={port} user=ana dbname=people password={deployment.tokens['ana']}"
        )
        with psycopg.connect(where, connect_timeout=30) as line, deployment.client("ana") as client:
            assert line.execute("SELECT 1").fetchone() == (1,)
            assert client.get("/me").status_code == 200

    try:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(guess, range(200 if DEEP else 20)))
            before = _megabytes(server.process.pid)
            for done in range(count // 100):
                list(pool.map(guess, range(1000 + 100 * done, 1100 + 100 * done)))
                rightly()
        grown = _megabytes(server.process.pid) - before
        with deployment.client("ana") as client:
            spent = client.get("/datasets/people/spent").json()["spent"]
    finally:
        server.stop()
    assert {status for way, status in found if way != "wire"} == {401, 429}
    assert {status for way, status in found if way == "wire"} == {"28P01", "53300"}
    # Limited by address: a few dozens of thousands were looked at.
    refused = sum(number for (_, status), number in found.items() if status in (401, "28P01"))
    assert refused < sum(found.values()) / 2
    assert grown < 20, (grown, found)
    assert Fraction(spent["epsilon"]) == 0
    assert "Traceback" not in (tmp_path / "server.txt").read_text()
