"""The tables of `utility.py`, from the runs that every library made, as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from utility_jobs import Columns, Job, truth

Said = dict[str, dict[str, dict]]

ENOUGH = 300
"""How many runs a comparison needs; fewer are told."""
PEERS = ("opendp", "diffprivlib", "pydp", "pipelinedp", "smartnoise", "tumult")
_STRONGER = {"(1, 1e-6)": "ε = 1"}
"""A promise, and one that is stronger and so is compared with it."""


@dataclass(frozen=True, slots=True)
class Error:
    """A root mean square error, or a mean of shown keys, with its standard error."""

    who: str
    promise: str
    size: float
    deviation: float
    runs: int

    def __str__(self) -> str:
        few = "" if self.runs >= ENOUGH else f" ({self.runs} runs)"
        return f"{self.size:.3g} ± {self.deviation:.1g}{few}"


@dataclass(frozen=True, slots=True)
class Line:
    """What all libraries made of one job."""

    job: Job
    own: Error | str
    others: tuple[Error, ...]
    failed: tuple[str, ...]

    @property
    def best(self) -> Error | None:
        """The best peer with the same promise, or a stronger one."""
        promise = self.job.promise
        same = [peer for peer in self.others if peer.promise in (promise, _STRONGER.get(promise))]
        return (max if self.job.more else min)(same, key=lambda peer: peer.size, default=None)

    @property
    def lost(self) -> bool:
        """Whether that peer is better by more than three standard errors of the difference."""
        best, own = self.best, self.own
        if best is None or isinstance(own, str):
            return best is not None
        gap = (best.size - own.size) if self.job.more else (own.size - best.size)
        return gap > 3 * float(np.hypot(best.deviation, own.deviation))

    @property
    def missed(self) -> bool:
        """Whether what is reachable is missed by more than a tenth."""
        goal, own = self.job.reachable, self.own
        if goal is None or isinstance(own, str):
            return False
        return own.size < 0.9 * goal if self.job.more else own.size > 1.1 * goal

    @property
    def mark(self) -> str:
        """Return what the first column says of this line."""
        return "!" if self.lost else "~" if self.missed else " "


def measure(who: str, promise: str, job: Job, answers: object, exact: np.ndarray) -> Error:
    """Sum up the runs of one job."""
    found = np.array(answers, dtype=float)
    if job.more:
        shown = found[:, 0]
        return Error(
            who,
            promise,
            float(shown.mean()),
            float(shown.std(ddof=1) / np.sqrt(shown.size)),
            len(found),
        )
    squares = ((found - exact) ** 2).mean(axis=1)
    size = float(np.sqrt(squares.mean()))
    deviation = float(squares.std(ddof=1) / np.sqrt(squares.size) / (2 * size)) if size else 0.0
    return Error(who, promise, size, deviation, len(found))


def laid_out(jobs: list[Job], columns: Columns, found: Said) -> Iterator[Line]:
    """Compare the libraries, job by job."""
    for job in jobs:
        exact = truth(job, columns)
        said = {who: kept[job.name] for who, kept in found.items() if job.name in kept}
        made = {
            who: measure(who, one["promise"], job, one["answers"], exact)
            for who, one in said.items()
            if "answers" in one
        }
        failed = tuple(f"{who}: {one['failed']}" for who, one in said.items() if "failed" in one)
        own = made.pop("discreet", said.get("discreet", {}).get("failed", "not run"))
        yield Line(
            job,
            own,
            tuple(made.values()),
            tuple(one for one in failed if not one.startswith("discreet")),
        )


def tables(jobs: list[Job], columns: Columns, found: Said, runs: int) -> int:
    """Print one line a job, then what was predicted; return 1 if a peer wins somewhere."""
    print(
        f"  {'job':40} {'discreet':18} {'best peer, same promise':30} {'reachable':>9}  other peers ({runs} runs)"
    )
    lost = False
    for line in laid_out(jobs, columns, found):
        print(
            f"{line.mark} {line.job.name:40} {line.own!s:18} {named(line.best):30} {goal(line):>9}  {others(line)}"
        )
        for one in line.failed:
            print(f"      failed: {one}")
        lost |= line.lost
    print(f"\n  {'job':40} {'predicted 95 % error':24} {'held':>7} {'intervals held':>15}  for")
    for job in jobs:
        one = found.get("discreet", {}).get(job.name, {})
        if "predicted" in one:
            print(
                f"  {job.name:40} {one['predicted']:24} {one['held']:>7} {one['covered']:>15}  {one['supposes']}"
            )
    return int(lost)


def page(jobs: list[Job], columns: Columns, found: Said, runs: int) -> str:
    """Write the tables as a page."""
    lines = list(laid_out(jobs, columns, found))
    undone = ", ".join(line.job.name for line in lines if line.own == "not run")
    rows = [
        f"| {line.mark.strip()} | {line.job.name} | {line.job.promise} | {line.own} | {named(line.best)} | {ratio(line)} "
        f"| {goal(line)} | {others(line)} |"
        for line in lines
        if line.own != "not run"
    ]
    left = [f"\nNot run here for want of time: {undone}."] if undone else []
    silent = ", ".join(
        who for who in PEERS if not any("answers" in one for one in found.get(who, {}).values())
    )
    left += [f"\nNot run here at all: {silent}."] if silent else []
    left += [f"\nFailed at {line.job.name}: {one}." for line in lines for one in line.failed]
    told = found.get("discreet", {})
    held = [
        f"| {job.name} | {one['predicted']} | {one['held']} | {one['covered']} | {one['supposes']} |"
        for job in jobs
        if "predicted" in (one := told.get(job.name, {}))
    ]
    return "\n".join([_HEAD.format(runs=runs), *rows, *left, _ASKED, _HELD, *held, ""])


_HEAD = """# How far off answers are, beside peers

