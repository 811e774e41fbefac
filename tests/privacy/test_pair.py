"""Dominating pairs against exact laws: closed forms, enumerations and 50-digit vectors."""

import json
import math
from fractions import Fraction
from pathlib import Path

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf

from discreet.errors import InvalidArgument
from discreet.privacy.events import (
    Batch,
    BinomialNoise,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    OwnCurve,
    Parallel,
    PermuteAndFlipSelection,
    Promise,
    Repeated,
    Response,
    Sampled,
    Sequence,
    SparseVector,
    TruncatedGeometricNoise,
)
from discreet.privacy.loss.atoms import Atoms, binary, box, response
from discreet.privacy.loss.curve import envelope, from_points, from_zcdp, mirrored
from discreet.privacy.loss.loss_masses import Lattice, narrowest
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.numerical.pair import pairs_of
from discreet.privacy.pairs.dominating import merged_parts, parts_of
from discreet.privacy.pairs.gauss import Gauss, lattice_gauss
from discreet.privacy.pairs.hyperbola import bounded_range, discrete_laplace_hull, laplace
from discreet.privacy.pairs.lattice import (
    MAX_LISTED_ATOMS,
    binomial,
    discrete_gauss,
    discrete_laplace,
)
from discreet.privacy.pairs.mixture import Mixture
from discreet.privacy.pairs.parallel import doubled
from oracles import privacy_curves as oracle
from support.profile import examples

VECTORS = {
    v["id"]: v
    for v in json.loads((Path(__file__).parents[1] / "vectors" / "vectors.json").read_text())[
        "vectors"
    ]
}
EPSILONS = [-3.0, -0.7, -0.01, 0.0, 0.01, 0.3, 0.9, 2.0, 4.5]


def close(pair, epsilon, exact, relative=2e-12):
    """The two single-pair bounds enclose the exact number and are this close to it."""
    exact = mpf(exact)
    assert mpf(pair.lower_delta(epsilon)) <= exact <= mpf(pair.delta(epsilon))
    assert pair.delta(epsilon) - float(exact) <= relative * float(exact) + 1e-300
    assert float(exact) - pair.lower_delta(epsilon) <= relative * float(exact) + 1e-300


def consistent(pair, edges, relative=1e-10):
    """Cells add up to one law each, and give the pair's own curve at every edge."""
    edges = np.asarray(edges, dtype=float)
    cells = pair.cells(edges)
    assert cells.p.sum() + cells.top == pytest.approx(1, rel=1e-9)
    assert cells.q.sum() <= 1 + 1e-9
    assert len(cells.p) == len(cells.q) == len(edges) + 1
    # Where masses were split, the lower bound is of the masses before that.
    own_curve = pair.delta if pair.split else pair.lower_delta
    for i, edge in enumerate(edges):
        tail = cells.p[i + 1 :].sum() + cells.top - math.exp(edge) * cells.q[i + 1 :].sum()
        assert tail == pytest.approx(own_curve(float(edge)), rel=relative, abs=1e-13)


class TestVectors:
    """Fifty-digit numbers by independent means."""

    @pytest.mark.parametrize("name", ["GD-1", "GD-2", "GD-4", "CG-1", "CG-2"])
    def test_gaussian_delta(self, name):
        given_, exact = VECTORS[name]["inputs"], VECTORS[name]["value"]
        event = GaussianNoise.of(given_["sigma"], 1)
        pair = pairs_of(event).remove
        assert float(pair.delta(float(given_["epsilon"]))) == pytest.approx(float(exact), rel=1e-12)

    def test_laplace_delta(self):
        close(pairs_of(LaplaceNoise(1, 1)).add, 0.5, VECTORS["LD-1"]["value"])

    def test_sampled_gaussian(self):
        pairs = pairs_of(Sampled(GaussianNoise(1, 1), "0.01"))
        close(pairs.remove, 0.1, VECTORS["SG-1r"]["value"])
        assert pairs.add.delta(0.1) == 0.0

    def test_moving_between_parts(self):
        """Two-sided geometric per cell, replace-one: the loss is 2ε (PC-1)."""
        event = Parallel([DiscreteLaplaceNoise(2, 1)] * 2, neighbours="replace")
        assert pairs_of(event).remove.limit == Fraction(VECTORS["PC-1"]["value"])


