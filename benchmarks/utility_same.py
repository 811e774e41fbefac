"""Whether two checkouts of discreet answer the jobs of `utility.py` alike, draw for draw.

    python benchmarks/utility_same.py CHECKOUT DATA.npz OUT.jsonl RUNS [TEXT]     once for each checkout
    python benchmarks/utility_same.py --compare ONE.jsonl OTHER.jsonl

The source of random bits is replaced by one that is seeded by job and run. Equal answers then come from equal draws of
equal totals; under true noise thousands of runs could not say as much. A job with other answers is to be compared by
`utility.py --runs`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from random import Random

import numpy as np

_RANDOM = Random()


def seeded_take(_source: object, count: int) -> bytes:
    """Stand in for `SecureBits.take`."""
    return _RANDOM.randbytes(count)


def answers(checkout: str, data: str, out: str, runs: int, text: str) -> None:
    """Write the answers of every source of jobs whose name holds a text, some runs each."""
    sys.path.insert(0, f"{checkout}/src")
    sys.path.insert(0, f"{checkout}/benchmarks")
    import utility_ours
    from discreet.noise import bits
    from utility_jobs import JOBS, source

    bits.SecureBits.take = seeded_take
    store = utility_ours.Ours(dict(np.load(data)))
    first = {}
    for job in JOBS:
        if job.column in store.columns and text in job.name:
            first.setdefault(source(job), job)
    with Path(out).open("w") as held:
        for name, job in first.items():
            found = []
            for run in range(runs):
                _RANDOM.seed(f"{name} {run}")
                found.append(np.asarray(store.run(job), dtype=float).ravel().tolist())
            held.write(json.dumps([name, found]) + "\n")


def compare(one: str, other: str) -> int:
    """Print how many answers of each source are equal; return 1 if any differs."""
    listed = [dict(map(json.loads, Path(path).read_text().splitlines())) for path in (one, other)]
    differing = 0
    for name, found in listed[0].items():
        same = sum(a == b for a, b in zip(found, listed[1][name], strict=True))
        print(f"{name:45} {same} of {len(found)} equal")
        differing += same < len(found)
    return min(differing, 1)


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        sys.exit(compare(*sys.argv[2:4]))
    answers(*sys.argv[1:4], int(sys.argv[4]), "".join(sys.argv[5:]))
