"""Every threshold, look-up cell and quick-accept bound against mpmath, from scale 1/1000 to 2^50."""

from fractions import Fraction
from functools import cache
from itertools import islice, pairwise

import mpmath
import numpy as np
import pytest

from discreet.errors import InvalidArgument
from discreet.noise.binomial import _law as binomial_law
from discreet.noise.bits import ByteWords
from discreet.noise.exact_search import settle
from discreet.noise.gaussian import _law as gaussian_law
from discreet.noise.geometric import _law as geometric_law
from discreet.noise.laplace import _law as laplace_law
from discreet.noise.law import EXPONENT_ERROR, cell, first, thresholds
from discreet.noise.stirling import bernoulli, stirling
from discreet.noise.table import CUT, Widths, _accept, build, held
from discreet.testing.bits import ScriptedBits
from oracles.noise import (
    binomial_weight,
    cumulated,
    gaussian_weight,
    geometric_weight,
    laplace_weight,
    nearest,
)
from support.profile import examples

BITS = 64
TAIL = 100
"""Of a law all cells are listed but 2^-TAIL of it, which no word of 64 bits tells from the whole."""
SCALES = [
    Fraction(1, 1000),
    Fraction(1, 8),
    Fraction(1, 2),
    Fraction(7, 3),
    10,
    63,
    64,
    1000,
    10**6,
    2**40,
    2**50,
]
VARIANCES = [Fraction(s) ** 2 for s in SCALES] + [
    Fraction(22, 7),
    127**2,
    128**2 + Fraction(1, 3),
    2**81 - 1,
]
TRIALS = [0, 1, 2, 3, 7, 100, 2**14 - 1, 2**14, 2**15 + 1, 2**20 - 1, 2**20 + 1, 2**40, 2**62]
SIMPLE = [
    *[(laplace_law, s, laplace_weight) for s in SCALES],
    *[(geometric_law, s, geometric_weight) for s in (Fraction(1, 8), 10, 1000, 2**50)],
    *[(gaussian_law, v, gaussian_weight) for v in VARIANCES],
]
CASES = [*SIMPLE, *[(binomial_law, n, binomial_weight) for n in TRIALS]]


def name(case):
    return f"{case[2].__name__} {case[1]}"


@cache
def weights(of, parameter):
    """The weights of a law, each worked out once, in 60 digits."""
    return cache(of(parameter))


@cache
def ends_of(of, parameter, shift, sides, tail):
    """The cells of a law and their thresholds, for every test that compares with them."""
    return cumulated(weights(of, parameter), shift, sides, tail=tail)


@pytest.fixture(scope="module", params=CASES, ids=name)
def case(request):
    read, parameter, weight = request.param
    law = read(parameter)
    return (
        law,
        build(law),
        weights(weight, parameter),
        ends_of(weight, parameter, law.shift, law.sides, TAIL),
    )


class TestThresholds:
    """⌊2^64·t_j⌋ lies between the table's two bounds, for every cell."""

    @pytest.mark.untraced
    def test_every_threshold(self, case):
        law, made, _, (cells, ends) = case
        floors = [min(2**BITS - 1, int(mpmath.floor(mpmath.ldexp(end, BITS)))) for end in ends]
        size = made.low.size
        assert made.cells[: len(cells)].tolist() == cells[: size + 1]
        assert made.low[-1] == 2**BITS - 1
        for low, true, high in zip(made.low.tolist(), floors, made.high.tolist(), strict=False):
            assert low <= true <= high <= low + 1
        dyadic = (
            0 < getattr(law, "trials", 0) < 64
        )  # thresholds k/2^N: the bounds cannot meet, and need not
        assert dyadic or (made.low != made.high).sum() <= 1

    @pytest.mark.untraced
    def test_every_look_up(self, case):
        law, made, *_ = case
        assert made.lookup.size == 2**16
        ends = [0, *made.low.tolist(), 2**BITS]
        tops = {end >> 48 for end in (*made.low.tolist(), *made.high.tolist())}
        far = ends[-1] if not law.shift else 2**BITS - 2 ** (BITS - 10)
        for (start, end), h in zip(pairwise(ends), made.cells.tolist(), strict=True):
            words = [word for word in range((start >> 48) + 1, end >> 48) if word not in tops]
            found = set(made.lookup[words].tolist())
            assert found <= {h, CUT} if end > far else found <= {h}
        assert set(made.lookup[list(tops)].tolist()) == {CUT}

    def test_share_of_cut_words(self, case):
        assert (case[1].lookup == CUT).mean() < 0.016