class TestGauss:
    """G(μ): δ(ε) = Φ(μ/2 − ε/μ) − e^ε Φ(−μ/2 − ε/μ), to 1e-12 also far in the tail."""

    @pytest.mark.parametrize("mu", [1e-4, 0.01, 0.3, 1.0, 1.5, 8.0])
    @pytest.mark.parametrize("z", [-9, -5, -1, 0, 0.5, 3, 9, 21])
    def test_closed_form(self, mu, z):
        epsilon = mu * (mu / 2 + z)
        exact = oracle.gauss_delta(mpf(mu), mpf(epsilon))
        close(Gauss(mu), epsilon, exact, 3e-12)

    def test_cells(self):
        consistent(Gauss(0.5), np.linspace(-3, 3, 61))
        assert Gauss(1.0).cells(np.array([0.0])).p.sum() == pytest.approx(1)

    def test_nothing_is_left_far_out(self):
        assert Gauss(1.0).delta(1000.0) < 1e-300

    @pytest.mark.untraced
    @pytest.mark.parametrize(("variance", "squared"), [(4, 4), (6, 8), (2.5, 5)])
    def test_lattice_bound_dominates_two_coordinates(self, variance, squared):
        """Discrete Gaussian in two coordinates, every move of that length: enumeration lies below the bound."""
        pair = lattice_gauss(variance, squared, 2)
        moves = [(a, b) for a in range(4) for b in range(4) if 0 < a * a + b * b <= squared]
        for a, b in moves:
            law = [oracle.discrete_gauss_law(mpf(variance), m, reach=25) for m in (a, b) if m]
            total = oracle.compose_laws(law)
            for epsilon in (0.0, 0.5, 1.5, 4.0):
                assert oracle.delta_of(total, mpf(epsilon)) <= pair.delta(epsilon)

    def test_lattice_bound_needs_width(self):
        assert lattice_gauss(0.5, 4, 3) is None
        event = DiscreteGaussianNoise(Fraction(1, 2), 4, 3)
        assert isinstance(pairs_of(event).remove, Atoms)


class TestHyperbola:
    """Laplace noise, its lattice form and bounded range."""

    @pytest.mark.parametrize("epsilon", EPSILONS)
    def test_laplace(self, epsilon):
        x = mpf(3) / 2
        exact = oracle.hyperbola_delta((x, x, mpf(1) / 2, oracle.exp(-x / 2) / 2), 1, mpf(epsilon))
        close(laplace(Fraction(3, 2)), epsilon, exact)

    @pytest.mark.parametrize("steps", [1, 2, 3, 7])
    def test_hyperbola_lies_above_the_geometric(self, steps):
        law = oracle.geometric_law(mpf(1) / 3, steps)
        pair = discrete_laplace_hull(Fraction(1, 3), steps)
        for epsilon in EPSILONS:
            exact = oracle.delta_of(law, mpf(epsilon))
            assert exact <= pair.delta(epsilon) <= float(exact) + 0.02
        if steps == 1:
            close(pair, 0.1, oracle.delta_of(law, mpf("0.1")), 1e-9)

    @pytest.mark.parametrize(
        "pair",
        [
            laplace(Fraction(2)),
            discrete_laplace_hull(Fraction(1, 4), 6),
            bounded_range(Fraction(2)),
        ],
    )
    def test_cells(self, pair):
        consistent(pair, np.linspace(-2.55, 2.55, 52))

    @settings(max_examples=examples(60), deadline=None)
    @given(
        st.lists(st.floats(0.01, 1), min_size=2, max_size=5), st.floats(-1, 1), st.floats(0.1, 3)
    )
    def test_bounded_range_dominates(self, weights, epsilon, range_):
        """Every law whose losses lie in one interval of length ε is dominated."""
        q = np.array(weights) / sum(weights)
        tilt = np.linspace(0, range_, len(q))
        p = q * np.exp(tilt)
        p /= p.sum()
        assert np.log(p / q).max() - np.log(p / q).min() == pytest.approx(range_)
        curve = np.maximum(p - math.exp(epsilon) * q, 0).sum()
        assert curve <= bounded_range(Fraction(range_)).delta(epsilon) + 1e-12

    def test_range_is_half_as_easy_as_pure(self):
        assert bounded_range(Fraction(1)).delta(0.3) < binary(Fraction(1)).delta(0.3)


