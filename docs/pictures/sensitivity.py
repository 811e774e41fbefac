"""Draw docs/pictures/sensitivity.svg: what one unit does to a histogram under the two neighbour relations."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "discreet"

COLOURS = ("Blond", "Dark", "Brown", "Red")
COUNTS = (38, 72, 62, 19)
SCALE = 6  # one unit is drawn six times its height


def bars(axes: plt.Axes, title: str, moves: dict[int, int]) -> None:
    """Draw the counts, and what one unit adds or takes away."""
    axes.bar(COLOURS, COUNTS, color="lightgrey")
    for cell, by in moves.items():
        colour, hatch = ("tab:green", "") if by > 0 else ("none", "////")
        bottom = COUNTS[cell] if by > 0 else COUNTS[cell] - SCALE
        axes.bar(
            COLOURS[cell], SCALE, bottom=bottom, color=colour, edgecolor="tab:green", hatch=hatch
        )
    axes.set(title=title, ylim=(0, 90))


def main() -> None:
    """Write the picture next to this script."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained", sharey=True)
    bars(left, "add-remove: one cell moves, Δ1 = 1, Δ2 = 1", {1: 1})
    bars(right, "replace: two cells move, Δ1 = 2, Δ2 = √2", {1: 1, 2: -1})
    left.set_ylabel("people (the unit is drawn larger)")
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
