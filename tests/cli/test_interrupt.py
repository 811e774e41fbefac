"""Ctrl-C at any moment: exit code 130, words on what was charged, and the same question goes on under that charge."""

from __future__ import annotations

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import duckdb
import pytest

import discreet as dp

SCHEMA = """format = 1

[tables.people]
version = "1"
neighbours = "add-remove"
unit = { kind = "people", id = "id", max_rows = 3 }

[tables.people.columns]
age = { type = "integer", low = 0, high = 120 }
income = { type = "integer", low = 0, high = 250000 }
"""
SQL = "SELECT age, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY age"
WORDS = ["query", "people.parquet", SQL, "--schema", "people.toml", "--ledger", "people.ledger",
         "--budget", "epsilon=3", "--epsilon", "1"]  # fmt: skip
RUN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from discreet.cli.app import app
sys.exit(app())
"""
"""The command as from a terminal: a job in the background of a shell inherits that Ctrl-C is ignored."""
SLOWLY = """
import time
from discreet.engines.duckdb.engine import DuckDB
run = DuckDB._run
def slowly(self, sql, **how):
    found = run(self, sql, **how)
    if "sum(" in sql:
        self._connection.execute("SELECT count(*) FROM range(100000000) a, range(100000000) b").fetchall()
    return found
DuckDB._run = slowly
"""
"""A store that is still adding up when it has the totals, as long as nobody interrupts it."""


def people(folder, rows: int) -> None:
    made = f"SELECT hash(range) % {rows // 2} AS id, range % 121 AS age, (range * 7919) % 250000 AS income"
    duckdb.sql(
        f"COPY ({made} FROM range({rows})) TO '{folder / 'people.parquet'}' (FORMAT parquet)"
    )
    (folder / "people.toml").write_text(SCHEMA)


def run_until(folder, when=None, *, before: str = "", words=WORDS):
    """Run the command line with a terminal for its errors; press Ctrl-C once `when` says so of what it has shown."""
    mine, its = pty.openpty()
    command = [sys.executable, "-c", before + RUN, *words]
    running = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=its, start_new_session=True
    )
    os.close(its)
    shown, began, pressed = b"", time.monotonic(), False
    while True:
        if select.select([mine], [], [], 0.05)[0]:
            try:
                more = os.read(mine, 65536)
            except OSError:  # nobody writes there any more
                break
            shown += more
            if not more:
                break
        if (
            when is not None
            and not pressed
            and when(shown.decode(errors="replace"), time.monotonic() - began)
        ):
            os.kill(running.pid, signal.SIGINT)
            pressed = True
    out = running.communicate()[0].decode()
    os.close(mine)
    return running.returncode, out, shown.decode(errors="replace")


def charges(folder) -> list[str]:
    with dp.open_ledger(folder / "people.ledger") as ledger:
        return [entry.kind for entry in ledger.history()]


def adding(shown: str, _: float) -> bool:
    return seconds(shown.rpartition("adding up")[2]) >= 1


def seconds(shown: str) -> int:
    """Return the most seconds that progress has shown: a busy machine may pass over some."""
    return max((60 * int(m) + int(s) for m, s in re.findall(r"0:(\d\d):(\d\d)", shown)), default=0)


def test_the_same_question_goes_on_under_its_charge(tmp_path):
    people(tmp_path, 20_000)
    code, out, shown = run_until(tmp_path, adding, before=SLOWLY)
    assert (code, out) == (130, "")
    said = " ".join(shown.split())
    assert (
        "ε = 1 was charged, entry 2; ask the same again: it goes on under that charge, for nothing more"
        in said
    )
    assert "Traceback" not in shown and charges(tmp_path) == ["open", "charge"]
    code, out, shown = run_until(tmp_path)
    assert code == 0 and "cost ε = 1; ± is noise only, at 95 %" in out
    assert charges(tmp_path) == ["open", "charge", "answer"]


@pytest.mark.slow
def test_fifty_million_rows(tmp_path):
    """Progress moves; Ctrl-C at four moments ends in 130; the question then continues under its one charge.

    However fast the machine adds up, it does not end before it is stopped.
    """
    people(tmp_path, 50_000_000)
    moments = [
        lambda shown, passed: passed > 2 and bool(shown.strip()),
        lambda shown, _: "adding up" in shown,
        adding,
        lambda shown, _: seconds(shown) >= 8,
    ]
    for moment in moments:
        code, out, shown = run_until(tmp_path, moment, before=SLOWLY)
        assert (code, out) == (130, "") and "Traceback" not in shown, shown
        assert "charged" in shown
    assert len(set(re.findall(r"0:\d\d:\d\d", shown))) > 3  # it moved
    assert charges(tmp_path) == ["open", "charge"]
    code, out, shown = run_until(tmp_path)
    assert code == 0 and out.count("±") == 242 + 1  # two a row, and one in the caption
    assert charges(tmp_path) == ["open", "charge", "answer"]
