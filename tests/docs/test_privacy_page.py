"""The picture of the tour of prices is made by a script that still runs; its examples run with all pages."""

import runpy
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"


def test_the_picture_can_be_made_again():
    matplotlib = pytest.importorskip("matplotlib")
    names = runpy.run_path(str(DOCS / "pictures" / "composition.py"))
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots()
    names["growth"](axes)
    prices = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert set(prices) == set(names["METHODS"])
    assert all(
        a <= b * (1 + 1e-9) for a, b in zip(prices["numerical"], prices["advanced"], strict=True)
    )
    assert prices["basic"][-1] == pytest.approx(100)
    plt.close(figure)
    assert matplotlib.get_backend().lower() in {"svg", "agg"}
    assert (DOCS / "pictures" / "composition.svg").stat().st_size > 1000
