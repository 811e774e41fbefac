"""Sparse vector: the exact loss on worst-case streams, what breaks in the broken variants, the state's refusals."""

import copy
import itertools
import math
import os
import pickle
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, InvalidArgument
from discreet.mechanisms.adaptive.sparse_vector import SparseVector
from discreet.noise import laplace
from discreet.privacy.measures import ApproxDP, PureDP
from discreet.testing.bits import HashedBits, UntouchedBits
from oracles.sparse_vector import lee_clifton_loss, log_chance, numeric_answer_loss, tail
from support.fork import fork
from support.profile import examples


def patterns(length, c):
    """All answer strings a run can give: at most c yeses, and none after the c-th."""
    for pattern in itertools.product([False, True], repeat=length):
        yeses = sum(pattern)
        if yeses < c or (yeses == c and pattern[-1]):
            yield pattern


class TestPrice:
    """Whatever the answers and however they move, every answer string's loss is at most ε."""

    @settings(deadline=None, max_examples=examples(12))
    @given(
        st.lists(st.integers(-6, 6), min_size=1, max_size=3),
        st.integers(1, 2),
        st.sampled_from([None, "1/2"]),
    )
    def test_exact_loss_on_all_short_streams(self, answers, c, share):
        svt = SparseVector(2, 1, answers=c, threshold_share=share)
        scales = float(svt.threshold_scale), float(svt.scale)
        for pattern in patterns(len(answers), c):
            base = log_chance(pattern, answers, *scales, reach=400)
            for move in itertools.product((-1, 0, 1), repeat=len(answers)):
                moved = [a + m for a, m in zip(answers, move, strict=True)]
                assert abs(base - log_chance(pattern, moved, *scales, reach=400)) <= 2 + 1e-9

    @settings(deadline=None, max_examples=examples(10))
    @given(st.lists(st.integers(-6, 6), min_size=1, max_size=3), st.integers(1, 2))
    def test_exact_loss_when_monotone(self, answers, c):
        svt = SparseVector(2, 1, answers=c, monotone=True)
        scales = float(svt.threshold_scale), float(svt.scale)
        for pattern in patterns(len(answers), c):
            base = log_chance(pattern, answers, *scales, reach=400)
            for move in itertools.product((0, 1), repeat=len(answers)):
                moved = [a + m for a, m in zip(answers, move, strict=True)]
                assert abs(base - log_chance(pattern, moved, *scales, reach=400)) <= 2 + 1e-9

    @pytest.mark.parametrize("c", [1, 3])
    def test_the_worst_stream_comes_within_one_percent(self, c):
        """Very many noes push the threshold's noise up; then the yeses move down while the noes move up."""
        svt = SparseVector(1, 1, answers=c)
        scales = float(svt.threshold_scale), float(svt.scale)
        noes, z = (
            10**7,
            np.arange(2, 800),
        )  # a threshold below 2 outlives ten million noes with probability 0

        def log_no(q):
            return noes * np.log1p(-tail(scales[1], z - q))

        def chance(no, yes):
            logs = -np.abs(z) / scales[0] + log_no(no) + c * np.log(tail(scales[1], z - yes))
            return logs.max() + math.log(np.exp(logs - logs.max()).sum())

        loss = chance(0, 1) - chance(1, 0)
        assert 0.99 < loss <= 1 + 1e-9

    @pytest.mark.untraced
    def test_without_the_factor_c_the_loss_is_7_75_at_epsilon_1(self):
        assert lee_clifton_loss(1, 5, 10**6) > 7.7

    def test_telling_the_compared_answer_costs_without_limit(self):
        assert numeric_answer_loss(1, 20) == pytest.approx(10, rel=1e-6)

    def test_no_noise_on_the_answers_is_no_privacy(self):
        """Two answers and one noisy threshold: yes to 0, no to 1 can never happen; on the neighbour it can."""
        assert log_chance((True, False), (0, 1), 2.0, 1e-3, reach=50) < -500
        assert log_chance((True, False), (1, 0), 2.0, 1e-3, reach=50) > -5


