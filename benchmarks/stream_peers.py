"""Running totals of days by other libraries, in an environment that has them: `stream_peers.py` prints JSON lines.

Errors are roots of the mean squared error of all running totals, over the noise of one release at the same
price (ρ = 1/2). `streams.py --peers PYTHON` shows them beside ours. A library that is not there is left out.
"""

from __future__ import annotations

import contextlib
import json
import math
import sys
import time
from importlib.metadata import version

DRAWS = 300


def told(library: str, what: str, rmse: float, began: float) -> None:
    """Print one line."""
    found = {"library": f"{library} {version(library)}", "what": what, "rmse": rmse}
    print(json.dumps(found | {"seconds": round(time.process_time() - began, 1)}), flush=True)


def jax_privacy(days: int) -> None:
    """Print its dense optimum, its Toeplitz optimum and its buffered Toeplitz strategy."""
    import jax
    import numpy as np

    jax.config.update("jax_enable_x64", True)
    from jax_privacy.matrix_factorization import buffered_toeplitz, dense, sensitivity, toeplitz

    def rmse(strategy: np.ndarray, square: float) -> float:
        weights = np.linalg.solve(strategy.T, np.tri(days).T).T
        return math.sqrt(square * (weights**2).sum() / days)

    if days <= 365:
        began = time.process_time()
        made = np.asarray(dense.optimize(days))
        square = float(sensitivity.single_participation_sensitivity(made)) ** 2
        told("jax-privacy", f"{days} days, dense", rmse(made, square), began)
    for name, bands, times, apart in (
        ("Toeplitz", days, 1, 1),
        ("Toeplitz, 7 days 7 apart", 7, 7, 7),
        ("Toeplitz, 52 days 7 apart", 7, 52, 7),
    ):
        began = time.process_time()
        column = toeplitz.optimize_banded_toeplitz(days, bands)
        square = toeplitz.minsep_sensitivity_squared(column, apart, times, days)
        whole = np.asarray(toeplitz.materialize_lower_triangular(column, days))
        told("jax-privacy", f"{days} days, {name}", rmse(whole, float(square)), began)
    if days > 365:
        return
    began = time.process_time()
    made = buffered_toeplitz.optimize(n=days, min_sep=1, max_participations=1)
    column = np.asarray(made.toeplitz_coefs(days))
    whole = np.asarray(toeplitz.materialize_lower_triangular(column, days))
    told("jax-privacy", f"{days} days, BLT", rmse(whole, float((column**2).sum())), began)


def dp_accounting(days: int) -> None:
    """Print a binary tree whose noise costs, by its RDP accountant, what one Gaussian release costs."""
    import dp_accounting as dpa
    from dp_accounting.rdp import RdpAccountant

    began = time.process_time()

    # One record replaced by a zero: for counts what adding or removing it is.
    relation = dpa.NeighboringRelation.REPLACE_SPECIAL

    def epsilon(event: object) -> float:
        found = RdpAccountant(neighboring_relation=relation).compose(event)
        return float(found.get_epsilon(1e-6))

    least, most = 1.0, 10.0
    for _ in range(40):
        middle = (least + most) / 2
        dear = epsilon(dpa.SingleEpochTreeAggregationDpEvent(middle, days))
        least, most = (
            (middle, most) if dear > epsilon(dpa.GaussianDpEvent(1.0)) else (least, middle)
        )
    # A running total of t days adds up as many nodes as t has binary ones.
    nodes = sum(bin(day).count("1") for day in range(1, days + 1)) / days
    told("dp-accounting", f"{days} days, binary tree", most * math.sqrt(nodes), began)


def opendp(days: int) -> None:
    """Print its b-ary tree of a finished vector, made consistent, over noise that is drawn."""
    import numpy as np
    import opendp.prelude as dp

    dp.enable_features("contrib")
    began = time.process_time()
    branches = dp.t.choose_branching_factor(size_guess=days)
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    tree = space >> dp.t.then_b_ary_tree(leaf_count=days, branching_factor=branches)
    consistent = dp.t.make_consistent_b_ary_tree(branches, TIA=int, TOA=float)
    # One unit moves one node of each level by 1.
    levels = tree.map(1)
    nodes = len(tree([0] * days))
    # It takes whole numbers: noise of a thousand steps.
    noise = np.random.default_rng(1).normal(0.0, 1000 * math.sqrt(levels), (DRAWS, nodes))
    squares = []
    for row in np.rint(noise).astype(int):
        totals = np.cumsum(consistent(row.tolist())[:days]) / 1000
        squares.append(float((totals**2).mean()))
    told("opendp", f"{days} days, {branches}-ary tree", math.sqrt(float(np.mean(squares))), began)


if __name__ == "__main__":
    for days in map(int, sys.argv[1:] or ["365"]):
        for library in (dp_accounting, opendp, jax_privacy):
            with contextlib.suppress(ImportError):
                library(days)
