"""How far off answers are for a budget, beside peers: `python benchmarks/utility.py --peers .venv-bench` (`make bench`).

    job | discreet | the best peer with the same promise | other promises | reachable

Every number is a root mean square error over `--runs` runs (300 by default) with its standard error; each run is charged
in full to a ledger of its own. A peer is compared where it makes the same promise; what promises something else is shown
with its promise. A line is marked with ! where a peer with the same promise is better by more than three standard
errors of the difference, with ~ where what is reachable is missed by more than a tenth. Exits with 1 if any has a !.

`--jobs TEXT` does the jobs whose name holds a text, `--peers PREFIX` says where the environments of the peers are
(PREFIX-opendp and so on; PREFIX itself has diffprivlib and PyDP). A peer that is not installed is named.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import discreet as dp
from utility_data import made
from utility_jobs import JOBS, Columns, Job, truth
from utility_ours import Ours

HOMES = {
    "opendp": "-opendp",
    "diffprivlib": "",
    "pydp": "",
    "pipelinedp": "-pipelinedp",
    "smartnoise": "-smartnoise",
    "tumult": "-tumult",
}


_STRONGER = {"(1, 1e-6)": "ε = 1"}
"""A promise, and one that is stronger and so is compared with it."""


@dataclass(frozen=True, slots=True)
class Error:
    """A root mean square error, or a mean of shown keys, with its standard error."""

    who: str
    promise: str
    size: float
    deviation: float

    def __str__(self) -> str:
        return f"{self.size:.3g} ± {self.deviation:.1g}"


def measure(who: str, promise: str, job: Job, answers: Iterable[object], exact: np.ndarray) -> Error:
    """Sum up the runs of one job."""
    found = np.array(list(answers), dtype=float)
    if job.more:
        shown = found[:, 0]
        return Error(who, promise, float(shown.mean()), float(shown.std(ddof=1) / np.sqrt(shown.size)))
    squares = ((found - exact) ** 2).mean(axis=1)
    size = float(np.sqrt(squares.mean()))
    return Error(who, promise, size, float(squares.std(ddof=1) / np.sqrt(squares.size) / (2 * size)) if size else 0.0)


def peers(prefix: str, path: str, runs: int, only: str) -> Iterator[tuple[str, dict[str, object]]]:
    """Run every peer that is installed, and yield what it says of each job."""
    script = Path(__file__).with_name("utility_peers.py")
    for name, suffix in HOMES.items():
        python = Path(f"{prefix}{suffix}") / "bin" / "python"
        if not python.exists():
            print(f"{name} is not installed ({python})")
            continue
        asked = [str(python), str(script), name, path, str(runs), only]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        if not lines and done.returncode:
            print(f"{name} did not run: {done.stderr.strip().splitlines()[-1:]}")
        yield from ((name, line) for line in lines)


def ours(job: Job, store: Ours, runs: int, exact: np.ndarray) -> Error | str:
    """Do a job ourselves, or say why not."""
    try:
        return measure("discreet", job.promise, job, (store.run(job) for _ in range(runs)), exact)
    except dp.DiscreetError as error:
        return f"refused: {error}"[:60]


def better(peer: Error, own: Error, job: Job) -> bool:
    """Return whether a peer is better by more than three standard errors of the difference."""
    gap = (peer.size - own.size) if job.more else (own.size - peer.size)
    return gap > 3 * float(np.hypot(peer.deviation, own.deviation))


def line(job: Job, own: Error | str, others: list[Error]) -> tuple[str, bool]:
    """Lay out one line, and say whether a peer wins."""
    same = [peer for peer in others if peer.promise in (job.promise, _STRONGER.get(job.promise))]
    best = (max if job.more else min)(same, key=lambda peer: peer.size, default=None)
    lost = best is not None and (isinstance(own, str) or better(best, own, job))
    missed = job.reachable is not None and isinstance(own, Error) and _missed(job, own)
    rest = ", ".join(f"{peer.who} {peer.size:.3g} ({peer.promise})" for peer in others if peer not in same)
    named = "–" if best is None else f"{best.who} {best}"
    reach = "–" if job.reachable is None else f"{job.reachable:.3g}"
    mark = "!" if lost else "~" if missed else " "
    return f"{mark} {job.name:40} {own!s:22} {named:32} {reach:>8}  {rest}", lost


def _missed(job: Job, own: Error) -> bool:
    goal = job.reachable or 0.0
    return own.size < 0.9 * goal if job.more else own.size > 1.1 * goal


def main() -> int:
    """Do all jobs and print the table."""
    read = argparse.ArgumentParser()
    read.add_argument("--runs", type=int, default=300)
    read.add_argument("--jobs", default="")
    read.add_argument("--peers", default=".venv-bench")
    told = read.parse_args()
    columns = made()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "columns.npz")
        np.savez(path, **columns)
        said = list(peers(told.peers, path, told.runs, told.jobs))
    return table(columns, said, told.runs, told.jobs)


def table(columns: Columns, said: list[tuple[str, dict[str, object]]], runs: int, only: str) -> int:
    """Print one line a job; return 1 if a peer wins somewhere."""
    store, lost = Ours(columns), False
    print(f"  {'job':40} {'discreet':22} {'best peer, same promise':32} {'reachable':>8}  other promises ({runs} runs)")
    for job in JOBS:
        if only not in job.name or job.column not in columns:
            continue
        exact = truth(job, columns)
        found = [(name, one) for name, one in said if one["job"] == job.name]
        others = [measure(n, str(o["promise"]), job, o["answers"], exact) for n, o in found if "answers" in o]
        text, loses = line(job, ours(job, store, runs, exact), others)
        print(text, flush=True)
        for name, one in found:
            if "failed" in one:
                print(f"      {name} failed: {one['failed']}")
        lost |= loses
    return int(lost)


if __name__ == "__main__":
    sys.exit(main())
