"""Strategies of days: sensitivity, errors, bounds and reacting streams, by brute force on tiny lines."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.privacy import PureDP
from discreet.privacy.events import Promise
from discreet.privacy.measures import ZCDP
from discreet.privacy.pricing.zcdp import price_zcdp
from discreet.workloads.fixed_point import dense_optimum, line_bound, line_optimum
from discreet.workloads.sealed_line import SealedLine, sealed_line
from discreet.workloads.strategy_norms import StrategyNorms
from discreet.workloads.stream_noise import buy_noise, noise_from_json
from discreet.workloads.toeplitz import Aim, fit_toeplitz, gram_of_aims, mean_variance
from discreet.workloads.triangular import (
    Participation,
    Triangular,
    identity_strategy,
    optimum_strategy,
    root_strategy,
    triangular_from_json,
)
from support.profile import DEEP, examples

ONE = Participation()
columns = st.lists(st.integers(0, 6), min_size=1, max_size=6).map(
    lambda steps: np.cumsum([*steps[:-1], steps[-1] + 1])[::-1].astype(np.int64)
)
participations = st.builds(Participation, st.integers(1, 4), st.integers(1, 3))


def matrix_of(line):
    return np.array(
        [[*line.row(day).tolist(), *[0] * (line.size - day - 1)] for day in range(line.size)]
    )


def patterns(size, counted):
    """All allowed sets of days of one unit."""
    for count in range(1, counted.days + 1):
        for days in itertools.combinations(range(size), count):
            gaps = [later - day for day, later in itertools.pairwise(days)]
            if all(gap >= counted.apart for gap in gaps):
                yield days


def totals(size):
    return Aim("total", tuple((0, end) for end in range(1, size + 1)))


def rmse(line, aims, counted=ONE):
    return math.sqrt(mean_variance(line, aims) * line.block(counted).square)


class TestParticipation:
    """T3: Δ1, Δ2² and Δ∞ of k days at least b apart are those of the columns 0, b, 2b, …"""

    @settings(max_examples=examples(5_000))
    @given(columns, participations)
    def test_the_first_pattern_is_the_worst_and_is_attained(self, column, counted):
        line = Triangular("any", column)
        matrix = matrix_of(line)
        worst = [0, 0, 0]
        for days in patterns(line.size, counted):
            for signs in itertools.product((1, -1), repeat=len(days)):
                moved = matrix[:, list(days)] @ signs
                own = [np.abs(moved).sum(), (moved**2).sum(), np.abs(moved).max()]
                worst = [max(pair) for pair in zip(worst, own, strict=True)]
        block = line.block(counted)
        assert [block.l1, block.square, block.linf] == worst

    @settings(max_examples=examples(1_000))
    @given(columns, participations, st.data())
    def test_days_in_several_keys_and_shares_of_rows_move_less(self, column, counted, data):
        """T4, T5: at each closing a row counts in one key with any weight from −1 to 1."""
        line = Triangular("any", column)
        matrix = matrix_of(line)
        days = data.draw(st.sampled_from(list(patterns(line.size, counted))))
        moved = np.zeros((line.size, 2))
        for row in range(line.size):
            for day in days:
                key = data.draw(st.integers(0, 1))
                moved[row, key] += matrix[row, day] * data.draw(st.floats(-1, 1))
        block = line.block(counted, keys=2)
        assert (moved**2).sum() <= block.square + 1e-9
        assert np.abs(moved).sum() <= block.l1 + 1e-9

    @settings(max_examples=examples(2_000))
    @given(columns, participations)
    def test_one_unit_for_another_has_at_most_twice_the_square(self, column, counted):
        line = Triangular("any", column)
        matrix = matrix_of(line)
        changes = [np.zeros(line.size)]
        changes += [matrix[:, list(days)].sum(axis=1) for days in patterns(line.size, counted)]
        worst = max(
            ((one - other) ** 2).sum() for one, other in itertools.product(changes, repeat=2)
        )
        assert worst <= line.block(counted).pair

    def test_a_whole_matrix_has_the_norms_of_its_columns(self):
        line = optimum_strategy(line_optimum(9, ranges=False))
        columns = np.asarray(line.matrix)
        assert line.block(ONE).square == max((columns**2).sum(axis=0))
        assert line.block(ONE).l1 == max(columns.sum(axis=0))
        with pytest.raises(InvalidArgument, match="Toeplitz"):
            line.block(Participation(2))

    @pytest.mark.parametrize("column", [[1, 2], [2, -1], [0, 0]])
    def test_other_columns_are_refused(self, column):
        with pytest.raises(InvalidArgument, match="triangular, falling"):
            Triangular("any", np.array(column))

    def test_a_matrix_above_its_diagonal_is_refused(self):
        matrix = np.array([[1, 1], [0, 1]])
        with pytest.raises(InvalidArgument, match="triangular"):
            Triangular("any", matrix[:, 0], matrix)


class TestErrors:
    """T6: Var(days s+1 … s+L) = σ²·‖B_e − B_s‖² with B = A·C⁻¹."""

    @settings(max_examples=examples(1_000))
    @given(columns, st.data())
    def test_variances_are_those_of_the_inverse(self, column, data):
        line = Triangular("any", column)
        inverse = np.linalg.inv(matrix_of(line))
        ends = data.draw(st.integers(1, line.size))
        starts = data.draw(st.integers(0, ends - 1))
        expected = (inverse[starts:ends].sum(axis=0) ** 2).sum()
        assert line.variances([starts], [ends])[0] == pytest.approx(expected)

    def test_a_matrix_has_the_same_errors(self):
        root = root_strategy(12)
        dense = Triangular("root", root.column, matrix_of(root))
        starts, ends = [0, 3, 5], [12, 4, 11]
        assert dense.variances(starts, ends) == pytest.approx(root.variances(starts, ends))
        assert dense.block(ONE).square == root.block(ONE).square

    def test_mixed_aims_are_one_gram_matrix(self):
        aims = [totals(8), Aim("day", tuple((day, day + 1) for day in range(8)), 3.0)]
        line = root_strategy(8)
        inverse = np.linalg.inv(matrix_of(line))
        trace = np.trace(inverse.T @ gram_of_aims(8, aims) @ inverse)
        assert mean_variance(line, aims) == pytest.approx(trace)


class TestBound:
    """T7: no Gaussian strategy, of any shape, is below the certified bound."""

    @pytest.mark.parametrize("counted", [ONE, Participation(3), Participation(3, 2)])
    def test_no_strategy_is_below(self, counted):
        aims = [totals(24)]
        patterns_matrix = np.zeros((24, 24))
        for start in range(24):
            end = start + counted.within(24) * counted.apart
            patterns_matrix[start : end : counted.apart, start] = 1
        gram = gram_of_aims(24, aims)
        bound = dense_optimum(patterns_matrix.T @ gram @ patterns_matrix).bound
        lines = [identity_strategy(24), root_strategy(24), fit_toeplitz(24, aims, counted)]
        for line in lines:
            assert rmse(line, aims, counted) >= math.sqrt(bound)
        assert rmse(lines[-1], aims, counted) <= 1.2 * math.sqrt(bound)


class TestFigures:
    """RMSE of running totals in units of one release, as published for these sizes."""

    def test_a_year_is_within_a_thousandth_of_the_bound(self):
        line = optimum_strategy(line_optimum(365, ranges=False))
        found = rmse(line, [totals(365)])
        assert found == pytest.approx(2.635, abs=5e-4)
        assert found <= 1.001 * math.sqrt(line_bound(365, ranges=False) / 365)
        assert rmse(root_strategy(365), [totals(365)]) == pytest.approx(2.782, abs=1e-3)

    def test_a_fit_reaches_what_is_known_of_a_quarter(self):
        aims = [totals(90)]
        fitted = fit_toeplitz(90, aims, Participation(7, 7))
        assert rmse(fitted, aims, Participation(7, 7)) < 0.9 * rmse(
            root_strategy(90), aims, Participation(7, 7)
        )

    @pytest.mark.slow
    @pytest.mark.skipif(not DEEP, reason="a minute")
    @pytest.mark.parametrize(
        ("size", "days", "apart", "known"),
        [
            (365, 7, 1, 14.84),
            (365, 7, 7, 11.82),
            (365, 52, 1, 75.6),
            (365, 52, 7, 40.2),
            (1826, 7, 7, 15.54),
            (1826, 52, 7, 72.7),
        ],
    )
    def test_participation_is_within_a_hundredth(self, size, days, apart, known):
        counted = Participation(days, apart)
        aims = [totals(size)]
        assert rmse(fit_toeplitz(size, aims, counted), aims, counted) <= 1.01 * known

    @pytest.mark.slow
    @pytest.mark.skipif(not DEEP, reason="half a minute")
    def test_five_years_are_within_a_thousandth_of_the_bound(self):
        line = optimum_strategy(line_optimum(1826, ranges=False))
        found = rmse(line, [totals(1826)])
        assert found == pytest.approx(3.138, abs=1e-3)
        assert found <= 1.001 * math.sqrt(line_bound(1826, ranges=False) / 1826)

    @pytest.mark.parametrize("size", [1, 2, 40])
    def test_a_strategy_is_read_as_it_was_written(self, size):
        lines = [identity_strategy(size), root_strategy(size)]
        if size > 1:
            lines.append(optimum_strategy(line_optimum(size, ranges=False)))
        for line in lines:
            read = triangular_from_json(line.to_json())
            assert (matrix_of(read) == matrix_of(line)).all()

    @pytest.mark.parametrize("text", [{}, {"size": 3, "name": "x", "column": "eA=="}, {"size": -1}])
    def test_other_texts_are_refused(self, text):
        with pytest.raises(InvalidArgument):
            triangular_from_json(text)


class TestSealed:
    """W·M = A exactly, and what is published is Σx + round(W·z)."""

    @settings(max_examples=examples(200), deadline=None)
    @given(st.integers(1, 12), st.data())
    def test_the_weights_are_exact_and_rounding_is_too(self, size, data):
        line = sealed_line(size)
        day = data.draw(st.integers(0, size - 1))
        sums, own = line._whole_weights(day)
        weights = np.concatenate(
            [[Fraction(int(w), int(o) * 2**20) for w, o in zip(own, line.own, strict=True)],
             [Fraction(int(w), 2**20) for w in sums]]
        )  # fmt: skip
        measured = np.vstack([np.diag(line.own), line.sums]).astype(object)
        running = [1] * (day + 1) + [0] * (size - day - 1)
        assert (weights @ measured).tolist() == running
        drawn = data.draw(
            st.lists(st.integers(-5000, 5000), min_size=line.rows, max_size=line.rows)
        )
        noise = np.array(drawn, dtype=np.int64).reshape(-1, 1)
        exact = (weights @ noise.astype(object)[:, 0] / 256 + Fraction(1, 2)) // 1
        assert line.rounded_noise(day, noise, 256) == [exact]

    def test_many_keys_are_each_rounded_to_the_nearest(self):
        line = sealed_line(9)
        noise = np.random.default_rng(1).integers(-900, 900, (line.rows, 400))
        sums, own = line._whole_weights(4)
        found = line.rounded_noise(4, noise, 256)
        for key in range(400):
            exact = sum(
                Fraction(int(w) * int(z), int(o))
                for w, z, o in zip(own, noise[:9, key], line.own, strict=True)
            )
            exact += sum(int(w) * int(z) for w, z in zip(sums, noise[9:, key], strict=True))
            assert found[key] == (exact / (256 * 2**20) + Fraction(1, 2)) // 1

    def test_halves_are_decided_exactly(self):
        line = SealedLine(np.array([2]), np.zeros((0, 1), dtype=np.int64))
        noise = np.array([[1, -1, 3, 5]])
        # z/2 of 1, −1, 3, 5 are halves: rounded up.
        assert line.rounded_noise(0, noise, 1) == [1, 0, 2, 3]

    def test_a_unit_of_k_days_moves_k_columns(self):
        line = sealed_line(6)
        matrix = np.vstack([np.diag(line.own), line.sums])
        worst = max(matrix[:, list(days)].sum() for days in patterns(6, Participation(3, 2)))
        assert worst <= line.block(Participation(3, 2)).l1
        assert line.block(ONE).l1 == matrix.sum(axis=0).max()

    def test_figures_of_pure_noise(self):
        """RMSE at ε = 1 is √2·Δ1·√(mean square weight): 7.94 for a year."""
        line = sealed_line(365)
        weights = line.weights(list(range(1, 366)))
        found = math.sqrt(2 * (weights**2).sum() / 365) * line.block(ONE).l1
        assert found == pytest.approx(7.94, rel=0.01)


def geometric(scale, reach):
    values = np.arange(-reach, reach + 1)
    mass = np.exp(-np.abs(values) / scale)
    return values, mass * (1 - math.exp(-1 / scale)) / (1 + math.exp(-1 / scale))


class TestReactingStreams:
    """T1, T2: the promise holds pointwise for days that react to what was published."""

    def test_a_sealed_line_keeps_its_pure_epsilon(self):
        """Every output of two days; the unit comes on day 2 if the first answer was high.

        The statement of T2 is about one tape z: P[o | reacting] = P[o | the fixed stream x(o)].
        The error round(W·z) does not depend on the stream, so accuracy is the same too.
        """
        line = SealedLine(np.array([1, 1]), np.array([[1, 1]]))
        noise = buy_noise(line, ONE, 1, StrategyNorms(), PureDP(2))
        epsilon = 2.0
        scale = line.block(ONE).l1 / epsilon
        values, mass = geometric(scale, 14)
        joint = {}
        for z in itertools.product(range(len(values)), repeat=3):
            weight = mass[z[0]] * mass[z[1]] * mass[z[2]]
            drawn = values[list(z)].reshape(3, 1)
            errors = tuple(line.rounded_noise(day, drawn, 1)[0] for day in range(2))
            joint[errors] = joint.get(errors, 0.0) + weight
        missing = 1 - sum(joint.values())
        largest = 0.0
        for react in (lambda first: first > 0, lambda first: first <= 1, lambda _: True):
            for (first, second), without in joint.items():
                # With the unit: it adds one to day 2 (and its total) where it reacts.
                added = 1 if react(first) else 0
                with_unit = joint.get((first, second - added), 0.0)
                assert with_unit <= math.exp(epsilon) * without + missing
                assert without <= math.exp(epsilon) * with_unit + missing
                if min(with_unit, without) > 1e-4:
                    largest = max(largest, abs(math.log(with_unit / without)))
        assert 0.5 * epsilon < largest <= epsilon + 1e-3
        assert noise.event == Promise(PureDP(2))

    @pytest.mark.parametrize("days", [(0,), (1,), "reacts"])
    def test_a_triangular_line_keeps_its_rho(self, days):
        """Rényi divergence of order 2 over all outputs of two days, at most 2ρ."""
        line = Triangular("any", np.array([2, 1]))
        noise = buy_noise(line, ONE, 1, StrategyNorms(), ZCDP("1/4"))
        matrix = matrix_of(line)
        sigma = math.sqrt(line.block(ONE).square / (2 * 0.25))
        values = np.arange(-60, 61)

        def law(shift):
            mass = np.exp(-((values - shift) ** 2) / (2 * sigma**2))
            return mass / mass.sum()

        moments = 0.0
        for place, first in enumerate(values):
            here = days if days != "reacts" else ((1,) if first > 0 else ())
            change = np.zeros(2)
            change[list(here)] = 1
            shifts = matrix @ change
            p = law(shifts[0])[place] * law(shifts[1])
            q = law(0)[place] * law(0)
            moments += float((p**2 / q).sum())
        assert math.log(moments) <= 2 * 0.25 + 1e-9
        assert price_zcdp([noise.event]) <= Fraction(1, 4)

    def test_an_event_follows_from_what_is_stored(self):
        for line, spend in ((root_strategy(20), ZCDP("1/8")), (sealed_line(20), PureDP(1))):
            noise = buy_noise(line, Participation(3, 2), 4, StrategyNorms(7, "replace"), spend)
            stored = noise.to_json()
            assert noise_from_json(stored).event == noise.event
            # Text that cannot be unpacked, as a torn entry may have it.
            packed = dict.fromkeys(("own", "weights", "columns", "rows"), "AAAA")
            torn = stored | {"line": stored["line"] | packed}
            with pytest.raises(InvalidArgument, match="no noise of a stream"):
                noise_from_json(torn)

    def test_pure_noise_is_never_triangular(self):
        with pytest.raises(InvalidArgument, match="pure"):
            buy_noise(root_strategy(4), ONE, 1, StrategyNorms(), PureDP(1))


class TestIntervals:
    """Intervals of sums of days hold with their level: exact law, or draws of the noise alone."""

    @pytest.mark.statistical
    def test_sealed_sums_are_covered(self):
        """4,000 draws of 20 days at 90 %; coverage below 88 % has probability ≤ 1e-9 (binomial:
        standard error 0.5 %, and the intervals are conservative)."""
        line = sealed_line(20)
        noise = buy_noise(line, ONE, 1, StrategyNorms(), PureDP(1))
        starts, ends = [0, 0, 5], [1, 20, 12]
        reaches = noise.reaches(starts, ends, 0.1)
        count = 4000
        zeros = np.zeros(line.rows * count, dtype=np.int64)
        drawn = np.asarray(noise.measured.mechanism.release(zeros)).reshape(line.rows, count)
        totals_of = {0: [0] * count}
        for end in {*ends, 5}:
            totals_of[end] = line.rounded_noise(end - 1, drawn, noise.measured.grid)
        for start, end, reach in zip(starts, ends, reaches, strict=True):
            errors = np.array(totals_of[end]) - np.array(totals_of[start])
            assert (np.abs(errors) <= reach).mean() >= 0.88

    def test_gaussian_reaches_are_normal_quantiles(self):
        noise = buy_noise(root_strategy(30), ONE, 1, StrategyNorms(), ZCDP("1/2"))
        deviation = math.sqrt(noise.line.variances([3], [17])[0] * noise.measured.variance)
        assert noise.reaches([3], [17], 0.05)[0] == pytest.approx(1.96 * deviation, rel=1e-3)
