"""Charges per second against bare durable commits of the same store, and what one costs in a long ledger.

    python benchmarks/ledger.py [rounds] [entries]

Every round times a charge, an answer and a bare durable commit of one row in turn, so that all see the same machine.
PostgreSQL is a server of its own with fsync on. Long ledgers, of 1,000 entries up to the number given, are filled through
the same code without syncing; what one charge takes in each is processor time.
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
from discreet.ledger.charge_order import ChargeOrder
from discreet.privacy.events import LaplaceNoise

ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 300
ENTRIES = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
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
        print(
            f"  {name:44} {each:8.3f} ms   {1000 / each:8.0f} / s   {each / medians[bare]:5.2f} ×"
        )


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
            table(
                f"SQLite, {name}",
                interleaved(calls, ROUNDS),
                "bare SQLite commit (WAL, synchronous=FULL)",
            )
    bare.close()


def in_a_server():
    import psycopg

    if subprocess.run([SETUP, "install"], capture_output=True, check=False).returncode:
        print("\nPostgreSQL: no server here")
        return
    home = tempfile.mkdtemp(prefix="pg")
    dsn = subprocess.run(
        [SETUP, "start", home], capture_output=True, check=True, text=True
    ).stdout.strip()
    try:
        restarted(home)
        with (
            psycopg.connect(dsn, autocommit=True) as bare,
            dp.open_ledger(dsn, dp.PureDP(10**6)) as ledger,
        ):
            assert bare.execute("SHOW fsync").fetchone() == ("on",)
            bare.execute("SET synchronous_commit = on")
            bare.execute("CREATE TABLE t (x bigserial PRIMARY KEY, line text)")
            charge, finish = charges(ledger)
            calls = {
                "bare PostgreSQL commit (fsync on)": lambda: bare.execute(
                    "INSERT INTO t (line) VALUES (%s)", (LINE,)
                ),
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
    become = (
        ["setpriv", "--reuid=postgres", "--regid=postgres", "--init-groups", "--"]
        if os.getuid() == 0
        else []
    )
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


def per_charge(ledger, rounds):
    """Return the processor time, in microseconds, of a charge with its answer, of a look for an answer, of a total."""
    kept, taken = [], {"charge and answer": 0.0, "find": 0.0, "left": 0.0}
    for number in range(rounds):
        key = f"2:{os.urandom(16).hex()}"
        order = ChargeOrder(
            f"analyst {number % 20}", "", key[2:], key, EVENT, text="SELECT …", apart=True
        )

        def charge(order=order):
            ledger.finish(ledger.settle(order).charge, '{"n": 12}')

        kept.append(order)
        for name, call in (
            ("charge and answer", charge),
            ("find", lambda: ledger.find(kept[-1])),
            ("left", lambda order=order: ledger.left(order.who)),
        ):
            begin = time.process_time()
            call()
            taken[name] += time.process_time() - begin
    return {name: 1e6 * each / rounds for name, each in taken.items()}


def long_ledgers(folder):
    """Print what one charge costs in ledgers of growing length: nothing that is done for one may walk the chain."""
    sizes = [10**power for power in range(3, 10) if 10**power <= ENTRIES]
    print("\nlength of the chain, processor time")
    print(
        f"  {'entries':>9} {'charge+answer':>14} {'find':>9} {'left':>9} {'open':>9} {'verify':>12} {'in the file':>12}"
    )
    for size in sizes:
        path = folder / f"{size}.ledger"
        filled(path, size)
        begin = time.process_time()
        with dp.open_ledger(path) as ledger:
            ledger.left()
            opened = 1e6 * (time.process_time() - begin)
            each = per_charge(ledger, ROUNDS)
            begin = time.process_time()
            verdict = ledger.verify()
            walked = 1e6 * (time.process_time() - begin) / verdict.entries
        shown = " ".join(
            f"{each[name]:>{wide}.0f} µs"
            for name, wide in (("charge and answer", 11), ("find", 6), ("left", 6))
        )
        print(
            f"  {size:>9} {shown} {opened:>6.0f} µs {walked:>6.0f} µs/ent {path.stat().st_size / size:>6.0f} B/ent"
        )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as made:
        in_a_file(Path(made))
        in_a_server()
        long_ledgers(Path(made))
