"""Every published violation is refuted by replay or coupling, no mended twin and no sound function is."""

import pytest

from audit.playback.unmodified import CASES, ROWS, SOUND
from discreet.audit import audit_function
from support.profile import DEEP


def look(function, case):
    return audit_function(
        function,
        case.claim,
        neighbours=case.neighbours,
        example=case.example,
        skip=case.skip,
        samples=400,
    )


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_broken_ones_are_refuted(case):
    """Replay draws nothing at random. The one coupled case is missed with probability below 1e-9."""
    report = look(case.broken, case)
    assert report.refuted, report
    assert report.rank == case.rank
    assert "unmodified.py:" in report.place


@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_mended_twins_are_not(case):
    """Replay draws nothing at random; what the black box sees has a false-alarm rate of 1e-6 only if asked."""
    report = look(case.mended, case)
    assert report.verdict == "not refuted", report
    # On a busy machine coupling gets fewer tapes, and may ask the black box for its opinion.
    assert report.rank == 1 or case.rank == 2


@pytest.mark.statistical
@pytest.mark.parametrize(
    ("function", "claim"), SOUND, ids=lambda part: getattr(part, "__name__", str(part))
)
def test_sound_ones_are_not(function, claim, monkeypatch):
    """False-alarm rate: 1e-11 for each function that the black box decides."""
    monkeypatch.setattr("discreet.audit.playback.coupling.CONFIDENCE", 1 - 1e-11)
    report = audit_function(
        function, claim, example=list(ROWS), skip=("none against",), samples=400
    )
    assert report.verdict == "not refuted", report


@pytest.mark.untraced
@pytest.mark.parametrize("name", ["true n", "double spending", "classes from data"])
def test_a_hundred_runs_have_one_verdict(name):
    """Replay has no randomness of its own: 100 runs in `make deep`, 3 else."""
    case = next(case for case in CASES if case.name == name)
    pairs = [(case.example, [*case.example, "c" if "a" in case.example else 99.0])]
    reports = [
        audit_function(case.broken, case.claim, pairs=pairs) for _ in range(100 if DEEP else 3)
    ]
    assert {str(report) for report in reports} == {str(reports[0])}
    assert reports[0].refuted


def test_the_inventory():
    """All nine violations that we could identify are here."""
    published = [case.published for case in CASES if case.published]
    assert len(published) >= 9
    assert len({case.name for case in CASES}) == len(CASES)
