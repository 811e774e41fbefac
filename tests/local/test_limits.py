"""Limits: whatever is made from code or from JSON keeps the same bounds, and what does not is refused by name."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.local.search.words import WordRound

ONE = dp.PureDP(1)
MAKE = {
    "choice": lambda e: dp.local.Choice(3, e),
    "number": lambda e: dp.local.Number(0, 1, e),
    "histogram": lambda e: dp.local.Histogram(0, 1, 8, e),
    "one-bit": lambda e: dp.local.OneBitMean(0, 1, e),
    "bit-flip": lambda e: dp.local.BitFlip(e, buckets=8, sample=2),
    "sketch": lambda e: dp.local.CountMeanSketch(e, rows=4, width=8, key="k"),
    "hadamard": lambda e: dp.local.HadamardCountMeanSketch(e, rows=4, width=8, key="k"),
    "words": lambda e: dp.local.Words(bits=16, spend=e, top=2).open(),
}


@pytest.mark.parametrize("name", MAKE)
def test_epsilon_has_bounds_from_code_and_from_json(name):
    given = MAKE[name](ONE).to_json()
    for epsilon in (Fraction(1, 10**10), Fraction(501), Fraction(10**400)):
        with pytest.raises(InvalidArgument):
            MAKE[name](dp.PureDP(epsilon))
        with pytest.raises(InvalidArgument):
            dp.local.read_mechanism(given | {"epsilon": str(epsilon)})
    kind = type(MAKE[name](ONE))
    for wrong in (
        None,
        5,
        [],
        {},
        given | {"version": True},
        given | {"version": 1.0},
        given | {"epsilon": None},
    ):
        with pytest.raises(InvalidArgument):
            kind.from_json(wrong)


@pytest.mark.parametrize(
    "ends", [(1, 1), (0, 10**400), (-1e308, 1e308), (0, Fraction(1, 10**400)), (10**16, 10**16 + 2)]
)
def test_ranges(ends):
    for make in (dp.local.Number, dp.local.OneBitMean):
        with pytest.raises(InvalidArgument):
            make(*ends, ONE)
    with pytest.raises(InvalidArgument):
        dp.local.Histogram(*ends, 4, ONE)


def test_parameters_keep_the_limits_of_the_chooser():
    given = dp.local.Choice(1000, ONE).to_json()
    for wrong in (
        {"options": 20_000, "member": "subset", "parameter": 5000},
        {"options": 1 << 22, "member": "geometry", "parameter": 509},
        {"options": ["a", "\ud800"], "member": "direct", "parameter": 0},
    ):
        with pytest.raises(InvalidArgument):
            dp.local.Choice.from_json(given | wrong)


def test_a_table_that_is_biased_is_refused():
    given = dp.local.Number(0, 1, ONE).to_json()
    for values in (
        [0] * len(given["values"]),
        [2**62] * len(given["values"]),
        given["values"][::-1],
    ):
        with pytest.raises(InvalidArgument):
            dp.local.Number.from_json(given | {"values": values})


def test_prefixes_rise_within_their_bits():
    words = dp.local.Words(bits=32, spend=dp.PureDP(3), top=3)
    given = WordRound(words, 1, (1, 700, 1601)).to_json()
    for prefixes in (
        [700, 1, 1601],
        [1, 1, 700],
        [1, 700, 2**31],
        [],
        [1, 700, "x"],
        None,
        list(range(65)),
    ):
        with pytest.raises(InvalidArgument):
            WordRound.from_json(given | {"prefixes": prefixes})


@pytest.mark.parametrize("name", MAKE)
def test_lists_within_lists_and_ragged_ones_are_refused(name):
    mechanism = MAKE[name](ONE)
    text = name in ("sketch", "hadamard")
    for wrong in ([[1], [1]], [[1], [1, 2]], np.zeros((2, 2), dtype=np.int64), math.nan):
        with pytest.raises(InvalidArgument):
            mechanism.randomize(wrong)
    if not isinstance(mechanism, WordRound):
        for wrong in ([[1], [1, 2]], [[[0]]], [[-1]], 5):
            with pytest.raises(InvalidArgument):
                mechanism.estimate(wrong, *([["a"]] if text else []))
