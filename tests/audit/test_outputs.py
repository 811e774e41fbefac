"""Outputs of any kind become columns that both inputs share."""

import math

import numpy as np
import pytest

from discreet.audit.events.outputs import tabulate
from discreet.audit.targets.runs import RaisedOutput


def columns(left, right):
    return {
        name: (c.values.tolist(), c.words) for name, c in tabulate(left, right)[0].columns.items()
    }


def test_plain_numbers_stay_plain():
    assert columns([1, 2], [3, 4]) == {"value": ([1, 2], None)}
    assert columns([1.5, 2.0], [3.0, 4.0]) == {"value": ([1.5, 2.0], None)}
    assert columns(np.array([True, False]), np.array([1, 2])).keys() == {"value", "type"}


def test_numpy_scalars_and_equal_arrays_are_stacked():
    first, second = tabulate([np.arange(3)] * 4, [np.ones(3, dtype=int)] * 2)
    assert list(first.numbers) == ["[0]", "[1]", "[2]"]
    assert (first.size, second.size) == (4, 2)
    assert columns([np.float64(1)], [np.float64(2)]) == {"value": ([1.0], None)}


def test_not_a_number_has_a_kind():
    found = columns(np.array([1.0, math.nan, math.inf, -math.inf]), np.zeros(4))
    assert found["kind"] == ([0, 1, 2, 3], ("a number", "nan", "inf", "-inf"))
    assert "[1] kind" in columns(np.array([[1.0, math.nan]]), np.zeros((1, 2)))


def test_words_types_and_exceptions():
    found = columns(["north", None, 3, 2.5, RaisedOutput("ValueError", "too big")], [True])
    values, words = found["kind"]
    assert [words[v] for v in values] == [
        "north",
        "None",
        "int",
        "float",
        "raised ValueError: too big",
    ]
    assert math.isnan(found["value"][0][0])
    assert columns(["a"], ["b"]) == {"value": ([0], ("a", "b"))}


def test_dictionaries_lists_and_tables():
    found = columns([{"n": 1, "by": [2, 3]}], [{"n": 1}])
    assert found["['n']"] == ([1], None)
    assert found["['by'][1]"][0] == [3.0]
    assert found["keys"][1] == ("'by' 'n'", "'n'")
    assert found["length"] == ([2], None)
    assert "['by'][1] kind" in found

    class Table:
        def to_dicts(self):
            return [{"n": 7}]

    assert columns([Table()], [Table()])["[0]['n']"] == ([7], None)
    assert "[0][1]" in columns([np.array([[1, 2]])], [np.array([[1, 2], [3, 4]])])


def test_numbers_beyond_the_machine():
    found = columns([2**80, 10**400, -(10**400)], [1, 2, 3])
    assert found["value"][0] == [float(2**80), math.inf, -math.inf]
    assert columns([2**63], [1])["value"][0] == [float(2**63)]
    assert columns(np.array([1], dtype=np.uint64), np.array([2], dtype=np.uint64))["value"] == (
        [1],
        None,
    )


def test_different_shapes_are_not_forced_together():
    assert "length" in columns(np.zeros((2, 3)), np.zeros((2, 4)))


@pytest.mark.parametrize("raw", [[1, 2.5], [np.zeros(2), np.zeros(3)]])
def test_mixed_lists(raw):
    assert tabulate(raw, raw)[0].size == 2


class Answered:
    """What an answer looks like from outside: columns, which of them are noisy, values."""

    noisy = ("n",)

    def __init__(self, **columns):
        self.columns, self.values = tuple(columns), columns

    def to_dict(self):
        return self.values


class TestTables:
    """The row of a key is compared with the row of the same key, wherever it stands."""

    def test_rows_are_named_by_their_words(self):
        found = columns([{"region": ["N", "S"], "n": [1, 2]}], [[{"region": "S", "n": 5}]])
        assert found["('N',)['n']"][0] == [1]
        assert found["('S',)['n']"][0] == [2]
        assert found["rows"][1] == ("('N',) ('S',)", "('S',)")
        assert found["length"] == ([2], None)

    def test_an_answer_says_which_columns_name_its_rows(self):
        found = columns([Answered(ward=[3, 4], n=[7, 8])], [Answered(ward=[4], n=[9])])
        assert found["(3,)['n']"][0] == [7]
        assert found["(4,)['n']"] == ([8], None)

    def test_totals_have_no_rows_to_tell_apart(self):
        found = columns([Answered(n=[7])], [Answered(n=[8])])
        assert found["['n']"] == ([7], None)
        assert not any("[0]" in name for name in found)

    def test_no_rows_at_all(self):
        found = columns([Answered(ward=[], n=[])], [Answered(ward=[1], n=[2])])
        assert found["length"] == ([0], None)

    def test_rows_that_cannot_be_told_apart_are_counted(self):
        twice = [{"region": "N", "n": 1}, {"region": "N", "n": 2}]
        assert columns([twice], [twice])["[1]['n']"] == ([2], None)
        assert columns([[{"n": 1}, {"n": 2}]], [[{"n": 3}]])["[0]['n']"] == ([1], None)
        assert "[1]['m']" in columns([[{"n": 1}, {"m": 2}]], [[{"n": 3}]])

    @pytest.mark.parametrize("frame", ["polars", "pandas", "pyarrow"])
    def test_frames(self, frame):
        library = pytest.importorskip(frame)
        make = library.table if frame == "pyarrow" else library.DataFrame
        table = make({"region": ["N", "S"], "n": [1, 2]})
        assert columns([table], [table])["('S',)['n']"] == ([2], None)

    def test_numbers_of_numpy_inside(self):
        assert columns([{"n": np.int64(3)}], [{"n": np.float64(2.5)}])["['n']"] == ([3.0], None)
