import sys
from itertools import pairwise

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.compose import compose
from discreet.privacy.events import GaussianNoise, LaplaceNoise, Promise
from discreet.privacy.measures import ApproxDP, PureDP

CURVE = compose(GaussianNoise.of(1, 1))


@pytest.mark.parametrize(("width", "height"), [(16, 2), (40, 5), (64, 16)])
def test_terminal_drawing_falls_from_left_to_right(width, height):
    lines = CURVE.draw(width, height).splitlines()
    assert len(lines) == height + 3
    bars = [line[7:].ljust(width) for line in lines[1 : height + 1]]
    assert all(len(bar) == width for bar in bars)
    heights = [sum(" ▁▂▃▄▅▆▇█".index(bar[i]) for bar in bars) for i in range(width)]
    assert all(a >= b for a, b in pairwise(heights))
    assert lines[-1].endswith("ε")


def test_a_promise_of_nothing_is_an_empty_picture():
    assert "█" not in compose(Promise(PureDP(0))).draw()


def test_refusals():
    with pytest.raises(InvalidArgument, match="width"):
        CURVE.draw(width=3)
    with pytest.raises(InvalidArgument, match="height"):
        CURVE.draw(height=1)
    with pytest.raises(InvalidArgument, match="nothing to draw"):
        compose(Promise(ApproxDP(1, "1e-3"))).draw()


def test_plot():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    axes = CURVE.plot()
    assert CURVE.plot(axes) is axes
    upper, lower = axes.lines[0].get_ydata(), axes.lines[1].get_ydata()
    assert all(low <= high for low, high in zip(lower, upper, strict=True))
    assert axes.get_yscale() == "log"
    assert compose(LaplaceNoise(1, 1)).plot(axes) is axes
    plt.close(axes.figure)


def test_plot_says_what_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(InvalidArgument, match=r"pip install 'discreet\[plot\]'"):
        CURVE.plot()
