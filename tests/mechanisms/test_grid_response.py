"""The k × k grid: the lectures' 3/102, the distance score and its exact price, unbiased tables."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.mechanisms.response.grid import GridResponse
from discreet.mechanisms.response.randomized import RandomizedResponse
from discreet.mechanisms.selection.exponential import Exponential
from discreet.privacy.events import Promise, Response
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.testing.bits import UntouchedBits
from oracles.selection import assert_agrees


class TestDistance:
    """P(told) ∝ exp(−r·distance) with r = ε/2(k − 1) has worst loss exactly ε, from corner to corner."""

    @pytest.mark.parametrize(("side", "epsilon"), [(2, 1), (3, Fraction(1, 2)), (5, 3), (9, 20)])
    def test_exact_loss(self, side, epsilon):
        line = np.log(GridResponse(side, epsilon, "distance").channel())
        loss = max((line[i] - line[j]).max() for i, j in itertools.product(range(side), repeat=2))
        assert 2 * loss == pytest.approx(float(epsilon), rel=1e-12)  # two independent lines

    def test_is_the_exponential_mechanism_at_twice_the_general_price(self):
        grid = GridResponse(4, 1, "distance")
        cells = list(itertools.product(range(4), repeat=2))
        for place in ((0, 0), (1, 2)):
            scores = [-(abs(x - place[0]) + abs(y - place[1])) for x, y in cells]
            law = Exponential(2, 2 * 3, neighbours="replace").probabilities(scores)
            line = grid.channel()
            np.testing.assert_allclose(
                law, [line[place[0], x] * line[place[1], y] for x, y in cells], rtol=1e-12
            )

    @pytest.mark.statistical
    def test_frequencies(self):
        """50 000 reports of one place against the exact law; false alarm ≤ 1e-9."""
        grid = GridResponse(3, 4, "distance")
        told = grid.release(np.tile([0, 2], (50_000, 1)))
        law = np.outer(grid.channel()[0], grid.channel()[2]).reshape(-1)
        assert_agrees(np.bincount(told[:, 0] * 3 + told[:, 1], minlength=9), law)


class TestUniform:
    """p = e^ε/(e^ε + k² − 1)."""

    def test_the_lectures_example(self):
        assert GridResponse(10, "1.09861228866810969140", "uniform").truth == pytest.approx(
            3 / 102, rel=1e-14
        )

    def test_is_randomized_response_over_the_cells(self):
        grid = GridResponse(3, 2)
        assert grid.event == RandomizedResponse(9, epsilon=2).event
        assert isinstance(grid.event, Response)
        places = np.array([[0, 0], [2, 1], [1, 1]])
        assert GridResponse(3, 1000).release(places).tolist() == places.tolist()


class TestEstimate:
    """Tables are unbiased, their variances too, and Hoeffding's interval holds."""

    def exact(self, grid, truths):
        """Enumerate all reports of a few people."""
        side = grid.side
        cells = list(itertools.product(range(side), repeat=2))
        if grid.score == "distance":
            line = grid.channel()
            law = {(t, o): line[t[0], o[0]] * line[t[1], o[1]] for t in cells for o in cells}
        else:
            rr = RandomizedResponse(side**2, epsilon=grid.epsilon)
            law = {(t, o): rr.p if t == o else rr.q for t in cells for o in cells}
        for told in itertools.product(cells, repeat=len(truths)):
            chance = math.prod(law[t, o] for t, o in zip(truths, told, strict=True))
            yield chance, grid.estimate(np.array(told))

    @pytest.mark.parametrize("score", ["uniform", "distance"])
    def test_unbiased(self, score):
        truths = [(0, 0), (0, 1), (0, 1)]
        grid = GridResponse(2, 2, score)
        found = list(self.exact(grid, truths))
        mean = sum(chance * f.values for chance, f in found)
        np.testing.assert_allclose(mean, [[1 / 3, 2 / 3], [0, 0]], atol=1e-12)
        variance = sum(chance * (f.values - mean) ** 2 for chance, f in found)
        unclipped = sum(chance * f.variance for chance, f in found)
        assert (unclipped >= variance - 1e-12).all()  # unbiased but for those cut at 0
        table = np.array([[1 / 3, 2 / 3], [0, 0]])
        missed = sum(
            chance * ((table < f.interval(0.1)[..., 0]) | (table > f.interval(0.1)[..., 1]))
            for chance, f in found
        )
        assert (missed <= 0.1).all()

    @pytest.mark.statistical
    @pytest.mark.parametrize("score", ["uniform", "distance"])
    def test_variance_of_many(self, score):
        """20 000 people: every cell within 8 estimated deviations (normal tails: 9 × 1.3e-15 < 1e-9)."""
        grid = GridResponse(3, 6, score)
        truths = np.stack([np.arange(20_000) % 3, np.arange(20_000) % 2], axis=1)
        found = grid.estimate(grid.release(truths))
        table = np.zeros((3, 3))
        np.add.at(table, (truths[:, 0], truths[:, 1]), 1 / 20_000)
        assert (np.abs(found.values - table) <= 8 * np.sqrt(found.variance)).all()
        assert (found.interval(joint=True)[..., 0] <= found.interval()[..., 0]).all()


def test_spending_and_events():
    grid = GridResponse.spending(PureDP(1), side=5, score="distance")
    assert grid.event == Promise(PureDP(1), neighbours="replace")
    assert grid.rate == Fraction(1, 8)
    assert GridResponse.spending(ApproxDP(1, 1e-3), side=5).epsilon > 1
    assert 0 < grid.truth < 1


def test_one_place_in_one_place_out():
    assert GridResponse(4, 1000).release((1, 3)) == (1, 3)


@pytest.mark.parametrize("score", ["uniform", "distance"])
@pytest.mark.parametrize(
    "place",
    [(4, 0), (0, -1), (0,), (0, 1, 2), (0.5, 1), np.zeros((0, 2), int), np.zeros(2, int)],
    ids=repr,
)
def test_places_off_the_grid_are_refused_and_nothing_is_drawn(score, place):
    with pytest.raises(InvalidArgument):
        GridResponse(4, 1, score).release(place, bits=UntouchedBits())


def test_bad_parameters_are_refused():
    for made in (
        lambda: GridResponse(1, 1),
        lambda: GridResponse(3, 0),
        lambda: GridResponse(3, 1, "angle"),
    ):
        with pytest.raises(InvalidArgument):
            made()


@pytest.mark.parametrize("score", ["uniform", "distance"])
def test_the_error_bounds_every_cell_of_every_table(score):
    grid = GridResponse(3, 2, score)
    places = grid.release(np.array([[0, 2]] * 700 + [[1, 1]] * 300))
    assert grid.error(1000) == grid.estimate(places).reach(0.05).max()
    assert grid.error(4000) == pytest.approx(grid.error(1000) / 2)
    with pytest.raises(InvalidArgument):
        grid.error(0)


def test_the_uniform_error_is_that_of_randomized_response():
    assert GridResponse(4, 1).error(500, 0.1) == pytest.approx(
        RandomizedResponse(16, epsilon=1).error(500, 0.1)
    )
