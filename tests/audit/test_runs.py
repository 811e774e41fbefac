"""Running: one by one or many at once, exceptions included."""

import numpy as np
import pytest

from discreet.audit.targets.runs import RaisedOutput, collect, read_vector
from discreet.errors import InvalidArgument


def test_one_by_one_in_no_order_of_its_own():
    calls = []

    def run(x):
        calls.append(x)
        return x * 10

    told = []
    left, right = collect(run, (1, 2), 300, progress=told.append)
    assert left == [10] * 300
    assert right == [20] * 300
    assert sum(told) == 600
    assert calls not in ([1] * 300 + [2] * 300, [2] * 300 + [1] * 300)


def test_exceptions_are_outputs():
    left, right = collect(lambda x: 1 // x, (1, 0), 3)
    assert left == [1, 1, 1]
    assert right[0].kind == "ZeroDivisionError"
    assert isinstance(right[2], RaisedOutput)


def test_many_at_once_by_size_and_by_array():
    by_size, _ = collect(lambda x, size: np.full(size, x), (1, 2), 300_000)
    by_array, other = collect(lambda x: x + 0.5, (1, 2), 5, vector="array")
    assert by_size.shape == (300_000,)
    assert by_array.tolist() == [1.5] * 5
    assert other.tolist() == [2.5] * 5


def test_lists_and_changing_types_stay_lists():
    left, _ = collect(lambda x, size: [x] * size, (1, 2), 4)
    assert left == [1, 1, 1, 1]


@pytest.mark.parametrize("run", [lambda x, size: x, lambda x, size: "abc", lambda x, size: [x]])
def test_refuses_something_else(run):
    with pytest.raises(InvalidArgument, match="something else came back"):
        collect(run, (1, 2), 3)


def test_refuses_exceptions_of_a_whole_batch():
    def run(x, size):
        raise KeyError(x)

    with pytest.raises(InvalidArgument, match="raised KeyError"):
        collect(run, (1, 2), 3)


def test_how_to_ask():
    assert read_vector(dict.fromkeys, "auto") == "no"
    assert read_vector(print, "array") == "array"
    assert (
        read_vector(type("Odd", (), {"__signature__": 3, "__call__": lambda self: 0})(), "auto")
        == "no"
    )
    with pytest.raises(InvalidArgument, match="vector must be"):
        read_vector(print, "fast")
