"""Draw docs/pictures/additive.svg: the laws of two comparable promises, and how errors grow with the queries."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import discreet as dp
from discreet.mechanisms.sensitivity import counting_queries

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "discreet"


def laws(axes: plt.Axes) -> None:
    """Plot the exact chances of whole releases of a count, for ε = 1 and for (1, 1e-6)."""
    x = np.arange(-15, 16)
    laplace = dp.Laplace.spending(dp.PureDP(1), sensitivity=1)
    gaussian = dp.Gaussian.spending(dp.ApproxDP(1, 1e-6), sensitivity=1)
    for made, label in ((laplace, "Laplace, ε = 1"), (gaussian, "Gaussian, (1, 1e-6)")):
        axes.step(x, made.pmf(x, whole=True), where="mid", label=label)
    axes.set(title="one COUNT", xlabel="released − true", ylabel="probability")
    axes.legend(frameon=False)


def queries(axes: plt.Axes) -> None:
    """Plot the 95 % error per query of k counting queries at (1, 1e-6)."""
    k = np.unique(np.geomspace(1, 1000, 25).astype(int))
    rows = {"Laplace: grows with k": [], "Gaussian: grows with √k": []}
    for n in k.tolist():
        stated = counting_queries(n)
        rows["Laplace: grows with k"].append(dp.Laplace.spending(dp.PureDP(1), stated).error())
        rows["Gaussian: grows with √k"].append(
            dp.Gaussian.spending(dp.ApproxDP(1, 1e-6), stated).error()
        )
    for label, errors in rows.items():
        axes.loglog(k, errors, label=label)
    axes.set(title="k counting queries, ε = 1 in all", xlabel="k", ylabel="95 % error of each")
    axes.legend(frameon=False)


def main() -> None:
    """Write the picture next to this script."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    laws(left)
    queries(right)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
