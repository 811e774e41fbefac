"""Time and memory of a process, alone or with all that it started (Spark's Java machine, its Python workers).

Times of other processes come from /proc, in hundredths of a second; those of this process are finer.
"""

from __future__ import annotations

import os
import resource
from pathlib import Path


def cpu() -> float:
    """CPU seconds of this process, all threads, without its children."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def family_cpu() -> float:
    """CPU seconds of this process and of every descendant, alive or ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    ticks = sum(sum(map(int, stat[11:15])) for stat in descendants().values())
    return cpu() + ended.ru_utime + ended.ru_stime + ticks / os.sysconf("SC_CLK_TCK")


def family_peak() -> int:
    """Sum of the peaks of resident memory of this process and its living descendants, in MB."""
    return sum(map(peak, [os.getpid(), *descendants()]))


def peak(process: int | str = "self") -> int:
    """Give the most memory that a process has ever held, in MB."""
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):  # it has ended since it was listed
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0) // 1024


def descendants() -> dict[int, list[str]]:
    """Find all living descendants, each with the fields of its stat from the state on."""
    stats = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            stats[int(place.parent.name)] = place.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
    found, parents = {}, {os.getpid()}
    while parents:
        born = {process: stat for process, stat in stats.items() if int(stat[1]) in parents}
        found, parents = found | born, set(born)
    return found


def least(run, clock, times: int) -> float:
    best = float("inf")
    for _ in range(times):
        start = clock()
        run()
        best = min(best, clock() - start)
    return best


def turns(asked, plain, clock, plain_clock, rounds: int = 4) -> tuple[float, float]:
    """Time a question and the plain query in turns; give the least of each."""
    pairs = [(least(asked, clock, 1), least(plain, plain_clock, 2)) for _ in range(rounds)]
    mine, base = (min(times) for times in zip(*pairs, strict=True))
    return mine, base
