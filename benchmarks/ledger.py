"""Charges per second against bare durable commits of the same store, and a ledger of a million entries.

    python benchmarks/ledger.py [rounds] [entries]

Every round times a charge, an answer and a bare durable commit of one row in turn, so that all see the same machine.
PostgreSQL is a server of its own with fsync on. The long ledger is filled through the same code without syncing.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import discreet as dp
from discreet.privacy.events import LaplaceNoise

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
ENTRIES = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
EVENT = LaplaceNoise(scale=1000, sensitivity=1)
SETUP = Path(__file__).parents[1] / "tests" / "setup_postgres.sh"
LINE = "x" * 700  # about the length of an entry


def timed(call):
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def interleaved(calls, rounds):
    """Time each call in turn; give the medians in milliseconds."""
    for call in calls.values():
        call()
    times = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            times[name].append(timed(call))
    return {name: 1000 * statistics.median(each) for name, each in times.items()}


def table(title, medians, bare):
    print(f"\n{title}")
    for name, each in medians.items():
        print(f"  {name:44} {each:8.3f} ms   {1000 / each:8.0f} / s   {each / medians[bare]:5.2f} ×")


def charges(ledger):
    """One reservation, and one release of a small answer."""
    held = []

    def charge():
        held.append(ledger.charge(EVENT, who="ann", why="benchmark", key=os.urandom(16).hex()))

    def finish():
        ledger.finish(held.pop() if held else ledger.charge(EVENT, who="ann"), '{"n": 12}')

    return charge, finish


def in_a_file(folder):
    bare = sqlite3.connect(folder / "bare.db", isolation_level=None)
    bare.execute("PRAGMA journal_mode = WAL")
    bare.execute("PRAGMA synchronous = FULL")
    bare.execute("CREATE TABLE t (x INTEGER PRIMARY KEY, line TEXT)")

    def commit():
        bare.execute("BEGIN IMMEDIATE")
        bare.execute("INSERT INTO t (line) VALUES (?)", (LINE,))
        bare.execute("COMMIT")

    def synced():
        os.write(plain, LINE.encode())
        os.fdatasync(plain)

    plain = os.open(folder / "plain", os.O_CREAT | os.O_WRONLY | os.O_APPEND)
    for name, budget in (("pure", dp.PureDP(10**6)), ("residue", dp.ApproxDP(100, 1e-6))):
        with dp.open_ledger(folder / f"{name}.ledger", budget) as ledger:
            charge, finish = charges(ledger)
            calls = {
                "bare SQLite commit (WAL, synchronous=FULL)": commit,
                f"charge ({name})": charge,
                f"finish ({name})": finish,
                "bare write and fdatasync": synced,
            }
            table(f"SQLite, {name}", interleaved(calls, ROUNDS), "bare SQLite commit (WAL, synchronous=FULL)")
    bare.close()


def in_a_server():
    import psycopg

    if subprocess.run([SETUP, "install"], capture_output=True, check=False).returncode:
        print("\nPostgreSQL: no server here")
        return
    home = tempfile.mkdtemp(prefix="pg")
    dsn = subprocess.run([SETUP, "start", home], capture_output=True, check=True, text=True).stdout.strip()
    try:
        restarted(home)
        with psycopg.connect(dsn, autocommit=True) as bare, dp.open_ledger(dsn, dp.PureDP(10**6)) as ledger:
            assert bare.execute("SHOW fsync").fetchone() == ("on",)
            bare.execute("SET synchronous_commit = on")
            bare.execute("CREATE TABLE t (x bigserial PRIMARY KEY, line text)")
            charge, finish = charges(ledger)
            calls = {
                "bare PostgreSQL commit (fsync on)": lambda: bare.execute("INSERT INTO t (line) VALUES (%s)", (LINE,)),
                "charge": charge,
                "finish": finish,
            }
            table("PostgreSQL", interleaved(calls, ROUNDS), "bare PostgreSQL commit (fsync on)")
    finally:
        subprocess.run([SETUP, "stop", home], check=True)


def restarted(home):
    """Start the tests' server again with fsync on, as a server should be."""
    data = Path(home) / "data"
    tool = Path(shlex.split((data / "postmaster.opts").read_text())[0]).with_name("pg_ctl")
    become = ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"] if os.getuid() == 0 else []
    options = f"-c listen_addresses='' -c unix_socket_directories='{home}' -c fsync=on"
    again = [tool, "-D", data, "-w", "-l", f"{home}/log", "-o", options, "restart"]
    subprocess.run([*become, *again], check=True, stdout=subprocess.DEVNULL, cwd=home)


def filled(path, entries):
    """Fill a ledger fast: the same decisions, one after the other in one transaction."""
    ledger = dp.open_ledger(path, dp.PureDP(10**6))
    store = ledger._store  # noqa: SLF001 to fill it without a sync for every entry
    connection = store._connection()  # noqa: SLF001
    connection.execute("BEGIN IMMEDIATE")
    store._turn = lambda _begin: _Held(connection)  # noqa: SLF001
    for number in range(entries):
        ledger.charge(EVENT, who=f"analyst {number % 20}", key=os.urandom(16).hex())
    del store._turn  # noqa: SLF001
    connection.execute("COMMIT")
    ledger.close()


class _Held:
    def __init__(self, connection):
        self.connection = connection

    def __enter__(self):
        return self.connection

    def __exit__(self, *raised):
        return None


def long_ledgers(folder):
    small, large = folder / "small.ledger", folder / "large.ledger"
    filled(small, 1000)
    print(f"\nfilling {ENTRIES} entries took {timed(lambda: filled(large, ENTRIES)):.0f} s,", end=" ")
    print(f"{large.stat().st_size / ENTRIES:.0f} bytes each")
    for path in (small, large):
        opened = []
        print(f"  opening {path.name:14} {timed(lambda: opened.append(dp.open_ledger(path).left())) * 1000:8.1f} ms")  # noqa: B023
    with dp.open_ledger(small) as one, dp.open_ledger(large) as other:
        calls = {"charge at 1 000 entries": charges(one)[0], f"charge at {ENTRIES} entries": charges(other)[0]}
        table("length of the chain", interleaved(calls, ROUNDS), "charge at 1 000 entries")
        begin = time.perf_counter()
        verdict = one.verify()
        print(f"\n  verification: {(time.perf_counter() - begin) / verdict.entries * 1e6:.0f} µs per entry")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as made:
        in_a_file(Path(made))
        in_a_server()
        long_ledgers(Path(made))
