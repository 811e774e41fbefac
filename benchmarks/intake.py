"""Intake of a file: the CPU time of `dp.prepare` as a multiple of DuckDB's own reading, and the memory it takes.

    python benchmarks/intake.py                     2 million rows of 200,000 people
    python benchmarks/intake.py --rows 50000000 --memory 1500MB
    python benchmarks/intake.py --parquet           the same rows in a Parquet file

The plain side is `CREATE TABLE AS SELECT * FROM read_csv(…)` or `read_parquet(…)` into a file, types detected. Ours has the check of the
grammar in it, the reading of every cell by its declaration, the steward's counts, the digest of the source; with people
also their numbers, the counts and shares of their rows, and the order by person. Runs take turns, each in a process of
its own; the least CPU time of each counts, and the most memory.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

import discreet as dp
from query_clock import cpu, peak

COLUMNS = {
    "state": dp.Category([f"S{place:02d}" for place in range(50)]),
    "income": dp.Real(0, 250_000, step=0.01),
    "age": dp.Integer(0, 120),
    "day": dp.Date("2020-01-01", "2024-12-31"),
}
SCHEMAS = {
    "rows": dp.Schema("events", dp.Rows(), COLUMNS),
    "people": dp.Schema("events", dp.People("user_id", max_rows=10), COLUMNS),
}


def generate(path: Path, rows: int) -> None:
    with duckdb.connect() as connection:
        connection.execute("SELECT setseed(0.5)")
        connection.execute(
            f"""COPY (SELECT hash(who) >> 1 AS user_id, 'S' || lpad(CAST(hash(who) % 50 AS VARCHAR), 2, '0') AS state,
            CASE WHEN random() < 0.01 THEN NULL ELSE round(random() * 200000, 2) END AS income,
            CAST(floor(random() * 100) AS INTEGER) AS age,
            DATE '2020-01-01' + CAST(floor(random() * 1500) AS INTEGER) AS day
            FROM (SELECT CAST(floor(random() * {rows // 10}) AS INTEGER) AS who FROM range({rows})))
            TO '{path}'"""
        )


def run(method: str, path: str, memory: str) -> dict[str, float]:
    """Read the file once, in this process."""
    with tempfile.TemporaryDirectory(dir=Path(path).parent) as place:
        start = cpu()
        if method == "plain":
            with duckdb.connect(
                f"{place}/plain", config={"memory_limit": memory} if memory else {}
            ) as connection:
                connection.execute(f"CREATE TABLE events AS FROM '{path}'")
        else:
            dp.prepare(
                {"events": path}, [SCHEMAS[method]], f"{place}/store", memory=memory or None
            ).close()
        return {"cpu": cpu() - start, "peak": peak()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", default="")
    parser.add_argument("--parquet", action="store_true")
    asked = parser.parse_args()
    found: dict[str, list[dict[str, float]]] = {"plain": [], "rows": [], "people": []}
    with tempfile.TemporaryDirectory() as place:
        source = Path(place) / ("events.parquet" if asked.parquet else "events.csv")
        generate(source, asked.rows)
        for _ in range(asked.rounds):
            for method, runs in found.items():
                command = [sys.executable, __file__, method, str(source), asked.memory]
                runs.append(
                    json.loads(
                        subprocess.run(command, check=True, capture_output=True, text=True).stdout
                    )
                )
    least = {method: min(each["cpu"] for each in runs) for method, runs in found.items()}
    print(f"| {asked.rows:,} rows | CPU, s | × DuckDB's own | peak memory, MB |\n|---|---|---|---|")
    for method, seconds in least.items():
        memory = max(each["peak"] for each in found[method])
        print(f"| {method} | {seconds:.2f} | {seconds / least['plain']:.1f} | {memory:.0f} |")


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] in ("plain", *SCHEMAS):
        print(json.dumps(run(*sys.argv[1:])))
    else:
        main()
