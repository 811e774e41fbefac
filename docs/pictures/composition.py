"""Draw docs/pictures/composition.svg: the price of k queries at ε = 0.1 by every method, and one whole curve."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import discreet as dp

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "discreet"

DELTA = 1e-6
METHODS = ("basic", "advanced", "optimal", "zCDP", "Rényi", "numerical")


def growth(axes: plt.Axes) -> None:
    """Plot ε at δ = 1e-6 of k Laplace answers of ε = 0.1 each, by every method."""
    counts = np.unique(np.geomspace(1, 1000, 19).astype(int)).tolist()
    prices: dict[str, list[float]] = {name: [] for name in METHODS}
    for k in counts:
        rows = dp.compose([dp.events.LaplaceNoise(10, 1)] * k).why(DELTA).rows
        for row in rows:
            if row.method in prices:
                prices[row.method].append(row.epsilon)
    for name, line in prices.items():
        axes.loglog(counts, line, label=name, linewidth=2.2 if name == "numerical" else 1.2)
    axes.set(title="k Laplace answers of ε = 0.1, δ = 1e-6", xlabel="k", ylabel="ε of all together")
    axes.legend(frameon=False)


def curves(axes: plt.Axes) -> None:
    """Plot the whole curve of the hundred answers, from above and from below."""
    hundred = dp.compose([dp.events.LaplaceNoise(10, 1)] * 100)
    hundred.plot(axes)
    axes.set_title("the curve of a hundred of them")


def main() -> None:
    """Write the picture next to this script."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    growth(left)
    curves(right)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