class TestRun:
    """The noise is what it should be; after the c-th yes there is nothing more."""

    def test_release_compares_exact_noise(self):
        svt = SparseVector(1, 1, answers=2)
        grain = Fraction(2) ** svt.exponent
        values = np.array([3, 100, 4, 90, 80])
        for seed in (b"a", b"b", b"c"):
            bits = HashedBits(seed)
            line = 50 / grain + laplace(svt.threshold_scale / grain, bits=bits)
            noise = laplace(svt.scale / grain, values.size, bits=bits)
            above = [
                int(v / grain) + int(n) >= line for v, n in zip(values.tolist(), noise, strict=True)
            ]
            stop = [i for i, yes in enumerate(above) if yes][1] + 1
            assert svt.release(values, 50, bits=HashedBits(seed)).tolist() == above[:stop]

    def test_a_sensitivity_off_the_lattice_widens_all_noise(self):
        svt = SparseVector(1, Fraction(1, 3))
        grain = Fraction(2) ** svt.exponent
        growth = math.ceil(Fraction(1, 3) / grain) * grain / Fraction(1, 3)
        assert growth > 1
        bits = HashedBits(b"x")
        line = laplace(svt.threshold_scale * growth / grain, bits=bits)
        noise = laplace(svt.scale * growth / grain, 1, bits=bits)
        assert svt.release([0.0], 0, bits=HashedBits(b"x")).tolist() == [int(noise[0]) >= line]

    def test_it_stops_after_c_yeses(self):
        run = SparseVector(1, 1, answers=2).start(0)
        assert run.ask(10**9) is True
        assert (run.left, run.over) == (1, False)
        assert run.ask(-1e9) is False
        assert run.ask(1e9) is True
        assert run.over
        with pytest.raises(BudgetExceeded) as refusal:
            run.ask(0)
        assert (refusal.value.asked, refusal.value.left) == (1, 0)

    def test_no_yes_costs_nothing_of_the_run(self):
        run = SparseVector(1, 1).start(10**9)
        assert not run.ask_places(np.zeros(1000, dtype=np.int64)).any()
        assert run.left == 1

    def test_empty(self):
        assert SparseVector(1, 1).release([], 0).size == 0


class TestShare:
    """ε₁ : ε₂ = 1 : (2c)^(2/3) minimises the variance of the comparison, 2(Δ/ε₁)² + 2(2cΔ/ε₂)²."""

    @pytest.mark.parametrize(("c", "monotone"), [(1, False), (4, False), (27, True)])
    def test_best(self, c, monotone):
        def variance(share):
            svt = SparseVector(1, 1, answers=c, threshold_share=share, monotone=monotone)
            return svt.threshold_scale**2 + svt.scale**2

        best = SparseVector(1, 1, answers=c, monotone=monotone).threshold_share
        assert float(best) == pytest.approx(
            1 / (1 + ((1 if monotone else 2) * c) ** (2 / 3)), rel=1e-2
        )
        assert variance(best) <= min(
            variance(best * Fraction("0.9")), variance(best * Fraction("1.1"))
        )

    def test_the_parts_sum_to_epsilon(self):
        svt = SparseVector(2, 3, answers=5)
        assert svt.sensitivity / svt.threshold_scale + 2 * 5 * svt.sensitivity / svt.scale == 2


