"""Draw docs/pictures/selection.svg: how often the best of ten is chosen, and how far off the choice may be."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import discreet as dp

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "discreet"

MADE = {
    "exponential": dp.Exponential(epsilon=1, sensitivity=1),
    "permute-and-flip": dp.PermuteAndFlip(epsilon=1, sensitivity=1),
    "noisy max, Laplace": dp.NoisyMax(epsilon=1, sensitivity=1, noise="laplace"),
}


def best_of_ten(axes: plt.Axes) -> None:
    """Plot the chance of the best of ten candidates against its lead."""
    lead = np.linspace(0, 20, 41)
    for label, made in MADE.items():
        axes.plot(lead, [made.probabilities([gap] + [0.0] * 9)[0] for gap in lead], label=label)
    axes.set(
        title="ten candidates, ε = 1", xlabel="lead of the best", ylabel="chance that it is chosen"
    )
    axes.legend(frameon=False)


def errors(axes: plt.Axes) -> None:
    """Plot the 95 % error against the number of candidates, with the lectures' bound."""
    sizes = np.unique(np.geomspace(2, 1e6, 40).astype(int)).tolist()
    for label, made in MADE.items():
        axes.semilogx(sizes, [made.error(m) for m in sizes], label=label)
    slack = [MADE["exponential"].slack(m, np.log(20)) for m in sizes]
    axes.semilogx(sizes, slack, color="grey", linestyle=":", label="the lectures' theorem")
    axes.set(title="how far below the best, 95 %", xlabel="candidates", ylabel="score")
    axes.legend(frameon=False)


def main() -> None:
    """Write the picture next to this script."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    best_of_ten(left)
    errors(right)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
