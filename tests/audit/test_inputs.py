"""Neighbours are checked where they can be, and vouched for where not."""

import math

import numpy as np
import pytest

from discreet.audit.targets.edges import Pair, neighbours
from discreet.audit.targets.inputs import check_inputs, owner, shown
from discreet.errors import InvalidArgument

ROWS = [{"id": 1, "x": 2}, {"id": 1, "x": 3}, {"id": 2, "x": 2}]


class Frame:
    def __init__(self, rows):
        self.rows = rows

    def to_dicts(self):
        return self.rows


@pytest.mark.parametrize(
    ("pair", "relation", "unit"),
    [
        (([1, 2], [2]), "add-remove", None),
        (((1, 2), (2, 1, 2)), "add-remove", None),
        ((np.array([1.0, math.nan]), np.array([math.nan])), "add-remove", None),
        (([1, 2], [1, 3]), "replace", None),
        (({"ann": 1, "bob": 2}, {"ann": 1}), "add-remove", None),
        (({"ann": 1, "bob": 2}, {"ann": 1, "bob": 3}), "replace", None),
        ((ROWS, ROWS[2:]), "add-remove", "id"),
        ((ROWS, [*ROWS[:2], {"id": 2, "x": 9}, {"id": 2, "x": 9}]), "replace", "id"),
        (([(1, "a"), (2, "b")], [(1, "a")]), "add-remove", 0),
        (([5, 6, 7], [6]), "add-remove", lambda x: x % 2),
        ((Frame(ROWS), Frame(ROWS[1:])), "add-remove", None),
    ],
)
def test_neighbours_pass(pair, relation, unit):
    assert check_inputs(pair, relation, unit) == (pair[0], pair[1])


@pytest.mark.parametrize(
    ("pair", "relation", "unit", "words"),
    [
        (([1, 2], [3]), "add-remove", None, "exactly 1 leaves or 1 comes"),
        (([1, 2], [1, 2, 3]), "replace", None, "exactly 1 leaves and 1 comes"),
        ((ROWS, ROWS[1:]), "add-remove", "id", "not 'add-remove' neighbours"),
        (([1, 2], [2, 1]), "replace", None, "0 units leave"),
        ((0, 1), "add-remove", None, "not collections of units"),
        (("ab", "a"), "add-remove", None, "not collections of units"),
        (([1], [2]), "swap", None, "neighbours must be"),
        (([1], [1]), None, None, "inputs are equal"),
        ((math.nan, math.nan), None, None, "inputs are equal"),
        (([1], [1], [1]), None, None, "must be a pair"),
        ("ab", None, None, "must be a pair"),
        (7, None, None, "must be a pair"),
        ((ROWS, ROWS[1:]), "add-remove", "name", "no row has a unit 'name'"),
    ],
)
def test_others_do_not(pair, relation, unit, words):
    with pytest.raises(InvalidArgument, match=words):
        check_inputs(pair, relation, unit)


def test_without_a_relation_anything_different_goes():
    assert check_inputs((0, 1)) == (0, 1)
    assert check_inputs([0, 1]) == (0, 1)


def test_shown_is_short():
    assert shown([1, 2]) == "[1, 2]"
    assert len(shown(list(range(1000)))) == 60


def test_owner():
    assert owner({"id": 3}, "id") == 3
    assert owner((1, 2), 1) == 2


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize(
    ("example", "unit"),
    [
        ([3, 5], None),
        ((2.5, 7.0), None),
        (["north", "south"], None),
        ([True, False], None),
        ([(1, 2.0), (2, 3.0)], 0),
        ([{"id": 1, "x": 2.0}, {"id": 2, "x": 3.0}], "id"),
        ([4, 6, 9], lambda x: x),
        ([[1, 2.0], [2, 3.0]], 0),
        (np.array([3, 5]), None),
        (np.array([3.0, 5.0]), None),
    ],
)
def test_every_pair_is_a_pair_of_neighbours(example, unit, relation):
    found = list(neighbours(example, relation, low=0, high=10, unit=unit))
    assert len(found) >= 2
    for pair in found:
        assert isinstance(pair, Pair)
        check_inputs(pair[:2], relation, unit)
        assert type(pair.first) is type(example)


def test_the_edges_are_all_there():
    whys = " ".join(pair.why for pair in neighbours([3.5, 5.0], "add-remove", low=0, high=10))
    for edge in (
        "none against one",
        "duplicate",
        "a bound",
        "nan",
        "inf",
        "extreme",
        "zero",
        "None",
    ):
        assert edge in whys
    heavy = [
        pair
        for pair in neighbours([(1, 2.0), (2, 3.0)], "replace", unit=0)
        if "200 rows" in pair.why
    ]
    assert len(heavy) == 1
    assert len(heavy[0].second) == 201
    come = [p for p in neighbours([{"id": 1, "x": 2}], "add-remove", unit="id") if "heavy" in p.why]
    assert len(come[0].second) == 201
    assert list(neighbours([3], "replace"))


@pytest.mark.parametrize("example", [[], "abc", 7])
def test_refuses_examples_without_rows(example):
    with pytest.raises(InvalidArgument, match="at least one row"):
        list(neighbours(example, "replace"))


def test_odd_rows():
    assert list(neighbours([None, object], "add-remove"))
    with pytest.raises(InvalidArgument, match="no row has a unit"):
        list(neighbours([3, 4], "add-remove", unit="id"))


def test_refuses_an_unknown_relation():
    with pytest.raises(InvalidArgument, match="neighbours must be"):
        list(neighbours([1], "swap"))