class TestError:
    """But for a chance β every yes is at least T − α and every no at most T + α."""

    @pytest.mark.untraced
    @pytest.mark.parametrize("k", [1, 10, 1000])
    def test_holds(self, k):
        svt, beta = SparseVector(1, 1), 0.05
        b1, b2, alpha = float(svt.threshold_scale), float(svt.scale), svt.error(k, beta)
        # all answers at T + α: a wrong no needs ν < ρ − α for one of k; exactly, by quadrature
        with mp.workdps(20):
            right = mp.quad(
                lambda z: mp.e ** (-abs(z) / b1) / (2 * b1) * (1 - (cdf(z - alpha, b2))) ** k,
                [-200, -20, 0, 20, alpha, alpha + 20, alpha + 200],
            )
        assert 1 - right <= beta
        assert 1 - right > beta / 100

    def test_for_error_is_the_inverse(self):
        svt = SparseVector.for_error(30, queries=500, sensitivity=2, answers=3, monotone=True)
        assert svt.error(500) <= 30
        assert svt.error(500) == pytest.approx(30, rel=1e-9)

    def test_grows_with_log_k(self):
        svt = SparseVector(1, 1)
        growth = svt.error(10**6) - svt.error(10**3)
        assert growth == pytest.approx(float(svt.scale) * math.log(1000), rel=1e-2)


def cdf(x, scale):
    return mp.e ** (x / scale) / 2 if x < 0 else 1 - mp.e ** (-x / scale) / 2


def test_spending():
    assert SparseVector.spending(PureDP(0.5), sensitivity=1, answers=3).epsilon == Fraction(1, 2)
    assert SparseVector.spending(ApproxDP(1, 1e-6), sensitivity=1).epsilon > 1
    event = SparseVector(1, 1, answers=4, neighbours="replace").event
    assert (event.epsilon, event.answers, event.neighbours) == (1, 4, "replace")


@pytest.mark.parametrize("values", [[math.nan], ["a"], [True], [[1, 2]], [math.inf]], ids=str)
def test_bad_values_are_refused_and_nothing_is_drawn(values):
    with pytest.raises(InvalidArgument):
        SparseVector(1, 1).release(values, 0, bits=UntouchedBits())


def test_bad_parameters_are_refused():
    for made in (
        lambda: SparseVector(0, 1),
        lambda: SparseVector(1, 0),
        lambda: SparseVector(1, 1, answers=0),
        lambda: SparseVector(1, 1, threshold_share=1),
        lambda: SparseVector(1, 1, monotone=True, neighbours="replace"),
        lambda: SparseVector(1, 1).start(math.nan, bits=UntouchedBits()),
        lambda: SparseVector(1, 1).error(0),
    ):
        with pytest.raises(InvalidArgument):
            made()


class TestOneRunIsOneRun:
    """Two runs with one noisy threshold would give 2c yeses for the price of c."""

    @pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
    def test_a_run_is_not_copied(self, copied):
        with pytest.raises(InvalidArgument, match="start another"):
            copied(SparseVector(1, 1).start(0))

    @pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
    def test_a_forked_child_may_not_go_on(self):
        run = SparseVector(1, 1, answers=5).start(10)
        child = fork()
        if child == 0:  # pragma: no cover - another process
            try:
                run.ask(0)
            except InvalidArgument:
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert run.ask(-(10**6)) is False

    def test_a_run_of_another_process_is_refused_and_nothing_is_drawn(self):
        run = SparseVector(1, 1).start(0)
        run._generation -= 1
        run._bits = UntouchedBits()
        with pytest.raises(InvalidArgument, match="belongs to the process"):
            run.ask(5)

    @pytest.mark.parametrize("share", ["1e-9", "0.999999999"])
    def test_noise_too_wide_for_the_lattice_is_refused_before_a_run_starts(self, share):
        with pytest.raises(InvalidArgument, match="threshold_share"):
            SparseVector(1, 1, threshold_share=share)
        with pytest.raises(InvalidArgument, match="larger epsilon"):
            SparseVector("1e-16", 1)


def test_it_prints_as_it_is_made():
    made = SparseVector(0.5, 1, answers=3, threshold_share=0.25, monotone=True)
    parts = "epsilon=1/2, sensitivity=1, answers=3, threshold_share=1/4, monotone=True, neighbours='add-remove'"
    assert repr(made) == f"SparseVector({parts})"