For people who compare the accuracy of libraries for differential privacy: the error of one job, a line, under one promise.

Written by `python benchmarks/utility.py --keep FOLDER --page docs/reference/utility.md` from {runs} runs a job. Numbers are root mean
square errors with their standard errors, in the unit of the column. (Where keys or words are shown it is how many are: the more,
the better.) Every run is charged in full. The columns of the table:

- *mark*: ! if a peer is better by more than three standard errors of the difference, ~ if discreet misses the reachable error by
  more than a tenth;
- *same promise*: the best peer that promises the same or more;
- *ratio*: discreet's error over that peer's, or that peer's number of keys over discreet's, so below 1 is better;
- *reachable*: an error (or number) that was worked out beforehand as an aim, not a bound;
- *other peers*: all others, with their promise in brackets where it differs. A number in brackets after an error is the number of
  runs, where there were fewer.

| mark | job | promise | discreet | same promise | ratio | reachable | other peers |
|---|---|---|---|---|---|---|---|"""

_ASKED = """
## How each is asked

Neighbours differ by one row, added or removed, where nothing else is said; of words by one person, who has sixty and counts
with twenty different ones at most. All are told the same: the bounds, and the keys where they are public. None is told how many
rows there are, but under replace, where that is public; the `size` that discreet declares serves its predictions only.

- **discreet**: one question in SQL to a fresh ledger with the default settings, whose whole budget it may spend.
- **OpenDP**: its transformations, with scales from its own search; a mean is half of ε for the sum and half for the count; a
  quantile is chosen among 100,001 places spread evenly between the bounds; ranges come from its tree with the branches that it
  advises, made consistent; twenty nested thresholds from a histogram; keys by its threshold, raised by one (below).
- **diffprivlib**: its tools. Its means, variances and deviations take the number of rows as public: they promise *replace*.
- **PyDP** (Google's library in C++): its bounded algorithms; without bounds half of ε finds them.
- **PipelineDP**: one process; unknown keys by the threshold after aggregation, which pays for keys and counts once.
- **SmartNoise**: SQL over a data frame, at the ε and δ for which its own `get_privacy_cost` names the promise: an average
  costs twice its ε, a variance three times, and of δ it counts half more.
- **Tumult**: a question takes seconds to plan, so its table holds one copy of the rows for every run and is grouped by the copy.
  A row is in one copy only, so every copy gets the noise that a question about it alone would get, under the same promise. Its
  jobs of 20,000 rows but the count (six million rows each), and those by key, were not run to their end here.

OpenDP 0.16.0 shows an integer count that equals its threshold but prices only what lies above: keys of one row show with 2.7
times the δ that it promises (threshold 3, scale 1: 0.0978 of 200,000 runs, promised 0.0364). So it gets the threshold whose price
it keeps.
"""

_HELD = """
## What was predicted

How often the 95 % error that a plan predicts before anything is read held on these data, and how often the 95 % interval of
the answer did; quantiles in rows, as they are predicted.

| job | predicted 95 % error | held in | intervals held in | for |
|---|---|---|---|---|"""


def named(peer: Error | None) -> str:
    """Name a peer with its error."""
    return "–" if peer is None else f"{peer.who} {peer}"


def goal(line: Line) -> str:
    """Say what is reachable."""
    return "–" if line.job.reachable is None else f"{line.job.reachable:.3g}"


def ratio(line: Line) -> str:
    """Compare with the best peer of the same promise."""
    best, own = line.best, line.own
    if best is None or isinstance(own, str):
        return "–"
    return f"{best.size / own.size if line.job.more else own.size / best.size:.2f}"


def others(line: Line) -> str:
    """List all peers but the best, with their promises where they differ."""
    rest = [peer for peer in line.others if peer is not line.best]
    return ", ".join(
        f"{peer.who} {peer}" + ("" if peer.promise == line.job.promise else f" ({peer.promise})")
        for peer in rest
    )