class TestAtoms:
    """Pairs with finitely many losses."""

    @pytest.mark.parametrize("options", [2, 3, 10])
    def test_response(self, options):
        law = oracle.response_law(mpf(1), options)
        for epsilon in EPSILONS:
            close(response(Fraction(1), options), epsilon, oracle.delta_of(law, mpf(epsilon)))

    def test_box(self):
        law = oracle.box_law(mpf(1), mpf(1) / 1024)
        for epsilon in EPSILONS:
            close(box(Fraction(1), Fraction(1, 1024)), epsilon, oracle.delta_of(law, mpf(epsilon)))
        assert box(Fraction(0), Fraction(1, 8)).delta(5.0) == 0.125
        assert box(Fraction(1), Fraction(1, 3)).delta(5.0) >= Fraction(1, 3)

    def test_cells(self):
        consistent(response(Fraction(1), 3), np.linspace(-1.7, 1.3, 7))
        consistent(binomial(40, 3), np.linspace(-2, 2, 41), 1e-9)

    def test_span(self):
        pair = discrete_gauss(Fraction(4), 1)
        low, high = pair.span(1e-3)
        assert pair.p[pair.losses < low].sum() <= 1e-3
        assert pair.p[pair.losses > high].sum() <= 1e-3
        assert Atoms(np.zeros(1), np.zeros(1), Fraction(1)).span(0.5) == (0.0, 0.0)


