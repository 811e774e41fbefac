"""How far off answers are for a budget, beside peers: `python benchmarks/utility.py --peers .venv-bench` (`make bench`).

    job | discreet | the best peer with the same promise | reachable | other peers

Every number is a root mean square error over `--runs` runs (300 by default) with its standard error; each run is charged
in full to a ledger of its own. A peer is compared where it makes the same promise, or a stronger one; what promises
something else is shown with its promise. A line is marked with ! where such a peer is better by more than three standard
errors of the difference, with ~ where what is reachable is missed by more than a tenth. Exits with 1 if any has a !.
Then every job says how often its predicted 95 % error and its 95 % interval held.

`--jobs TEXT` does the jobs whose name holds a text, `--peers PREFIX` says where the environments of the peers are
(PREFIX-opendp and so on; PREFIX itself has diffprivlib and PyDP). A peer that is not installed is named. `--keep FOLDER`
keeps all runs there and does only those that are missing, so that a long run may be done in pieces: `--who opendp,discreet`
does these only. `--page FILE` writes the tables as Markdown.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from utility_data import made
from utility_jobs import JOBS, Columns, Job
from utility_table import page, tables

HOMES = {
    "opendp": "-opendp",
    "diffprivlib": "",
    "pydp": "",
    "pipelinedp": "-pipelinedp",
    "smartnoise": "-smartnoise",
    "tumult": "-tumult",
}


def main() -> int:
    """Do what is missing, and print the tables."""
    read = argparse.ArgumentParser()
    read.add_argument("--runs", type=int, default=300)
    read.add_argument("--jobs", default="")
    read.add_argument("--peers", default=".venv-bench")
    read.add_argument("--who", default=",".join(["discreet", *HOMES]))
    read.add_argument("--keep")
    read.add_argument("--page")
    told = read.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(told.keep or folder)
        columns = data(kept)
        jobs = [job for job in JOBS if told.jobs in job.name and job.column in columns]
        for who in filter(None, told.who.split(",")):
            do(who, jobs, kept, told.peers, told.runs)
        found = {path.stem: lines(path) for path in sorted(kept.glob("*.jsonl"))}
        if told.page:
            Path(told.page).write_text(page(jobs, columns, found, told.runs))
        return tables(jobs, columns, found, told.runs)


def data(kept: Path) -> Columns:
    """Make the data, or read what is kept: the same for all."""
    path = kept / "columns.npz"
    if not path.exists():
        kept.mkdir(exist_ok=True)
        np.savez(path, **made())
    return dict(np.load(path))


def lines(path: Path) -> dict[str, dict]:
    """Read what one library said of every job; what was said last holds."""
    if not path.exists():
        return {}
    said = [
        line
        for line in path.read_text().splitlines()
        if line.startswith("{") and line.endswith("}")
    ]
    return {one["job"]: one for one in map(json.loads, said)}


def do(who: str, jobs: list[Job], kept: Path, prefix: str, runs: int) -> None:
    """Let one library do the jobs that it has not done so often yet."""
    path = kept / f"{who}.jsonl"
    known = lines(path)
    python = (
        Path(sys.executable)
        if who == "discreet"
        else Path(f"{prefix}{HOMES[who]}") / "bin" / "python"
    )
    script = "utility_ours.py" if who == "discreet" else "utility_peers.py"
    if not python.exists():
        print(f"{who} is not installed ({python})")
        return
    names = [job.name for job in jobs if not _done(known.get(job.name), runs)]
    with path.open("a") as held:
        asked = [
            str(python),
            str(Path(__file__).with_name(script)),
            who,
            str(kept / "columns.npz"),
            str(runs),
        ]
        ended = subprocess.run(
            [*asked, *names], stdout=held, stderr=subprocess.PIPE, text=True, check=False
        )
    if ended.returncode:
        print(
            f"{who} did not run to the end: {(ended.stderr.strip().splitlines() or ['killed'])[-1]}"
        )


def _done(said: dict | None, runs: int) -> bool:
    return said is not None and ("answers" not in said or len(said["answers"]) >= runs)


if __name__ == "__main__":
    sys.exit(main())
