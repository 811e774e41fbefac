"""Draw docs/pictures/beyond.svg: the 95 % error of a private median as the data grow, by three ways."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

import discreet as dp

mpl.use("svg")
mpl.rcParams["svg.hashsalt"] = "discreet"


def main() -> None:
    """Write the picture next to this script."""
    figure, axes = plt.subplots(figsize=(6, 3.4), layout="constrained")
    sizes = [101, 301, 1001, 3001, 10_001, 30_001]
    smooth = dp.SmoothQuantile(epsilon=1, delta=1e-6, low=0, high=100)
    inverse = dp.InverseQuantile(epsilon=1, low=0, high=100, neighbours="replace")
    rows = {
        "Laplace, global sensitivity 100": [],
        "smooth sensitivity, (1, 1e-6)": [],
        "inverse sensitivity, ε = 1": [],
    }
    for n in sizes:
        values = np.linspace(40, 60, n)  # a public example: spread evenly over a fifth of the range
        off = [abs(inverse.release(values) - 50) for _ in range(200)]
        rows["Laplace, global sensitivity 100"].append(100 * np.log(20))
        rows["smooth sensitivity, (1, 1e-6)"].append(smooth.error_on(values))
        rows["inverse sensitivity, ε = 1"].append(np.quantile(off, 0.95))
    for label, errors in rows.items():
        axes.loglog(sizes, errors, marker="o", label=label)
    axes.set(
        title="the median of values from 40 to 60, bounds 0 to 100", xlabel="n", ylabel="95 % error"
    )
    axes.legend(frameon=False)
    figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})


if __name__ == "__main__":
    main()