class TestLatticeNoise:
    """Noise on the integers, by enumeration."""

    @pytest.mark.parametrize("steps", [1, 2, 5, 8])
    def test_two_sided(self, steps):
        law = oracle.geometric_law(mpf(1) / 4, steps)
        for epsilon in EPSILONS:
            close(
                discrete_laplace(Fraction(1, 4), steps),
                epsilon,
                oracle.delta_of(law, mpf(epsilon)),
                3e-12,
            )

    def test_long_shift_is_a_hyperbola(self):
        pair = discrete_laplace(Fraction(1, MAX_LISTED_ATOMS), MAX_LISTED_ATOMS + 1)
        assert pair.delta(0.5) >= laplace(Fraction(MAX_LISTED_ATOMS + 1, MAX_LISTED_ATOMS)).delta(
            0.5
        )
        assert pair.delta(0.5) <= laplace(Fraction(MAX_LISTED_ATOMS + 1, MAX_LISTED_ATOMS)).delta(
            0.5
        ) * (1 + 1e-3)

    @pytest.mark.parametrize(("variance", "shift"), [(Fraction(1, 4), 1), (1, 1), (3, 2), (20, 5)])
    def test_discrete_gauss(self, variance, shift):
        law = oracle.discrete_gauss_law(
            mpf(variance.numerator) / variance.denominator, shift, reach=90
        )
        pair = discrete_gauss(Fraction(variance), shift)
        for epsilon in EPSILONS:
            close(pair, epsilon, oracle.delta_of(law, mpf(epsilon)), 4e-12)

    @pytest.mark.parametrize(("trials", "shift"), [(1, 1), (6, 2), (100, 3), (3, 7)])
    def test_binomial_small(self, trials, shift):
        law = oracle.binomial_law(trials, shift)
        for epsilon in EPSILONS:
            close(binomial(trials, shift), epsilon, oracle.delta_of(law, mpf(epsilon)), 4e-12)

    @pytest.mark.parametrize(
        ("trials", "shift"), [(1001, 1), (1200, 70), (1500, 600), (1500, 1480)]
    )
    def test_binomial_medium(self, trials, shift):
        law = oracle.binomial_law(trials, shift)
        pair = binomial(trials, shift)
        for epsilon in (0.0, 0.5, 2.0):
            exact = float(oracle.delta_of(law, mpf(epsilon)))
            assert exact <= pair.delta(epsilon) <= exact * (1 + 1e-9) + 2e-12

    @pytest.mark.parametrize("trials", [2**40, 2**62 - 1, 2**62, 2**80, 2**300])
    @pytest.mark.parametrize("shift", [64, 65, 1000, 10**6])
    def test_binomial_beyond_the_whole_numbers_of_floats(self, trials, shift):
        """A shift below the step of floats at N/2 costs what it costs: δ(0) is that of the Gaussian; more trials, no more."""
        found, exact = (
            binomial(trials, shift),
            [
                mpmath.erf(shift / mpmath.sqrt(2 * mpf(kept)))
                for kept in (trials, min(trials, 2**62))
            ],
        )
        assert exact[0] * (1 - 1e-9) <= found.delta(0.0) <= exact[1] * (1 + 2e-6) + 4e-12
        assert trials <= 2**62 or found.lower_delta(0.0) == 0

    def test_binomial_beyond_its_support(self):
        assert binomial(2000, 1990).delta(3.0) == 1.0

    @pytest.mark.parametrize("trials", [2**22, 2**40])
    def test_binomial_huge_is_nearly_gaussian(self, trials):
        shift = math.isqrt(trials) // 4
        pair = binomial(trials, shift)
        assert len(pair.p) < 2**16
        mu = shift / (math.sqrt(trials) / 2)
        assert pair.delta(1.0) == pytest.approx(Gauss(mu).delta(1.0), rel=2e-3)
        assert pair.p.sum() == pytest.approx(1, abs=1e-11)
        assert (pair.p * np.exp(-pair.losses)).sum() == pytest.approx(1, abs=1e-9)

    def test_blocks_dominate_and_hardly_more(self):
        """A wide discrete Gaussian in blocks: above the continuous one by next to nothing."""
        pair = discrete_gauss(Fraction(10**8), 5000)
        exact = float(oracle.gauss_delta(mpf("0.5"), mpf(1)))
        assert exact * (1 - 1e-9) <= pair.delta(1.0) <= exact * (1 + 1e-5)
        assert pair.lattice is None

    def test_truncation_changes_nothing_but_the_range(self):
        same = pairs_of(DiscreteLaplaceNoise(3, 2)).remove
        assert pairs_of(TruncatedGeometricNoise(3, 2, 0, 9)).remove.delta(0.2) == same.delta(0.2)
        assert pairs_of(TruncatedGeometricNoise(3, 50, 0, 2)).remove.delta(0.2) == same.delta(0.2)
        assert pairs_of(LaplaceNoise(3, 2, 1)).remove.delta(0.2) == same.delta(0.2)


