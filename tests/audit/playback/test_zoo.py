"""Every published violation is refuted by replay or coupling, no mended twin and no sound function is."""

import pytest

from audit.playback.unmodified import CASES, ROWS, SOUND, noisy_max_of_normals
from discreet.audit import audit_function
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, RenyiDP
from support.profile import DEEP

# One case of each way to fail runs in `make test`, all run in `make deep`. Sums of losses above a
# pure claim and releases on one input only are those of `test_a_hundred_runs_have_one_verdict`.
OFTEN = {
    "one draw for two",  # a number without noise
    "clamp to the true size",  # answer
    "an exception tells",  # exception
    "noise made by hand",  # coupling
    "classic Gaussian at ε = 4",  # claim with δ
    "noisy_max",  # only compared
    "two_steps",  # inputs follow earlier outputs
    "randomized_response",  # no known law
}


def marked(name, *values):
    """Return one case, marked slow unless it is one of the above."""
    marks = () if name in OFTEN else pytest.mark.slow
    return pytest.param(*values, marks=marks, id=name)


ALL_CASES = [marked(case.name, case) for case in CASES]
ALL_SOUND = [marked(function.__name__, function, claim) for function, claim in SOUND]


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
@pytest.mark.parametrize("case", ALL_CASES)
def test_broken_ones_are_refuted(case):
    """Replay draws nothing at random. The one coupled case is missed with probability below 1e-9."""
    report = look(case.broken, case)
    assert report.refuted, report
    assert report.rank == case.rank
    assert "unmodified.py:" in report.place


@pytest.mark.statistical
@pytest.mark.parametrize("case", ALL_CASES)
def test_mended_twins_are_not(case):
    """Replay draws nothing at random; what the black box sees has a false-alarm rate of 1e-6 only if asked."""
    report = look(case.mended, case)
    assert report.verdict == "not refuted", report
    # On a busy machine coupling gets fewer tapes, and may ask the black box for its opinion.
    assert report.rank == 1 or case.rank == 2


@pytest.mark.statistical
@pytest.mark.parametrize(("function", "claim"), ALL_SOUND)
def test_sound_ones_are_not(function, claim, monkeypatch):
    """False-alarm rate: 1e-11 for each function that the black box decides."""
    monkeypatch.setattr("discreet.audit.playback.coupling.CONFIDENCE", 1 - 1e-11)
    report = audit_function(
        function, claim, example=list(ROWS), skip=("none against",), samples=400
    )
    assert report.verdict == "not refuted", report


@pytest.mark.parametrize(
    ("claim", "total"),
    [
        (GaussianDP(1), "μ = 1.22474, claimed 1"),
        pytest.param(ZCDP("0.5"), "ρ = 0.75, claimed 0.5", marks=pytest.mark.slow),
        pytest.param(RenyiDP({2: 1}), "ε(2) = 1.5, claimed 1", marks=pytest.mark.slow),
        (ApproxDP(1, "1e-3"), "δ at ε = 1 = 0.211123, claimed 0.001"),
    ],
    ids=str,
)
def test_only_what_the_answer_tells_refutes(claim, total):
    """The noisy vector is above the claim; the answer tells its winner alone. Nothing is random here."""
    report = audit_function(noisy_max_of_normals, claim, pairs=[([1.0, 2.0], [1.0, 2.0, 3.0])])
    assert report.worst.total == total
    assert (report.verdict, report.rank) == ("not refuted", 2), report


@pytest.mark.untraced
@pytest.mark.parametrize(
    "name",
    [
        pytest.param("true n", marks=pytest.mark.slow),
        "double spending",
        "classes from data",
    ],
)
def test_a_hundred_runs_have_one_verdict(name):
    """Replay has no randomness of its own: 100 runs in `make deep`, 2 else."""
    case = next(case for case in CASES if case.name == name)
    pairs = [(case.example, [*case.example, "c" if "a" in case.example else 99.0])]
    reports = [
        audit_function(case.broken, case.claim, pairs=pairs) for _ in range(100 if DEEP else 2)
    ]
    assert {str(report) for report in reports} == {str(reports[0])}
    assert reports[0].refuted


def test_the_inventory():
    """All nine violations that we could identify are here, and every case that is to run often."""
    assert {*(case.name for case in CASES), *(f.__name__ for f, _ in SOUND)} >= OFTEN
    published = [case.published for case in CASES if case.published]
    assert len(published) >= 9
    assert len({case.name for case in CASES}) == len(CASES)
