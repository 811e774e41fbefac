"""The two-level family: its sets, its exact law, its unbiased counts."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.local.designs.field import field_of, prime_power
from discreet.local.family import InsideCoin, direct, subset
from discreet.local.law import TwoLevelLaw
from discreet.noise.exp import exp_neg
from discreet.testing.bits import HashedBits, ScriptedBits
from local.members import SMALL, SUBSETS, named, sets

ALL = SMALL | SUBSETS


def words(*numbers):
    return b"".join(int(n).to_bytes(8, "little") for n in numbers)


class TestFields:
    """F_q, q = p^e, is a field: both operations are commutative groups, and multiplication distributes."""

    @pytest.mark.parametrize("q", [2, 3, 4, 5, 8, 9, 16, 25, 27])
    def test_axioms(self, q):
        f, every = field_of(q), np.arange(q)
        a, b, c = np.meshgrid(every, every, every, indexing="ij")
        assert (f.add == f.add.T).all() and (f.mul == f.mul.T).all()
        assert (f.add[f.add[a, b], c] == f.add[a, f.add[b, c]]).all()
        assert (f.mul[f.mul[a, b], c] == f.mul[a, f.mul[b, c]]).all()
        assert (f.mul[a, f.add[b, c]] == f.add[f.mul[a, b], f.mul[a, c]]).all()
        assert (f.mul[every[1:], f.inverse[1:]] == 1).all()
        assert (f.add[0] == every).all() and (f.mul[1] == every).all()

    def test_prime_powers_only(self):
        assert [q for q in range(1, 30) if prime_power(q)] == [
            2,
            3,
            4,
            5,
            7,
            8,
            9,
            11,
            13,
            16,
            17,
            19,
            23,
            25,
            27,
            29,
        ]
        with pytest.raises(InvalidArgument, match="prime power"):
            field_of(6)


class TestDesign:
    """|S_v| = w for every option, |S_u ∩ S_v| = λ for every two."""

    @pytest.mark.parametrize("family", ALL.values(), ids=ALL)
    def test_sizes(self, family):
        facts, listed = family.design.facts, sets(family)
        assert {len(s) for s in listed} == {facts.inside}
        assert {len(a & b) for a, b in itertools.combinations(listed, 2)} <= {facts.shared}
        assert facts.inside < facts.outputs
        assert 2 * facts.inside - facts.shared <= facts.outputs

    @pytest.mark.parametrize("family", SMALL.values(), ids=SMALL)
    def test_counts_are_those_of_the_sets(self, family):
        reports = np.random.default_rng(1).integers(0, family.design.facts.outputs, 300)
        expected = [sum(y in s for y in reports.tolist()) for s in sets(family)]
        assert family.counts(reports).tolist() == expected

    @pytest.mark.parametrize("family", SUBSETS.values(), ids=SUBSETS)
    def test_counts_of_subsets(self, family):
        reports = family.draw(np.zeros(50, dtype=np.int64), bits=HashedBits(b"counts"))
        expected = [sum(v in s for s in named(reports)) for v in range(family.design.facts.options)]
        assert family.counts(reports).tolist() == expected


class TestExactLaw:
    """P(y|x) = e^ε/Z on S_x and 1/Z off it, exactly: every output of a class comes from equally many words."""

    @pytest.mark.parametrize("name", SMALL)
    @pytest.mark.parametrize("inside", [True, False])
    def test_every_output_once(self, name, inside):
        design = SMALL[name].design
        facts = design.facts
        on, off = facts.inside, facts.outputs - facts.inside
        size = on if inside else off
        rolled = {"direct": [np.arange(size)], "hadamard": [np.arange(size)]}
        zeros = np.zeros(size)
        script = rolled.get(
            facts.member, [np.arange(size), zeros] if inside else [zeros, np.arange(size)]
        )
        for option, own in enumerate(sets(SMALL[name])):
            bits = ScriptedBits(words(*np.concatenate(script)))
            drawn = design.place(np.full(size, option), np.full(size, inside), bits)
            expected = own if inside else set(range(facts.outputs)) - own
            assert sorted(drawn.tolist()) == sorted(expected)

    @pytest.mark.parametrize("name", SUBSETS)
    @pytest.mark.parametrize("inside", [True, False])
    def test_every_subset_as_often(self, name, inside):
        family = SUBSETS[name]
        facts, k = family.design.facts, family.design.named
        bounds = [j + 1 for j in range(facts.options - 1 - k, facts.options - 1)]
        every = np.array(list(itertools.product(*map(range, bounds)))).T
        for option, own in enumerate(sets(family)):
            bits = ScriptedBits(words(*every.ravel()))
            people = every.shape[1]
            drawn = named(
                family.design.place(np.full(people, option), np.full(people, inside), bits)
            )
            universe = {s for each in sets(family) for s in each}
            expected = own if inside else universe - own
            assert Counter(drawn) == dict.fromkeys(expected, people // len(expected))

    @given(st.integers(1, 10**6), st.integers(1, 10**6), st.fractions(Fraction(1, 100), 40))
    @settings(max_examples=60)
    def test_the_coin_of_the_class(self, inside, outside, epsilon):
        """The odds of one output in against one output out are e^ε: (p/w)/((1−p)/(|Y|−w)), enclosed by rationals."""
        low, high = InsideCoin(epsilon, inside=inside, outside=outside).bounds(400)
        one = 1 << 400
        least = Fraction(low * outside, (one - low) * inside)
        most = Fraction(high * outside, (one - high) * inside) if high < one else math.inf
        down, up = (
            Fraction(one, b) for b in exp_neg(epsilon.numerator, epsilon.denominator, 400)[::-1]
        )
        assert least <= up and down <= most
        assert high - low <= 4

    @pytest.mark.parametrize("family", ALL.values(), ids=ALL)
    def test_the_work_does_not_depend_on_the_value(self, family):
        """Same bits, any value: as many bytes are read."""

        class Counting(HashedBits):
            read = 0

            def take(self, count, /):
                self.read += count
                return super().take(count)

        def read(option):
            bits = Counting(b"work")
            family.draw(np.full(40, option), bits=bits)
            return bits.read

        assert len({read(option) for option in range(family.design.facts.options)}) == 1

    @pytest.mark.statistical
    @pytest.mark.parametrize(
        "family", [SMALL["geometry 4"], SMALL["hadamard 6"], SUBSETS["subset 2 of 5"]]
    )
    def test_sampled(self, family):
        """40,000 real draws: the share inside each set is within 6.6 deviations (4e-11 each, 31 of them at most)."""
        n, law = 40_000, family.law
        counts = family.counts(family.draw(np.ones(n, dtype=np.int64)))
        for option, count in enumerate(counts):
            p = law.p if option == 1 else law.q
            assert abs(count - n * p) < 6.6 * math.sqrt(n * p * (1 - p))


class TestUnbiased:
    """Σ_y P(y|x)(1[y ∈ S_v] − q)/(p − q) = 1[v = x], as rationals, for any value of e^ε."""

    @pytest.mark.parametrize("family", ALL.values(), ids=ALL)
    @pytest.mark.parametrize("growth", [Fraction(3), Fraction(11, 10), Fraction(57)])
    def test_by_enumeration(self, family, growth):
        facts, listed = family.design.facts, sets(family)
        z = growth * facts.inside + facts.outputs - facts.inside
        p = growth * facts.inside / z
        q = (growth * facts.shared + facts.inside - facts.shared) / z
        for x, v in itertools.product(range(min(4, facts.options)), repeat=2):
            hit = sum((growth if y in listed[x] else 1) / z for y in listed[v])
            assert (hit - q) / (p - q) == (v == x)

    @given(st.sampled_from(sorted(ALL)), st.fractions(Fraction(1, 100), 12))
    @settings(max_examples=60)
    def test_the_law_in_floats(self, name, epsilon):
        facts = ALL[name].design.facts
        law, e = TwoLevelLaw(facts, epsilon), math.exp(epsilon)
        z = e * facts.inside + facts.outputs - facts.inside
        assert law.p == pytest.approx(e * facts.inside / z, rel=1e-12)
        assert law.q == pytest.approx(
            (e * facts.shared + facts.inside - facts.shared) / z, rel=1e-12
        )
        assert law.spread == pytest.approx(
            (facts.inside - facts.shared) * math.expm1(epsilon) / z, rel=1e-12
        )
        average = sum(
            law.variance(n=1, frequency=f) for f in np.full(facts.options, 1 / facts.options)
        )
        assert law.total_variance == pytest.approx(average, rel=1e-9)


class TestPrice:
    """One report costs at most randomized response among k: a = (w − λ)/Z ≤ 1/(e^ε + k − 1), and k + 1 would be too cheap."""

    @pytest.mark.parametrize("family", ALL.values(), ids=ALL)
    def test_dear_enough_and_no_dearer(self, family):
        facts, event, e = family.design.facts, family.law.event, math.e
        z = e * facts.inside + facts.outputs - facts.inside
        mass = (facts.inside - facts.shared) / z
        assert mass <= 1 / (e + event.options - 1) * (1 + 1e-12)
        assert event.options == 2 or mass > 1 / (e + event.options) * (1 - 1e-12)
        assert event.neighbours == "replace"


class TestRefusals:
    def test_forged_reports_are_refused(self):
        family = direct(5, Fraction(1))
        with pytest.raises(InvalidArgument, match="2 of 4 reports"):
            family.counts(np.array([0, 5, -1, 2]))
        assert family.valid([0, 5, -1, 1 << 80]).tolist() == [True, False, False, False]
        for bad in (np.array([0.5]), np.array(["a"]), "12", [1.5], [True]):
            with pytest.raises(InvalidArgument, match="reports must be"):
                family.counts(bad)

    def test_forged_subsets(self):
        family = subset(10, Fraction(1), 3)
        good = family.draw(np.zeros(2, dtype=np.int64))
        assert family.valid(good).all()
        assert family.valid([0b111, 0b1111, 0b11 | 1 << 12]).tolist() == [True, False, False]
        with pytest.raises(InvalidArgument, match="rows of 2 bytes"):
            family.counts(np.array([1, 2]))
        with pytest.raises(InvalidArgument, match="2 bytes"):
            family.counts([1 << 16])