class TestMixture:
    """Poisson sampling, both directions, for any inner pair."""

    @pytest.mark.parametrize("rate", [0.01, 0.5, 0.97])
    @pytest.mark.parametrize("removes", [True, False])
    def test_atoms(self, rate, removes):
        law = oracle.sampled_law(oracle.geometric_law(mpf(1) / 2, 3), mpf(rate), removes=removes)
        pair = Mixture(discrete_laplace(Fraction(1, 2), 3), rate, removes=removes)
        for epsilon in EPSILONS:
            close(pair, epsilon, oracle.delta_of(law, mpf(epsilon)), 1e-11)
        consistent(pair, np.linspace(-1.23, 1.29, 37))
        assert float(pair.limit) == pytest.approx(float(max(loss for loss, _ in law)))
        assert pair.lattice is None
        assert pair.slack == 0

    @pytest.mark.untraced
    @pytest.mark.parametrize("removes", [True, False])
    def test_gauss(self, removes):
        pair = Mixture(Gauss(2.0), 0.1, removes=removes)
        for epsilon in (-0.5, -0.05, 0.02, 0.5, 3.0):
            exact = oracle.sampled_gauss_delta(mpf(2), mpf(0.1), mpf(epsilon), removes=removes)
            close(pair, epsilon, exact, 1e-11)
        consistent(pair, np.linspace(-1, 1.5, 41))
        low, high = pair.span(1e-9)
        cells = pair.cells(np.array([low, high]))
        assert cells.p[0] <= 1e-9
        assert cells.p[-1] + cells.top <= 1e-9

    def test_certain_outputs(self):
        """An infinite loss inside becomes γ times as likely for remove, and finite for add."""
        inner = box(Fraction(1), Fraction(1, 4))
        remove, add = (Mixture(inner, 0.5, removes=r) for r in (True, False))
        assert remove.top == 0.125
        assert add.top == 0.0
        assert float(add.limit) == pytest.approx(math.log(2))
        assert add.span(0.0)[1] == pytest.approx(math.log(2))
        assert add.cells(np.array([0.0, 0.5])).p.sum() == pytest.approx(1)
        consistent(remove, [-0.6, 0.1, 0.2])
        assert add.delta(0.6) == pytest.approx(0.25 * (1 - 0.5 * math.exp(0.6)), rel=1e-6)

    def test_very_large_losses(self):
        pair = Mixture(Gauss(1.0), 0.5, removes=True)
        assert pair.delta(800.0) < 1e-300
        assert pair.limit is None
        assert Mixture(Gauss(40.0), 0.5, removes=True).span(1e-30)[1] > 700


class TestCurves:
    """Pairs from points of a curve."""

    def test_points_on_a_chord_change_nothing(self):
        with_, without = (
            [(0, Fraction(1, 2)), (1, Fraction(1, 8)), (2, Fraction(9, 10))],
            [(0, 0.5), (1, 0.125)],
        )
        for epsilon in (0.0, 0.3, 1.0, 5.0):
            assert from_points(with_).delta(epsilon) == pytest.approx(
                from_points(without).delta(epsilon), rel=1e-12
            )

    def test_hull_drops_a_point_above(self):
        pair = from_points([(0, 0.5), (1, 0.4), (2, 0.01)])
        chord = 0.5 + (0.01 - 0.5) * math.expm1(1) / math.expm1(2)
        assert pair.delta(1.0) == pytest.approx(chord, rel=1e-9)

    def test_no_promise(self):
        assert from_points([(0, 1)]).delta(3.0) == 1.0

    def test_own_curve_of_a_gaussian(self):
        points = [(e / 8, min(0.999, Gauss(1.0).delta(e / 8))) for e in range(80)]
        pair = pairs_of(OwnCurve(points)).remove
        for epsilon in (0.05, 0.8, 3.3, -0.4):
            assert (
                Gauss(1.0).delta(epsilon) <= pair.delta(epsilon) <= Gauss(1.0).delta(epsilon) * 1.05
            )

    def test_own_curve_of_one_point_is_the_box(self):
        pair = pairs_of(OwnCurve([(1, Fraction(1, 64))])).remove
        for epsilon in (-2.0, -0.5, 0.0, 0.5, 2.0):
            assert pair.delta(epsilon) == pytest.approx(
                box(Fraction(1), Fraction(1, 64)).delta(epsilon), rel=1e-9
            )

    def test_mirror(self):
        both = dict(mirrored([(Fraction(1), Fraction(0))]))
        assert float(both[Fraction(-1)]) == pytest.approx(1 - math.exp(-1))

    @pytest.mark.untraced
    def test_zcdp_dominates_the_gaussian(self):
        pair = from_zcdp(0.5)
        for epsilon in (-1.0, 0.0, 0.7, 3.0, 12.0):
            assert Gauss(1.0).delta(epsilon) <= pair.delta(epsilon)
        assert pair.delta(float(VECTORS["ZC-1b"]["value"])) == pytest.approx(1e-6, rel=2e-3)

    @pytest.mark.untraced
    def test_renyi(self):
        orders = {a: Fraction(a, 2) for a in (2, 3, 4, 6, 8, 16, 32)}
        pair = pairs_of(Promise(RenyiDP(orders))).add
        assert pair.delta(5.5) >= from_zcdp(0.5).lower_delta(5.5) * (1 - 1e-3)
        assert pair.delta(5.5) <= from_zcdp(0.5).delta(5.5) * 1.2

    @pytest.mark.untraced
    def test_envelope(self):
        pairs = [Gauss(1.0), laplace(Fraction(1)), box(Fraction(1, 2), Fraction(1, 100))]
        most = envelope(pairs)
        for epsilon in (-1.5, -0.2, 0.0, 0.3, 0.8, 2.0):
            largest = max(pair.delta(epsilon) for pair in pairs)
            assert largest * (1 - 1e-9) <= most.delta(epsilon) <= largest * 1.01 + 1e-9
        assert envelope([binary(Fraction(1)), binary(Fraction(2))]).limit == 2


