"""Reports travel with the hash of their parameters; what does not fit is refused, without a word of what it said."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.local import Choice, LocalReport, pack, pack_block, params_hash, unpack, unpack_block
from discreet.privacy.measures import PureDP

MINE, OTHER = (params_hash(Choice(d, PureDP(1)).to_json()) for d in (5, 6))


@given(
    st.text(max_size=20), st.one_of(st.integers(0, 2**53), st.text("0123456789abcdef", max_size=40))
)
def test_lines_come_back(metric, report):
    line = pack(LocalReport(metric, MINE, report))
    assert "\n" not in line
    assert unpack(line, params=MINE, metric=metric) == LocalReport(metric, MINE, report)
    assert unpack(line.encode(), params=MINE).report == report


@pytest.mark.parametrize(
    "line",
    [
        pack(LocalReport("m", OTHER, 12345)),
        pack(LocalReport("another", MINE, 12345)),
        json.dumps({"v": 2, "metric": "m", "params": MINE, "report": 12345}),
        json.dumps({"v": True, "metric": "m", "params": MINE, "report": 12345}),
        json.dumps({"v": 1.0, "metric": "m", "params": MINE, "report": 12345}),
        pack(LocalReport("m", MINE, 12345)).replace('"v":1', '"v":1,"v":1'),
        pack(LocalReport("m", MINE, 12345)).replace('"m"', '"m\udcff"'),
        pack(LocalReport("m", MINE, 12345)).encode("utf-16"),
        json.dumps({"v": 1, "metric": 7, "params": MINE, "report": 12345}),
        json.dumps({"v": 1, "metric": "m", "params": MINE}),
        json.dumps([12345]),
        "12345 is no report",
        None,
        12345,
        "[" * 30_000,
        " " * 100_000,
    ],
)
def test_others_are_refused(line):
    with pytest.raises(InvalidArgument) as refusal:
        unpack(line, params=MINE, metric="m")
    assert "12345" not in str(refusal.value)


@given(st.lists(st.integers(0, 2**24 - 1), max_size=20))
def test_blocks_come_back(numbers):
    block = pack_block(np.array(numbers, dtype=np.int64), metric="m", params=MINE, width=3)
    rows = unpack_block(block, params=MINE, metric="m")
    assert (rows @ (256 ** np.arange(3))).tolist() == numbers
    assert len(block) == 15 + 3 * len(numbers)


def test_blocks_that_do_not_fit():
    good = pack_block(np.array([1, 2]), metric="m", params=MINE, width=2)
    for bad in (good[:-1], b"DLR2" + good[4:], good[:10], good[:14]):
        with pytest.raises(InvalidArgument):
            unpack_block(bad, params=MINE)
    for params, metric in ((OTHER, "m"), (MINE, "n")):
        with pytest.raises(InvalidArgument):
            unpack_block(good, params=params, metric=metric)
    rows = np.zeros((3, 4), dtype=np.uint8)
    assert unpack_block(pack_block(rows, metric="m", params=MINE, width=4), params=MINE).shape == (
        3,
        4,
    )
    for reports, width in (
        (rows, 3),
        (np.array([300]), 1),
        (np.array([-1]), 8),
        (np.array([0.5]), 8),
        (np.array([1]), 9),
    ):
        with pytest.raises(InvalidArgument):
            pack_block(reports, metric="m", params=MINE, width=width)
    for metric, params in (("m" * 300, MINE), ("m", "ab"), ("m", "zz" * 8), ("m", 7)):
        with pytest.raises(InvalidArgument):
            pack_block(np.array([1]), metric=metric, params=params, width=1)


def test_a_hash_names_the_law():
    hashes = {
        params_hash(Choice(5, PureDP(e), member=m).to_json())
        for e in (1, 2)
        for m in ("direct", "hadamard")
    }
    assert len(hashes) == 4 and all(len(h) == 16 for h in hashes)
