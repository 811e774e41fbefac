"""All mechanisms are called alike: spending(spend, *, …), for_error(error, *, beta=0.05, …)."""

import inspect

import pytest

from discreet import mechanisms
from discreet.errors import InvalidArgument
from discreet.mechanisms.additive.discrete_laplace import DiscreteLaplace
from discreet.privacy.measures import ApproxDP, PureDP

MADE = sorted(
    {c for n in mechanisms.__all__ if hasattr(c := getattr(mechanisms, n), "spending")},
    key=lambda c: c.__name__,
)
BY_ERROR = [made for made in MADE if hasattr(made, "for_error")]
OLD_WORDS = {"l0", "measure", "budget", "linf", "confidence", "accuracy"}


def called(method):
    return list(inspect.signature(method).parameters.values())


def test_there_are_many():
    assert len(MADE) == 24
    assert len(BY_ERROR) >= 11


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.__name__)
def test_spending(made):
    first, *rest = called(made.spending)
    assert first.name == "spend"
    assert all(p.kind is p.KEYWORD_ONLY for p in rest)
    assert not OLD_WORDS & {p.name for p in rest}


@pytest.mark.parametrize("made", BY_ERROR, ids=lambda made: made.__name__)
def test_for_error(made):
    first, *rest = called(made.for_error)
    assert first.name == "error"
    assert all(p.kind is p.KEYWORD_ONLY for p in rest)
    beta = next(p for p in rest if p.name == "beta")
    assert beta.default == 0.05


@pytest.mark.parametrize("made", MADE, ids=lambda made: made.__name__)
def test_an_error_speaks_of_beta(made):
    error = inspect.signature(getattr(made, "error", len)).parameters
    assert "beta" not in error or error["beta"].default == 0.05


class TestFormerly:
    """What version 0.1 took is still taken, with a warning, for one release."""

    def test_a_second_argument_without_its_name(self):
        with pytest.warns(DeprecationWarning, match="pass sensitivity=… by name"):
            assert mechanisms.Laplace.spending(PureDP(1), 2) == mechanisms.Laplace.spending(
                PureDP(1), sensitivity=2
            )
        with pytest.warns(DeprecationWarning, match="pass beta=… by name"):
            made = mechanisms.Geometric.for_error(6, 0.1, sensitivity=1)
        assert made == mechanisms.Geometric.for_error(6, beta=0.1, sensitivity=1)

    @pytest.mark.parametrize(
        "made",
        [mechanisms.LaplaceThreshold, mechanisms.GaussianThreshold, mechanisms.PartitionSelection],
    )
    def test_l0(self, made):
        with pytest.warns(DeprecationWarning, match="l0 is called max_groups"):
            assert made(1, "1e-6", l0=3) == made(1, "1e-6", max_groups=3)
        with pytest.warns(DeprecationWarning, match="l0 is called max_groups"):
            assert made.spending(ApproxDP(1, "1e-6"), l0=3).max_groups == 3

    def test_both_names(self):
        with (
            pytest.warns(DeprecationWarning, match="max_groups"),
            pytest.raises(InvalidArgument, match="given twice"),
        ):
            mechanisms.LaplaceThreshold(1, "1e-6", l0=3, max_groups=3)

    def test_the_name_of_the_lectures(self):
        assert mechanisms.Geometric is DiscreteLaplace