class TestSymmetry:
    """H(−ε) = 1 − e^−ε (1 − H(ε)) for every pair that treats both directions alike."""

    @pytest.mark.untraced
    @pytest.mark.parametrize(
        "event",
        [
            LaplaceNoise(2, 3),
            LaplaceNoise(2, 3, "0.5"),
            DiscreteLaplaceNoise(2, 5),
            GaussianNoise(4, 9),
            DiscreteGaussianNoise(5, 4),
            DiscreteGaussianNoise(5, 3, 7, 1),
            DiscreteGaussianNoise(50, 30, 4),
            BinomialNoise(60, 2),
            ExponentialSelection(2),
            PermuteAndFlipSelection(1),
            SparseVector(1, 2),
            Response(1, 5),
            Promise(PureDP(1)),
            Promise(ApproxDP(1, "0.01")),
            Promise(GaussianDP(1)),
            Promise(ZCDP("0.3")),
            OwnCurve([(0, "0.4"), (1, "0.1")]),
        ],
        ids=lambda event: type(event).__name__,
    )
    def test_identity(self, event):
        pairs = pairs_of(event)
        assert pairs.remove is pairs.add
        for epsilon in (0.1, 0.8, 2.0):
            mirrored_ = 1 - math.exp(-epsilon) * (1 - pairs.remove.delta(epsilon))
            assert pairs.remove.delta(-epsilon) == pytest.approx(
                mirrored_, rel=2e-3 if "Gauss" in repr(event) else 1e-5
            )


