"""Draw docs/pictures/keys.svg: how often a key is shown, against the number of people who hold it."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

import discreet as dp

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "discreet"


def main() -> None:
    """Write the picture next to this script."""
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    budget, people = dp.ApproxDP(1, 1e-6), range(1, 51)
    made = {
        "optimal rule (no counts)": dp.PartitionSelection.spending(budget),
        "Laplace threshold": dp.LaplaceThreshold.spending(budget),
        "Gaussian threshold": dp.GaussianThreshold.spending(budget),
    }
    for label, keys in made.items():
        axes.plot(people, [keys.shown(n) for n in people], label=label)
    axes.set(
        title="(ε, δ) = (1, 1e-6), one key a person",
        xlabel="people who hold the key",
        ylabel="chance to be shown",
    )
    axes.legend(frameon=False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
