"""The data of `utility.py`, the same for every library: made here from fixed seeds, written once, read by all.

    python benchmarks/utility_data.py PATH.npz

Nothing of discreet or of a peer is imported. scikit-learn's bundled sets are left out where it is not installed.
"""

from __future__ import annotations

import sys

import numpy as np

ROWS = 20_000
KEYS = 50


def made() -> dict[str, np.ndarray]:
    """Make every column by its name."""
    rng = np.random.default_rng(15)
    score = np.clip(rng.normal(50, 10, ROWS), 0, 100)
    other = np.clip(0.6 * score + rng.normal(20, 8, ROWS), 0, 100)
    found = {
        "score": score,
        "other": other,
        "key": rng.integers(0, KEYS, ROWS),
        "money": rng.lognormal(8, 1, ROWS),
        "tail": np.minimum(100 * (1 + rng.pareto(1.5, ROWS)), 1e6),
        "bucket": np.minimum(rng.geometric(1 / 200, ROWS), 1024) - 1,
        "tiny": 100 * rng.beta(2, 5, 40),
        **zipf(rng),
        **words(rng),
        **even(np.random.default_rng(16)),
    }
    return found | bundled()


def zipf(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """50,000 people with one key each, of about 6,800 that occur."""
    chances = 1 / np.arange(1, 20_001) ** 1.0
    return {"zipf": rng.choice(20_000, 50_000, p=chances / chances.sum())}


def words(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Words of 2,000 people who write many: 60 each, by Zipf's law."""
    chances = 1 / np.arange(1, 5_001) ** 1.1
    drawn = rng.choice(5_000, 2_000 * 60, p=chances / chances.sum())
    return {"writer": np.repeat(np.arange(2_000), 60), "word": drawn}


def even(rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Two columns that are spread evenly over 0..100, half of the time the same."""
    first, second = 100 * rng.random((2, ROWS))
    return {"even": first, "mixed": np.where(rng.random(ROWS) < 0.5, first, second)}


def bundled() -> dict[str, np.ndarray]:
    """One column of each of three data sets that come with scikit-learn."""
    try:
        from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
    except ImportError:
        return {}
    return {
        "cancer": load_breast_cancer().data[:, 3],
        "diabetes": load_diabetes().target,
        "wine": load_wine().data[:, 12],
    }


if __name__ == "__main__":
    np.savez(sys.argv[1], **made())