class TestPartsOf:
    """Events taken apart: products of pairs dominate, whatever depends on what."""

    def test_built_events(self):
        event = Sequence([Repeated(Response(1), 3), KeySelection(Response(2), Fraction(1, 10))])
        parts = parts_of(event, 2)
        assert [times for _, times in parts] == [6, 2, 2]

    def test_lattice_gaussians_move_whole_steps(self):
        """Less than a step is a step, and √5 steps are three: an answer is rounded to the lattice."""
        assert parts_of(GaussianNoise(4, "0.3", 1)) == [(DiscreteGaussianNoise(4, 1), 1)]
        same = pairs_of(DiscreteGaussianNoise(16, 9)).remove.delta(0.3)
        assert pairs_of(GaussianNoise(4, "1.25", "0.5")).remove.delta(0.3) == same
        assert pairs_of(GaussianNoise(4, "1.25", "0.5", 2)).remove.delta(0.3) < same

    def test_unit_moves_in_many_coordinates(self):
        one = DiscreteGaussianNoise(9, 1)
        assert parts_of(DiscreteGaussianNoise(9, 3, 10)) == [(one, 3)]
        assert parts_of(DiscreteGaussianNoise(9, 100, 4, 1)) == [(one, 4)]
        assert pairs_of(DiscreteGaussianNoise(9, 1, 10)).remove.delta(0.2) == pairs_of(
            one
        ).remove.delta(0.2)

    def test_linf_shortens_a_move(self):
        assert pairs_of(DiscreteGaussianNoise(9, 16, 1, 2)).remove.delta(0.2) == discrete_gauss(
            Fraction(9), 2
        ).delta(0.2)

    def test_merging(self):
        many = [(GaussianNoise(n, 1), 1) for n in range(1, 30)] + [
            (Promise(ZCDP(1)), 2),
            (Promise(ZCDP(2)), 1),
        ]
        many += [
            (Promise(RenyiDP({2: 1})), 3),
            (Promise(RenyiDP({3: 1})), 1),
            (Response(1), 2),
            (Response(1), 2),
        ]
        merged = merged_parts(many)
        assert (Promise(ZCDP(4)), 1) in merged
        assert (Promise(RenyiDP({2: 3})), 1) in merged
        assert (Response(1), 4) in merged
        assert len(merged) == 5
        squared = next(
            e.measure.squared
            for e, _ in merged
            if isinstance(e, Promise) and isinstance(e.measure, GaussianDP)
        )
        exact = sum(Fraction(1, n) for n in range(1, 30))
        assert exact <= squared <= exact * (1 + Fraction(1, 10**11))

    def test_sampling_everything_is_no_sampling(self):
        assert pairs_of(Sampled(LaplaceNoise(1, 1), 1)) == pairs_of(LaplaceNoise(1, 1))

    def test_empty_promises(self):
        for measure in (GaussianDP(0), ZCDP(0), PureDP(0)):
            assert pairs_of(Promise(measure)).remove.delta(0.0) < 1e-300

    def test_beyond_any_use(self):
        """Losses too large for doubles are priced as their limit."""
        for event in (
            LaplaceNoise(1, 5000),
            Promise(PureDP(5000)),
            Promise(ApproxDP(5000, "1e-9")),
            ExponentialSelection(5000),
            Response(5000, 3),
        ):
            pair = pairs_of(event).remove
            assert pair.limit == 5000
            assert pair.delta(4999.0) >= 1 - math.exp(-1)

    def test_refusal(self):
        with pytest.raises(InvalidArgument, match="an event is expected"):
            pairs_of("noise")

    def test_narrowest(self):
        assert narrowest(np.array([1.0])) == 1.0
        assert Lattice(Fraction(1), Fraction(0)).pitch == 1


