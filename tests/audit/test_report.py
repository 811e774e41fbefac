"""The report: in words, as JSON, as a page, as a figure."""

import json
import sys

import numpy as np
import pytest

from discreet.audit import audit
from discreet.audit.events.outputs import tabulate
from discreet.audit.events.sketch import draw
from discreet.audit.events.views import OutputView
from discreet.audit.reports.report import _down
from discreet.errors import InvalidArgument
from discreet.privacy.measures import ApproxDP, GaussianDP, PureDP


@pytest.fixture(scope="module")
def refuted():
    return audit(
        lambda x, size: x + np.random.default_rng(1).normal(size=size),
        GaussianDP(0.5),
        inputs=(0.0, 1.0),
    )


@pytest.fixture(scope="module")
def untested():
    return audit(lambda x: 7, PureDP(1), inputs=("<a>", "b"), samples=200)


def test_words(refuted):
    text = str(refuted)
    assert text.startswith("REFUTED\n  claim       μ = 0.5")
    assert "μ ≥" in text
    assert "not tested" in text
    assert refuted.direction in {"first", "second"}
    (p_low, p_high), (q_low, q_high) = refuted.rates()
    assert 0 <= q_low < q_high < p_high <= 1
    assert p_low > q_low


def test_empty_report(untested):
    assert str(untested).startswith("NOT TESTED")
    assert (untested.epsilon, untested.delta, untested.own, untested.event, untested.direction) == (
        0,
        0,
        0,
        "",
        "",
    )
    assert untested.rates() == ((0.0, 1.0), (0.0, 1.0))
    assert untested.best is None


def test_json(refuted, untested):
    plain = json.loads(refuted.json())
    assert plain["verdict"] == "refuted"
    assert plain["seen"]["runs"] == refuted.judged
    assert plain["own"] == {"μ": refuted.own}
    assert "seen" not in json.loads(untested.json())
    far = audit(lambda x: x, ApproxDP(1, 1e-3), inputs=(0, 1), samples=200)
    assert json.loads(far.json())["at_epsilon"] == 1


def test_html(refuted, untested, tmp_path):
    page = refuted.html(tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 2
    assert 'class="verdict refuted"' in page
    assert refuted._repr_html_() in page
    assert "The claim is false" in page
    other = untested._repr_html_()
    assert "<svg" not in other
    assert "every output was the same" in other
    assert "&lt;a&gt;" in other
    assert "<a>" not in other


def test_html_of_a_long_event(tmp_path):
    """Whole numbers have a bar each; the sentence stays short where the event is long; the rest is said below."""
    rng = np.random.default_rng(3)
    wide = audit(
        lambda x, size: rng.integers(x, 40, (size, 3)), PureDP(0.1), inputs=(0, 3), samples=4000
    )
    assert wide.refuted
    page = wide._repr_html_()
    assert page.count("<figure>") == 2
    kept = audit(
        lambda x, size: rng.integers(0, 2, size),
        PureDP(1),
        inputs=(0, 1),
        samples=2000,
        confidence=1 - 1e-9,
    )
    assert "That is no proof" in kept._repr_html_()


def test_plot(refuted, untested):
    figure = refuted.plot()
    assert len(figure.axes) == 2
    assert untested.plot().axes[0].get_xlabel() == ""


def test_plot_without_matplotlib(untested, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InvalidArgument, match="needs matplotlib"):
        untested.plot()


@pytest.mark.parametrize("value", [0.0, 1.0, 0.12345, 0.99999, 123456.0, 1e-9])
def test_bounds_are_printed_downward(value):
    assert float(_down(value)) <= value
    assert float(_down(value)) >= value * 0.998


def test_sketch_of_nothing():
    left, right = tabulate(np.full(3, np.nan), np.full(3, np.nan))
    assert draw(
        OutputView("value", lambda o: o.columns["value"].values), 0.0, left, right
    ).first == (0.0,)
    same, other = tabulate(np.ones(3), np.ones(3))
    assert (
        sum(draw(OutputView("value", lambda o: o.columns["value"].values), 1.0, same, other).first)
        == 1
    )
