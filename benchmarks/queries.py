"""Questions beside the plain query on the same rows.

    python benchmarks/queries.py                     DuckDB, 10 million rows: a family of questions over three schemas
    python benchmarks/queries.py --seeds 7 8         … with other schemas drawn than those of the seeds 1 and 2
    python benchmarks/queries.py --bounds            exact totals of one question under each person bound, and the peers
    python benchmarks/queries.py --postgres DSN      these also on PostgreSQL, 2 million rows
    python benchmarks/queries.py --spark             also Spark, local, 2 million rows
    python benchmarks/queries.py --rows N            N rows, of N/10 people, instead
    python benchmarks/queries.py --only prepared     the lines with that word in their store or question, no peers

The family (`query_family.py`, `query_lines.py`): keys × statistics × rows or people × WHERE or none, whole questions over
a prepared store, CPU time as a multiple of the plain query; every line is printed, then the median, the worst, and how
many miss their target. The rest of this page is about `--bounds`: count, sum and mean of income by state.

Every number is a ratio to the plain query, interleaved with it: CPU time (wall time on servers), the least of several
runs. On DuckDB each line is a process of its own; peak memory is what its first run adds, before any plain query. A
whole question has its noise and intervals in it, but not its planning, which is timed by itself.

Peers run in their own environments (`.venv-bench-NAME`, made by `make bench`), each in a process of its own, in turns
with the plain DuckDB query over the same file, or with PostgreSQL's own on PostgreSQL. Their CPU time includes all their
children, such as Spark's Java machine. Warm is the least of the runs after the first, with Spark running, data that the
peer wants in memory already there and OpenDP's noise already calibrated, as ours has no planning in it; cold is all from
the start of the process to the first answer. Peak memory is what loading and the first run add after the imports, summed
over the processes. Slow peers get a part of the rows, where fixed costs weigh more; compare lines with the same rows.
A peer that is not installed, or does not run, is named as such.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import query_lines
import query_methods
import query_peers
from query_data import fill, generate
from query_table import Line, head, show

HERE = Path(__file__).parent
ORDERS = (
    ("random", "", "Parquet", 1),
    ("sorted", "", "Parquet, by person", 1),
    ("scattered", "", "Parquet, ids scattered", 1),
    ("tenth", "", "Parquet", 10),
    ("random", "arrow", "Arrow", 1),
    ("sorted", "arrow", "Arrow, by person", 1),
    ("scattered", "store", "prepared, ids scattered", 1),
)
PARTS = {"random": 1, "tenth": 10, "hundredth": 100}


def ours(place: str, rows: int, only: str) -> None:
    for order, held, store, part in ORDERS:
        if only not in store:
            continue
        for method in (*query_methods.METHODS, *query_methods.WHOLE):
            command = [
                sys.executable,
                HERE / "query_methods.py",
                method,
                f"{place}/{order}.parquet",
                held,
            ]
            run = subprocess.run(command, check=True, capture_output=True, text=True)
            found = json.loads(run.stdout)
            show(
                Line(
                    method,
                    f"DuckDB, {store}",
                    found["times"],
                    found["base"],
                    found["memory"],
                    rows // part,
                )
            )


def peer(name: str, where: str, rows: int, place: str) -> None:
    """Measure a peer in its own environment; it runs in `place`, where it may leave files."""
    told = (query_peers.PEERS | query_peers.SERVED)[name]
    method = f"{name.partition(' on ')[0]}, {told.bound}"
    python = HERE.parent / f".venv-bench-{told.home}" / "bin" / "python"
    if not (python.parents[1] / ".ready").exists():
        show(Line(method, told.store, "not installed"))
        return
    command = [python, HERE / "query_peers.py", name, where]
    run = subprocess.run(command, check=False, capture_output=True, text=True, cwd=place)
    if run.returncode:
        show(Line(method, told.store, "does not run"))
        print(run.stderr, file=sys.stderr)
        return
    found = json.loads(run.stdout.splitlines()[-1])
    show(Line(f"{method}, warm", told.store, found["times"], found["base"], found["memory"], rows))
    show(Line(f"{method}, cold", told.store, found["cold"], found["base"], None, rows))


def on_duckdb(rows: int, only: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        generate(Path(place), rows, rows // 10)
        ours(place, rows, only)
        for name, told in () if only else query_peers.PEERS.items():
            peer(name, f"{place}/{told.part}.parquet", rows // PARTS[told.part], place)


def on_postgres(dsn: str, rows: int) -> None:
    import psycopg

    with psycopg.connect(dsn, autocommit=True) as server, tempfile.TemporaryDirectory() as place:
        fill(server, rows, rows // 10)
        for store, method, times, base in query_methods.on_postgres(dsn):
            show(Line(method, store, times, base, None, rows))
        for name in query_peers.SERVED:
            peer(name, dsn, rows, place)
        server.execute("DROP TABLE events")


def on_spark(rows: int) -> None:
    with tempfile.TemporaryDirectory() as place:
        generate(Path(place), rows, rows // 10)
        for method, times, base in query_methods.on_spark(f"{place}/random.parquet"):
            show(Line(method, "Spark, warm", times, base, None, rows))


def on_nothing() -> None:
    for name, planned, run in query_methods.on_nothing():
        print(
            f"By {name}: planning {1000 * planned:.1f} ms; over no rows, with noise: {1000 * run:.1f} ms, CPU"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--postgres", metavar="DSN")
    parser.add_argument("--spark", action="store_true")
    parser.add_argument("--only", default="", metavar="WORD")
    parser.add_argument("--seeds", type=int, nargs="*", default=[1, 2])
    parser.add_argument("--bounds", action="store_true")
    asked = parser.parse_args()
    if not (asked.bounds or asked.postgres or asked.spark):
        for name in ("first", *map(str, asked.seeds)):
            query_lines.main(name, asked.rows, [asked.only])
        return
    on_nothing()
    head()
    on_duckdb(asked.rows, asked.only)
    if asked.postgres:
        on_postgres(asked.postgres, asked.rows // 5)
    if asked.spark:
        on_spark(asked.rows // 5)


if __name__ == "__main__":
    main()
