"""OpenDP's tree of counts, measured here: run by `workloads.py --opendp PYTHON` in an environment that has OpenDP.

Prints for each size the RMSE of all prefixes and of all ranges at ε = 1, from noise on an empty table.
"""

from __future__ import annotations

import sys

import numpy as np
import opendp.prelude as dp

dp.enable_features("contrib")


def measure(size: int, runs: int) -> tuple[float, float]:
    factor = dp.t.choose_branching_factor(size_guess=size)
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    tree = dp.t.make_b_ary_tree(*space, leaf_count=size, branching_factor=factor)
    scale = dp.binary_search_param(lambda s: tree >> dp.m.then_laplace(scale=s), d_in=1, d_out=1.0)
    release = tree >> dp.m.then_laplace(scale=scale) >> dp.t.make_consistent_b_ary_tree(factor)
    prefixes, ranges = [], []
    for _ in range(runs):
        totals = np.concatenate(
            [[0.0], np.cumsum(np.asarray(release([0] * size), dtype=float)[:size])]
        )
        prefixes.append(float((totals[1:] ** 2).mean()))
        # Σ over i < j of (t_j − t_i)² is (n + 1)·Σt² − (Σt)²
        ranges.append(
            ((size + 1) * float((totals**2).sum()) - float(totals.sum()) ** 2)
            / (size * (size + 1) / 2)
        )
    return float(np.sqrt(np.mean(prefixes))), float(np.sqrt(np.mean(ranges)))


for text in sys.argv[1:]:
    sys.stdout.write(
        "{} {:.2f} {:.2f}\n".format(text, *measure(int(text), 60 if int(text) <= 1024 else 20))
    )
    sys.stdout.flush()
