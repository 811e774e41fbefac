"""Sensitivities: the stated bound is the maximum over all neighbours, found by trying them all on small domains."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.mechanisms.sensitivity import (
    Sensitivity,
    contingency_table,
    count,
    counting_queries,
    covariance,
    histogram,
    mean_of_known_size,
    read_sensitivity,
    sum_of,
)

RELATIONS = ("add-remove", "replace")


def neighbours(domain, relation, most=2):
    """Give all pairs of neighbouring data sets of up to `most` + 1 units over a domain."""
    for size in range(most + 1):
        for rest in combinations_with_replacement(domain, size):
            for unit in domain:
                if relation == "add-remove":
                    yield rest, (*rest, unit)
                else:
                    yield from (((*rest, unit), (*rest, other)) for other in domain)


def measured(function, domain, relation, most=2):
    """Find max ‖·‖₁, max ‖·‖₂², max ‖·‖∞ and the most coordinates that move, over all neighbours."""
    norms = []
    for before, after in neighbours(domain, relation, most):
        moves = [
            abs(Fraction(a) - Fraction(b))
            for a, b in zip(function(before), function(after), strict=True)
        ]
        norms.append((sum(moves), sum(m * m for m in moves), max(moves), sum(m > 0 for m in moves)))
    return tuple(max(norm) for norm in zip(*norms, strict=True))


def stated(sensitivity):
    return sensitivity.l1, sensitivity.squared_l2, sensitivity.linf, sensitivity.changed


@pytest.mark.parametrize("relation", RELATIONS)
class TestTheBoundIsTheMaximum:
    """Δ = max over neighbours, so a function that states Δ must state exactly what brute force finds."""

    def test_count(self, relation):
        found = measured(lambda data: [sum(data)], (0, 1), relation)
        assert stated(count(relation)) == found
        assert count(relation).neighbours == relation

    @pytest.mark.parametrize(
        ("low", "high"), [(0, 3), (-5, 3), (-4, -1), (2, 7), (Fraction(-1, 2), Fraction(1, 3))]
    )
    def test_sum(self, relation, low, high):
        domain = (low, (low + Fraction(high)) / 2, high)
        assert stated(sum_of(low, high, relation)) == measured(
            lambda data: [sum(data)], domain, relation
        )

    @pytest.mark.parametrize(("low", "high", "n"), [(0, 100, 50), (-5, 3, 7)])
    def test_mean_of_known_size(self, relation, low, high, n):
        found = measured(lambda data: [sum(map(Fraction, data)) / n], (low, high), relation)
        assert stated(mean_of_known_size(low, high, n, relation)) == found

    @pytest.mark.parametrize("cells", [2, 3, 5])
    def test_histogram(self, relation, cells):
        found = measured(lambda data: [data.count(c) for c in range(cells)], range(cells), relation)
        assert stated(histogram(relation)) == found

    def test_contingency_table(self, relation):
        """Two margins and the full table of two attributes."""
        domain = tuple(product(range(2), range(3)))

        def tables(data):
            first = [sum(x == a for x, _ in data) for a in range(2)]
            second = [sum(y == b for _, y in data) for b in range(3)]
            return first + second + [data.count(cell) for cell in domain]

        assert stated(contingency_table(3, relation)) == measured(tables, domain, relation, most=1)

    @pytest.mark.untraced
    @pytest.mark.parametrize("k", [1, 2, 4])
    def test_counting_queries(self, relation, k):
        domain = tuple(product((0, 1), repeat=k))
        found = measured(
            lambda data: [sum(unit[i] for unit in data) for i in range(k)], domain, relation, most=1
        )
        assert stated(counting_queries(k, relation)) == found

    @pytest.mark.parametrize("bounds", [[(0, 1)], [(-2, 1)], [(2, 3)], [(-3, -1)]])
    def test_second_moment_of_one_column(self, relation, bounds):
        (low, high), *_ = bounds
        domain = [Fraction(low) + Fraction(i, 4) * (high - low) for i in range(5)] + [0] * (
            low <= 0 <= high
        )
        found = measured(lambda data: [sum(x * x for x in data)], domain, relation, most=1)
        assert stated(covariance(bounds, relation)) == found


class TestCovariance:
    """Add/remove is exact in all norms; under replace Δ∞ is exact and the others are bounds."""

    BOUNDS = (((0, 1), (-2, 1)), ((-1, 1), (-1, 1)), ((1, 2), (3, 5)), ((0, 0), (1, 2)))

    @staticmethod
    def moments(data):
        return [sum(x[i] * x[j] for x in data) for i in range(2) for j in range(i, 2)]

    @staticmethod
    def domain(bounds):
        axes = [
            sorted(
                {
                    Fraction(low),
                    Fraction(high),
                    (Fraction(low) + high) / 2,
                    Fraction(min(high, max(low, 0))),
                }
            )
            for low, high in bounds
        ]
        return tuple(product(*axes))

    @pytest.mark.parametrize("bounds", BOUNDS)
    def test_add_remove_is_exact(self, bounds):
        assert stated(covariance(bounds)) == measured(
            self.moments, self.domain(bounds), "add-remove", most=1
        )

    @pytest.mark.parametrize("bounds", BOUNDS)
    def test_replace_is_a_bound(self, bounds):
        one, two, most, changed = stated(covariance(bounds, "replace"))
        found = measured(self.moments, self.domain(bounds), "replace", most=0)
        assert found[0] <= one
        assert found[1] <= two
        assert found[2] == most
        assert found[3] <= changed


class TestSensitivity:
    @settings(deadline=None)
    @given(st.lists(st.fractions(-20, 20, max_denominator=9), min_size=1, max_size=6).filter(any))
    def test_the_norms_of_any_vector_are_accepted(self, moves):
        sizes = [abs(m) for m in moves if m]
        made = Sensitivity(sum(sizes), sum(m * m for m in sizes), max(sizes), changed=len(sizes))
        assert stated(made) == (sum(sizes), sum(m * m for m in sizes), max(sizes), len(sizes))

    @pytest.mark.parametrize(
        "norms",
        [
            {"l1": 3},
            {"l1": Fraction(1, 2)},
            {"squared_l2": 3},
            {"squared_l2": Fraction(1, 2)},
            {"squared_l2": 1},
            {"l1": 0},
            {"linf": -1},
            {"changed": 0},
            {"neighbours": "swap"},
        ],
    )
    def test_norms_that_no_vector_has_are_refused(self, norms):
        with pytest.raises(InvalidArgument):
            Sensitivity(**({"l1": 2, "squared_l2": 2, "linf": 1, "changed": 2} | norms))

    def test_reading(self):
        assert read_sensitivity(2, "replace") == (2, "replace")
        assert read_sensitivity(histogram("replace"), "replace")[1] == "replace"
        with pytest.raises(InvalidArgument, match="leave one out"):
            read_sensitivity(histogram(), "replace")
        with pytest.raises(InvalidArgument):
            read_sensitivity(0, None)

    @pytest.mark.parametrize(
        "bad",
        [
            lambda: sum_of(3, 2),
            lambda: sum_of(0, 0),
            lambda: sum_of(2, 2, "replace"),
            lambda: mean_of_known_size(0, 1, 0),
            lambda: contingency_table(0),
            lambda: counting_queries(0),
            lambda: covariance([]),
            lambda: covariance([(0, 0)]),
            lambda: covariance([(1, 0)]),
            lambda: histogram("swap"),
        ],
    )
    def test_questions_without_a_sensitivity_are_refused(self, bad):
        with pytest.raises(InvalidArgument):
            bad()

    def test_a_public_part_costs_nothing(self):
        assert sum_of(2, 2).l1 == 2