class TestParallel:
    """Disjoint public parts: the worst part under add/remove, two parts or two steps under replace."""

    def test_ordered_families(self):
        for weak, strong in (
            (LaplaceNoise(2, 1), LaplaceNoise(1, 1)),
            (DiscreteLaplaceNoise(2, 1), DiscreteLaplaceNoise(2, 3)),
            (GaussianNoise(4, 1), Promise(GaussianDP(1))),
            (SparseVector(1), PermuteAndFlipSelection(2)),
            (ExponentialSelection(1), ExponentialSelection(2)),
            (Response(1, neighbours="add-remove"), Response(2, neighbours="add-remove")),
            (Promise(PureDP(1)), Promise(PureDP(2))),
            (Promise(ZCDP(1)), Promise(ZCDP(2))),
            (Promise(ApproxDP(1, "0.1")), Promise(ApproxDP(2, "0.1"))),
        ):
            assert parts_of(Parallel([weak, strong, weak])) == parts_of(strong)

    def test_unordered_parts_take_the_envelope(self):
        event = Parallel([LaplaceNoise(1, 1), GaussianNoise(1, 1)])
        pairs = pairs_of(event)
        assert parts_of(event) == [(event, 1)]
        assert pairs.remove is pairs.add
        for epsilon in (0.0, 0.5, 2.0):
            worst = max(laplace(Fraction(1)).delta(epsilon), Gauss(1.0).delta(epsilon))
            assert worst * (1 - 1e-9) <= pairs.remove.delta(epsilon) <= worst * 1.01

    def test_both_directions_of_sampled_parts(self):
        parts = [Sampled(GaussianNoise(1, 1), "0.1"), Sampled(LaplaceNoise(1, 1), "0.2")]
        pairs = pairs_of(Parallel(parts))
        for epsilon in (0.02, 0.1):
            assert pairs.remove.delta(epsilon) >= max(
                pairs_of(p).remove.delta(epsilon) for p in parts
            ) * (1 - 1e-9)
            assert pairs.add.delta(epsilon) >= max(
                pairs_of(p).add.delta(epsilon) for p in parts
            ) * (1 - 1e-9)

    def test_renyi_parts_are_not_ordered(self):
        event = Parallel([Promise(RenyiDP({2: 1})), Promise(RenyiDP({2: 2}))])
        assert pairs_of(event).remove.delta(4.0) >= pairs_of(Promise(RenyiDP({2: 2}))).remove.delta(
            4.0
        ) * (1 - 1e-9)

    def test_replace_covers_two_parts(self):
        """Leaving a Laplace part for a Gaussian one costs at least the two together."""
        event = Parallel([LaplaceNoise(2, 1), GaussianNoise(4, 1)], neighbours="replace")
        both = pairs_of(Batch([LaplaceNoise(2, 1), GaussianNoise(4, 1)]))
        for epsilon in (0.0, 0.4, 1.5):
            assert pairs_of(event).remove.delta(epsilon) >= both.remove.lower_delta(epsilon) * (
                1 - 1e-3
            )

    @pytest.mark.parametrize(
        ("event", "twice"),
        [
            (LaplaceNoise(1, 1, "0.5"), LaplaceNoise(1, 2, "0.5")),
            (DiscreteLaplaceNoise(1, 1), DiscreteLaplaceNoise(1, 2)),
            (TruncatedGeometricNoise(1, 1, 0, 5), TruncatedGeometricNoise(1, 2, 0, 5)),
            (GaussianNoise(1, 1), GaussianNoise(1, 4)),
            (DiscreteGaussianNoise(1, 1), DiscreteGaussianNoise(1, 4)),
            (DiscreteGaussianNoise(1, 1, 2, 1), DiscreteGaussianNoise(1, 4, 2, 2)),
            (BinomialNoise(9, 1), BinomialNoise(9, 2)),
            (ExponentialSelection(1), ExponentialSelection(2)),
            (SparseVector(1), Promise(PureDP(2))),
            (Promise(PureDP(1)), Promise(PureDP(2))),
            (Promise(GaussianDP(1)), Promise(GaussianDP(2))),
            (Repeated(Promise(ZCDP(1)), 2), Repeated(Promise(ZCDP(4)), 2)),
            (Sequence([SparseVector(1)]), Batch([Promise(PureDP(2))])),
            (KeySelection(LaplaceNoise(1, 1), "0.1"), KeySelection(LaplaceNoise(1, 2), "0.2")),
            (
                Promise(ApproxDP(0, "0.1")),
                Promise(
                    ApproxDP(0, Fraction(1, 10) * (2 + Fraction(1, 2**40) + Fraction(1, 2**52)))
                ),
            ),
        ],
    )
    def test_two_steps(self, event, twice):
        assert doubled(event) == twice

    def test_two_steps_of_a_curve(self):
        """(ε, δ) becomes (2ε, δ(1 + e^ε)); points that promise nothing any more are dropped."""
        (point,) = doubled(OwnCurve([(1, "0.1"), (5, "0.05")])).points
        assert point[0] == 2
        assert float(point[1]) == pytest.approx(0.1 * (1 + math.e))

    def test_refusals(self):
        with pytest.raises(InvalidArgument, match="not priced for Sampled"):
            pairs_of(Parallel([Sampled(LaplaceNoise(1, 1), "0.1")], neighbours="replace"))
        with pytest.raises(InvalidArgument, match="Rényi"):
            doubled(Promise(RenyiDP({2: 1})))
        many = [BinomialNoise(n, 1) for n in range(10, 20)]
        with pytest.raises(InvalidArgument, match="10 kinds of parts"):
            pairs_of(Parallel(many, neighbours="replace"))
