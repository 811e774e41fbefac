"""No false alarm on discreet's own mechanisms and SQL statistics, seen as any stranger's functions."""

import pytest

import discreet as dp
from discreet.audit import audit_function
from discreet.privacy.measures import ZCDP, GaussianDP, PureDP

MECHANISMS = {
    "Laplace": (dp.Laplace, PureDP(1)),
    "Geometric": (dp.Geometric, PureDP(1)),
    "DiscreteLaplace": (dp.DiscreteLaplace, PureDP(1)),
    "Gaussian": (dp.Gaussian, GaussianDP(1)),
    "DiscreteGaussian": (dp.DiscreteGaussian, ZCDP("0.5")),
}
CHOICES = (dp.Exponential, dp.PermuteAndFlip, dp.NoisyMax)
VISITS = dp.Schema("visits", dp.People("id", max_rows=2), {"minutes": dp.Integer(0, 60)})
ROWS = [{"id": person, "minutes": 30} for person in range(5)]
HEAVY = ROWS + [{"id": "new", "minutes": 60}] * 50
STATISTICS = (
    *(
        "COUNT(*)",
        "SUM(minutes)",
        "AVG(minutes)",
        "MEDIAN(minutes)",
        "MIN(minutes)",
        "MAX(minutes)",
    ),
    *("VARIANCE(minutes)", "STDDEV(minutes)", "COUNT(DISTINCT minutes)", "MODE(minutes)"),
)


@pytest.mark.statistical
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "Geometric" else pytest.mark.slow)
        for name in MECHANISMS
    ],
)
def test_mechanisms(name, monkeypatch):
    """False-alarm rate: 1e-11 each."""
    monkeypatch.setattr("discreet.audit.playback.coupling.CONFIDENCE", 1 - 1e-11)
    kind, claim = MECHANISMS[name]
    release = kind.spending(claim, sensitivity=1).release
    report = audit_function(
        lambda rows: release(len(rows)), claim, pairs=[([1, 2], [1, 2, 3])], samples=400
    )
    assert report.verdict == "not refuted", report


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("kind", CHOICES, ids=lambda kind: kind.__name__)
def test_choices(kind, monkeypatch):
    """False-alarm rate: 1e-11 each."""
    monkeypatch.setattr("discreet.audit.playback.coupling.CONFIDENCE", 1 - 1e-11)
    release = kind.spending(PureDP(1), sensitivity=1).release
    report = audit_function(
        lambda rows: int(release([3.0, float(len(rows)), 1.0])),
        PureDP(1),
        pairs=[([1, 2], [1, 2, 3])],
        samples=400,
    )
    assert report.verdict == "not refuted", report


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("statistic", STATISTICS)
def test_statistics(statistic, monkeypatch):
    """False-alarm rate: 1e-11 each."""
    monkeypatch.setattr("discreet.audit.playback.coupling.CONFIDENCE", 1 - 1e-11)

    def ask(rows):
        ledger = dp.open_ledger(":memory:", budget=PureDP(1))
        curator = dp.Curator(dp.Memory({"visits": rows}), [VISITS], ledger)
        answer = curator.sql(f"SELECT {statistic} AS x FROM visits", spend=PureDP(1))
        return answer.to_dict(0.9)

    report = audit_function(
        ask, PureDP(1), pairs=[(ROWS, HEAVY)], unit="id", samples=200, seconds=60
    )
    assert report.verdict == "not refuted", report
