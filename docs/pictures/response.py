"""Draw docs/pictures/response.svg: true and estimated frequencies of one survey, and how the error falls with n."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import discreet as dp
from discreet.testing.bits import HashedBits

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "discreet"

TRUE = np.array([4500, 3000, 1500, 800, 200])  # a public example: 10 000 people, five options


def survey(axes: plt.Axes) -> None:
    """Plot the frequencies told by 10 000 people at three ε, each with its 95 % interval."""
    truths = np.repeat(np.arange(TRUE.size), TRUE)
    axes.bar(np.arange(TRUE.size), TRUE / TRUE.sum(), color="lightgrey", label="true")
    for shift, epsilon in zip((-0.25, 0.0, 0.25), ("0.5", 1, 3), strict=True):
        made = dp.RandomizedResponse.spending(dp.PureDP(epsilon), options=TRUE.size)
        found = made.estimate(
            made.release(truths, bits=HashedBits(b"survey"))
        )  # fixed bits: the same picture again
        low, high = found.interval(beta=0.05).T
        middle, reach = (low + high) / 2, (high - low) / 2
        places = np.arange(TRUE.size) + shift
        axes.errorbar(places, middle, reach, fmt="none", capsize=3, color=f"C{int(shift * 4) + 1}")
        axes.plot(
            places,
            found.values,
            "o",
            markersize=4,
            color=f"C{int(shift * 4) + 1}",
            label=f"ε = {epsilon}",
        )
    axes.set(title="10 000 people, 95 % intervals", xlabel="option", ylabel="frequency")
    axes.legend(frameon=False)


def growth(axes: plt.Axes) -> None:
    """Plot the 95 % error of a count of yeses against n, by randomized response and by a trusted curator."""
    sizes = np.unique(np.geomspace(100, 1e6, 25).astype(int))
    for epsilon in ("0.5", 1, 3):
        made = dp.RandomizedResponse.spending(dp.PureDP(epsilon), options=2)
        axes.loglog(
            sizes, [made.error(n) * n for n in sizes.tolist()], label=f"response, ε = {epsilon}"
        )
    curator = dp.Geometric.spending(dp.PureDP(1), sensitivity=1).error()
    axes.axhline(curator, color="grey", linestyle=":", label="a trusted curator, ε = 1")
    axes.set(title="counting the yeses", xlabel="people", ylabel="95 % error, people")
    axes.legend(frameon=False)


def main() -> None:
    """Write the picture next to this script."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    survey(left)
    growth(right)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