class TestAcceptance:
    """A word below `quick` accepts rightly wherever the look-up leads; the estimate is within its margin."""

    @pytest.mark.untraced
    def test_quick_bound(self, case):
        law, made, weight, _ = case
        if not law.shift:
            assert made.quick == 2**16
            return
        last = 2**law.shift - 1
        for h in sorted(set(np.unique(made.lookup).tolist()) - {CUT}):
            end = (h << law.shift) + (last if h >= 0 else 0)
            chance = weight(end) / weight(nearest(h, law.shift))
            assert made.quick <= mpmath.ldexp(chance, 16)
        assert made.quick > 0.9 * 2**16

    @pytest.mark.untraced
    def test_estimates_and_bounds(self, case):
        law, made, weight, _ = case
        if not law.shift:
            return
        rng = np.random.default_rng(7)
        last = made.cells[np.searchsorted(made.low, 2**BITS - 2**20)]
        x = np.concatenate(
            [rng.integers(-abs(last), abs(last) + 1, examples(400)), [0, -1, last, -abs(last)]]
        )
        x = (x << law.shift) + rng.integers(0, 1 << law.shift, x.size)
        x = np.abs(x) if law.sides == 1 else x
        for one, exponent in zip(x.tolist(), law.exponents(x).tolist(), strict=True):
            chance = weight(one) / weight(nearest(one >> law.shift, law.shift))
            assert abs(mpmath.mpf(exponent) + mpmath.log(chance)) <= EXPONENT_ERROR / 2
            low, high = law.chance(one, 100)
            assert low <= mpmath.ldexp(chance, 100) <= high <= low + 4


class TestFarOut:
    """Where no estimate is good enough, integers decide."""

    @pytest.mark.parametrize("trials", [2**14, 2**15 + 1, 2**40])
    @pytest.mark.parametrize("sign", [1, -1])
    def test_binomial(self, trials, sign):
        law = binomial_law(trials)
        made = build(law)
        x = int(30 * trials**0.5) | 1
        x = x if sign > 0 else ~x
        assert np.isnan(law.exponents(np.array([x])))[0]
        low, _ = law.chance(x, 64)
        for word, accepted in ((low - 2, True), (low + 2, False)):
            tops, rest = (
                np.array([word >> 48], dtype=np.uint16),
                (word % 2**48).to_bytes(8, "little"),
            )
            assert _accept(made, np.array([x]), tops, ByteWords(ScriptedBits(rest))).tolist() == [
                accepted
            ]

    def test_gaussian_at_the_edge_of_64_bits(self):
        law = gaussian_law(2**100)
        x = np.array([-(2**63), 2**63 - 1, 2**62 + 12345])
        for one, exponent in zip(x.tolist(), law.exponents(x).tolist(), strict=True):
            excess = one**2 - first(one, law.shift) ** 2
            assert abs(Fraction(exponent) - Fraction(excess, 2**101)) < Fraction(1, 2**40)


