"""MST and AIM of dpmm 0.1.9 on a coded table: pair total variation of their records, as JSON.

    PYTHON benchmarks/synthetic_peers.py TABLE.npz EPSILON DELTA [RUNS] [MAX_MODEL_MB] [ITERATIONS]

TABLE.npz has `codes`, one row a person, and `sizes`, the public number of values of each column.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
from dpmm.models.aim import AIMGM
from dpmm.models.mst import MSTGM

warnings.simplefilter("ignore")


def pair_distance(one, other, sizes):
    """Return the mean total variation of all pairs of columns of two coded tables."""
    found = []
    for left, right in combinations(range(len(sizes)), 2):
        cells = sizes[left] * sizes[right]
        tables = []
        for codes in (one, other):
            index = codes[:, left] * sizes[right] + codes[:, right]
            tables.append(np.bincount(index, minlength=cells) / len(codes))
        found.append(np.abs(tables[0] - tables[1]).sum() / 2)
    return float(np.mean(found))


def main():
    path, epsilon, delta, *more = sys.argv[1:]
    defaults = ["1", "2", "300"]
    runs, size, iterations = map(float, (*more, *defaults[len(more) :]))
    stored = np.load(path)
    codes, sizes = stored["codes"], stored["sizes"].tolist()
    names = [f"c{place}" for place in range(len(sizes))]
    frame = pd.DataFrame(codes, columns=names)
    domain = {name: int(count) for name, count in zip(names, sizes, strict=True)}
    for name, kind, options in (
        ("MST", MSTGM, {}),
        ("AIM", AIMGM, {"max_model_size": size, "n_iters": int(iterations)}),
    ):
        for run in range(int(runs)):
            state = np.random.RandomState(run)
            start = time.process_time()
            model = kind(
                epsilon=float(epsilon),
                delta=float(delta),
                domain=domain,
                random_state=state,
                n_jobs=1,
                **options,
            )
            model.fit(frame)
            made = model.generate()[names].to_numpy(dtype=np.int64)
            took = time.process_time() - start
            apart = pair_distance(made, codes, sizes)
            line = {"peer": name, "epsilon": epsilon, "tv": apart, "seconds": round(took, 1)}
            print(json.dumps(line | {"rows": len(made)}), flush=True)


if __name__ == "__main__":
    main()
