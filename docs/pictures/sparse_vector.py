"""Draw docs/pictures/sparse_vector.svg: one run against its threshold, and the error for many questions."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import discreet as dp
from discreet.testing.bits import HashedBits

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "discreet"

THRESHOLD = 200


def one_run(axes: plt.Axes) -> None:
    """Plot sixty questions, those told to be above the threshold, and the band in which either word may fall."""
    made = dp.SparseVector.spending(dp.PureDP(1), sensitivity=1, answers=3, monotone=True)
    values = np.random.default_rng(5).integers(0, 120, 60)  # a public example, no private data
    values[[14, 31, 47]] = (330, 290, 350)
    told = made.release(
        values, THRESHOLD, bits=HashedBits(b"run")
    )  # fixed bits: the same picture again
    asked = np.arange(told.size)
    reach = made.error(queries=values.size)
    axes.axhspan(THRESHOLD - reach, THRESHOLD + reach, color="lightgrey", label="yes or no, 95 %")
    axes.axhline(THRESHOLD, color="black", linewidth=1, label="threshold")
    axes.plot(asked[~told], values[: told.size][~told], "o", markersize=3, label="no: free")
    axes.plot(asked[told], values[: told.size][told], "^", label="yes: paid for")
    axes.plot(
        np.arange(told.size, values.size),
        values[told.size :],
        "x",
        color="grey",
        label="not answered any more",
    )
    axes.set(
        title="three yeses for ε = 1, then it is over",
        xlabel="question",
        ylabel="true answer",
        ylim=(-10, 520),
    )
    axes.legend(frameon=False, ncols=2, fontsize="small")


def many(axes: plt.Axes) -> None:
    """Plot the 95 % error against the number of questions, with that of telling every answer."""
    counts = np.unique(np.geomspace(1, 1e6, 25).astype(int))
    for yeses in (1, 3, 10):
        made = dp.SparseVector.spending(dp.PureDP(1), sensitivity=1, answers=yeses, monotone=True)
        axes.loglog(
            counts,
            [made.error(k) for k in counts.tolist()],
            label=f"{yeses} yes{'es' * (yeses > 1)}",
        )
    each = [k * np.log(k / 0.05) for k in counts.tolist()]
    axes.loglog(counts, each, color="grey", linestyle=":", label="Laplace on every answer")
    axes.set(title="ε = 1 in all", xlabel="questions", ylabel="95 % error of all", ylim=(1, 1e4))
    axes.legend(frameon=False)


def main() -> None:
    """Write the picture next to this script."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    one_run(left)
    many(right)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
