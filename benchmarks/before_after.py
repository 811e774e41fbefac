"""What importing, planning and one small question cost beside an older checkout: fresh interpreters in turn.

    python benchmarks/before_after.py /path/to/old/checkout [rounds]

Each line is one probe: CPU time (milliseconds) in the older checkout and here, medians of fresh interpreters that take
turns, and the ratio. Questions are asked after one of their kind was asked (the first pays for imports: it has a line
of its own); a question costs the median of eleven that differ in their spend, so that none is given free. Opening is
measured with a first question: a file is read, and refused, when it is opened (docs/decisions/0014-read-once.md), where
0.1.0 read it in each question and not before.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parents[1]

PEOPLE = """
import time, statistics
import discreet as dp
people = dp.Schema("people", unit=dp.Rows(), columns={"age": dp.Integer(0, 120), "income": dp.Real(0, 250_000),
                   "region": dp.Category(["N", "S", "E", "W"])})
def curator(store=None, name=":memory:"):
    ledger = dp.open_ledger(name, budget=dp.PureDP(10_000))
    return dp.Curator(store or dp.DuckDB({"people": "people.csv"}), [people], ledger)
BY_REGION = "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region"
COUNT = "SELECT COUNT(*) AS n FROM people"
def cost(act, times=11):
    spent = []
    act(0)
    for turn in range(1, times + 1):
        start = time.process_time()
        act(turn)
        spent.append(time.process_time() - start)
    print(statistics.median(spent))
"""

IMPORT = "import time; t = time.process_time(); {0}; print(time.process_time() - t)"

PROBES = {
    "import discreet": IMPORT.format("import discreet"),
    "import privacy": IMPORT.format("import discreet.privacy"),
    "import mechanisms, every name": IMPORT.format("from discreet.mechanisms import *"),
    "import curator": IMPORT.format("import discreet.curator"),
    "import engines and duckdb": IMPORT.format("from discreet import DuckDB; import duckdb"),
    "first question, imports and all": "import time; t = time.process_time()\n"
    + PEOPLE
    + ("curator().sql(COUNT, spend=dp.PureDP(1)); print(time.process_time() - t)"),
    "read SQL": PEOPLE
    + "from discreet.query import parse; cost(lambda turn: parse(BY_REGION, {'people': people}))",
    "plan a count": PEOPLE
    + (
        "from discreet.query import parse; asked = parse(COUNT, {'people': people})\n"
        "cost(lambda turn: dp.plan_question(asked, spend=dp.PureDP(turn + 1)))"
    ),
    "plan counts and means by region": PEOPLE
    + (
        "from discreet.query import parse; asked = parse(BY_REGION, {'people': people})\n"
        "cost(lambda turn: dp.plan_question(asked, spend=dp.PureDP(turn + 1)))"
    ),
    "explain": PEOPLE
    + "own = curator(); cost(lambda turn: str(own.explain(BY_REGION, spend=dp.PureDP(turn + 1))))",
    "open, and ask by region": PEOPLE
    + "cost(lambda turn: curator().sql(BY_REGION, spend=dp.PureDP(turn + 1)))",
    "a count, new ledger": PEOPLE
    + (
        "store = dp.DuckDB({'people': 'people.csv'})\n"
        "cost(lambda turn: curator(store).sql(COUNT, spend=dp.PureDP(turn + 1)))"
    ),
    "a count": PEOPLE
    + "own = curator(); cost(lambda turn: own.sql(COUNT, spend=dp.PureDP(turn + 1)))",
    "by region, ledger in memory": PEOPLE
    + ("own = curator(); cost(lambda turn: own.sql(BY_REGION, spend=dp.PureDP(turn + 1)))"),
    "by region, ledger in a file": PEOPLE
    + (
        "import tempfile, os; own = curator(name=os.path.join(tempfile.mkdtemp(dir='.'), 'l.ledger'))\n"
        "cost(lambda turn: own.sql(BY_REGION, spend=dp.PureDP(turn + 1)))"
    ),
    "the same question again": PEOPLE
    + ("own = curator(); cost(lambda turn: own.sql(BY_REGION, spend=dp.PureDP(1)))"),
}


def cost(checkout: Path, script: str, folder: str) -> float:
    """Run a probe on one checkout; what is compiled lies in the folder, so that both find their own compiled."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    environment |= {
        "PYTHONPATH": str(checkout / "src"),
        "PYTHONHASHSEED": "0",
        "PYTHONPYCACHEPREFIX": folder + "/cache",
    }
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script],
        capture_output=True,
        check=True,
        cwd=folder,
        env=environment,
    )
    return 1000 * float(run.stdout.split()[-1])


def main(old: str, rounds: int = 9, *chosen: str) -> None:
    homes = (Path(old).resolve(), HERE)
    names = [name for name in PROBES if not chosen or any(word in name for word in chosen)]
    print(f"CPU time, medians of {rounds} fresh interpreters each, in turn\n")
    print(f"  {'':34} {'before':>9} {'after':>9} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        rows = "".join(f"{20 + i % 60},{1000 * (i % 90)},{'NSEW'[i % 4]}\n" for i in range(1000))
        Path(folder, "people.csv").write_text("age,income,region\n" + rows, encoding="utf-8")
        for name in names:
            times: tuple[list[float], list[float]] = ([], [])
            for home in homes:
                cost(home, PROBES[name], folder)  # compiles what is imported
            for _ in range(rounds):
                for home, spent in zip(homes, times, strict=True):
                    spent.append(cost(home, PROBES[name], folder))
            before, after = (statistics.median(spent) for spent in times)
            print(f"  {name:34} {before:6.1f} ms {after:6.1f} ms {after / before:6.2f}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *(int(word) for word in sys.argv[2:3]), *sys.argv[3:])