class TestLawsAtHighPrecision:
    """The bounds stay bounds at every precision the exact path may ask for."""

    @pytest.mark.grid
    @pytest.mark.untraced
    @pytest.mark.parametrize("precision", [41, 64, 300])
    @pytest.mark.parametrize("simple", SIMPLE, ids=name)
    def test_thresholds(self, simple, precision):
        read, parameter, weight = simple
        law = read(parameter)
        if precision == 300 and (law.shift or parameter == 63):
            return  # thousands of cells: slow, and no different
        _, ends = ends_of(
            weight, parameter, law.shift, law.sides, 320 if precision == 300 else TAIL
        )
        for (low, high), end in zip(thresholds(law, precision), ends, strict=False):
            assert low <= mpmath.ldexp(end, precision) * (1 + mpmath.mpf(2) ** -(precision + 15))
            assert mpmath.ldexp(end, precision) <= high + mpmath.mpf(2) ** -10

    def test_binomial_counted_and_estimated_agree(self):
        law = binomial_law(2**20 + 1)
        for precision in (64, 104):
            for side in (0, 1):
                pairs = zip(
                    law._counted(side, precision), law._estimated(side, precision), strict=False
                )
                for number, (counted, estimated) in enumerate(pairs):
                    assert counted[0] <= estimated[1], number
                    assert estimated[0] <= counted[1], number
                assert number > 100

    def test_binomial_exact_ratio_beyond_the_series(self):
        law = binomial_law(2**15)
        low, high = law.chance(-300, 4000)
        weight = binomial_weight(2**15)
        with mpmath.workprec(4200):
            true = weight(-300) / weight(nearest(-300 >> law.shift, law.shift))
            assert low <= mpmath.ldexp(true, 4000) * (1 + mpmath.mpf(2) ** -3950)
            assert mpmath.ldexp(true, 4000) * (1 - mpmath.mpf(2) ** -3950) <= high <= low + 1
        assert law.chance(2**15, 64) == (0, 0)


class TestStirling:
    """The series encloses ln(k!(N−k)!) up to one constant."""

    @pytest.mark.parametrize("trials", [4096, 2**14 + 1, 2**40, 2**62 - 1])
    @pytest.mark.parametrize("precision", [20, 64, 180])
    def test_enclosure(self, trials, precision):
        stirling.cache_clear()
        base = stirling(trials, 0, precision)
        weight = binomial_weight(trials)
        for x in (1, -1, 7, -300, trials // 20, -(trials // 9)):
            low, high = stirling(trials, x, precision)
            with mpmath.workprec(600):
                true = mpmath.ldexp(-mpmath.log(weight(x)), precision)
                assert low - base[1] <= true <= high - base[0]
            assert high - low <= 3

    def test_bernoulli_numbers(self):
        for n in range(2, 60):
            numerator, denominator = mpmath.bernfrac(n)
            assert bernoulli(n) == Fraction(int(numerator), int(denominator))


class TestPrecisionIsRaised:
    """Bounds too wide, or cells that end too early, are computed again with more precision."""

    class Coarse:
        shift, sides = 0, 2

        def __init__(self, law, cells, error):
            self.law, self.cells, self.error = law, cells, error

        def weights(self, precision):
            cells, (low, high) = self.law.weights(precision)
            if precision > 110:
                return cells, (low, high)
            return list(islice(cells, self.cells)), (low - self.error, high + self.error)

    @pytest.mark.parametrize(("cells", "error"), [(3, 0), (10_000, 2**60)])
    def test_build(self, cells, error):
        law = laplace_law(3)
        made, coarse = build(law), build(self.Coarse(law, cells, error))
        assert made.low.tolist() == coarse.low.tolist()
        assert made.high.tolist() == coarse.high.tolist()

    def test_settle_reads_on_when_the_thresholds_end(self):
        half = [lambda precision: (1 << precision - 1, 1 << precision - 1)]
        script = ByteWords(ScriptedBits(bytes(8)))
        assert (
            settle(
                0, 4, lambda precision: [one(precision) for one in half if precision > 60], script
            )
            == 0
        )


def test_cells_and_their_first_integers():
    assert [cell(j, 2) for j in range(7)] == [0, -1, 1, -2, 2, -3, 3]
    assert [cell(j, 1) for j in range(3)] == [0, 1, 2]
    for x in range(-40, 40):
        assert first(x, 3) == nearest(x >> 3, 3)


def test_a_draw_beyond_64_bits_is_refused_not_wrapped():
    with pytest.raises(InvalidArgument, match="does not fit"):
        held(-(2**60) - 1, 3)
    assert held(-(2**60), 3) == -(2**60)


def test_a_narrow_word_is_as_wide_as_it_must_be():
    assert Widths(accept=8).tail(3) == 11
    assert (Widths().tail(16), Widths().tail(17)) == (32, 64)


def test_bernoulli_numbers_are_worked_out_whoever_asked_before():
    assert [bernoulli.__wrapped__(n) for n in (0, 1, 2, 3, 4)] == [
        1,
        Fraction(-1, 2),
        Fraction(1, 6),
        0,
        Fraction(-1, 30),
    ]
