"""No false alarm on discreet's own mechanisms and SQL statistics, seen as any stranger's functions."""

import pytest

import discreet as dp
from discreet.audit import audit_function
from discreet.privacy.measures import PureDP

MECHANISMS = {
    "Laplace": dp.Laplace.spending(PureDP(1), sensitivity=1),
    "Geometric": dp.Geometric.spending(PureDP(1), sensitivity=1),
}
VISITS = dp.Schema("visits", dp.People("id", max_rows=2), {"minutes": dp.Integer(0, 60)})
ROWS = [{"id": person, "minutes": 30} for person in range(5)]
HEAVY = ROWS + [{"id": "new", "minutes": 60}] * 50
STATISTICS = ("COUNT(*)", "SUM(minutes)", "AVG(minutes)", "MEDIAN(minutes)")


@pytest.mark.statistical
@pytest.mark.parametrize("name", [pytest.param("Laplace", marks=pytest.mark.slow), "Geometric"])
def test_mechanisms(name, monkeypatch):
    """False-alarm rate: 1e-11 each."""
    monkeypatch.setattr("discreet.audit.playback.coupling.CONFIDENCE", 1 - 1e-11)
    release = MECHANISMS[name].release
    report = audit_function(
        lambda rows: release(len(rows)), PureDP(1), pairs=[([1, 2], [1, 2, 3])], samples=400
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
