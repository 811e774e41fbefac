"""Parameters that a hostile server might send: each is one lie about otherwise good parameters."""

from __future__ import annotations

import copy

import discreet as dp

TWO = dp.PureDP(2)
GOOD = {
    "choice": dp.local.Choice(["a", "b", "c"], TWO).to_json(),
    "subset": dp.local.Choice(8, TWO, member="subset").to_json(),
    "geometry": dp.local.Choice(50, TWO, member="geometry").to_json(),
    "number": dp.local.Number(0, 100, TWO).to_json(),
    "histogram": dp.local.Histogram(0, 9, 20, TWO).to_json() | {"branch": 4, "levels": [
        {"member": "direct", "parameter": 0}, {"member": "hadamard", "parameter": 0}, {"member": "geometry", "parameter": 5}]},
    "one-bit-mean": dp.local.OneBitMean(0, 1440, TWO).to_json(),
    "count-mean-sketch": dp.local.CountMeanSketch(TWO, rows=16, width=64, key="k").to_json(),
    "hadamard": dp.local.HadamardCountMeanSketch(TWO, rows=16, width=64, key="k").to_json(),
    "bit-flip": dp.local.BitFlip(TWO, buckets=8, sample=2).to_json(),
    "rappor": dp.local.Rappor(bits=16, hashes=2, cohorts=4, f="1/2", p="1/2", q="3/4", key="k").to_json(),
}  # fmt: skip

LIES = {
    "choice": [
        {"epsilon": "501"}, {"epsilon": "0"}, {"epsilon": "-1"}, {"epsilon": "1/0"}, {"epsilon": "1e3"},
        {"epsilon": None}, {"version": 2}, {"version": True}, {"mechanism": "coin"}, {"mechanism": "toString"},
        {"member": "constructor"}, {"member": "apart"}, {"parameter": 1}, {"parameter": None}, {"options": ["a"]},
        {"options": ["a", "a"]}, {"options": ["a", 1]}, {"options": 1}, {"options": -5}, {"options": 2.5},
        {"options": 1 << 40}, {"extra": 1}, {"parameter": ...},
    ],
    "subset": [{"parameter": 0}, {"parameter": 8}, {"parameter": 9}, {"parameter": -1}, {"options": 5000}],
    "geometry": [{"parameter": 6}, {"parameter": 12}, {"parameter": 1}, {"parameter": 0}, {"parameter": 513}],
    "number": [
        {"epsilon": "1/100"}, {"low": "100"}, {"high": "0"}, {"low": "x"}, {"weights": []}, {"weights": [[1 << 40]]},
        {"weights": "open"}, {"weights": "uneven"}, {"weights": "shift"}, {"values": []}, {"weights": "negative"},
    ],
    "histogram": [
        {"bins": 1}, {"bins": 2049}, {"bins": 500}, {"branch": 1}, {"branch": 21}, {"low": "9"}, {"levels": None},
        {"levels": []}, {"levels": [{"member": "subset", "parameter": 2}] * 3}, {"epsilon": "0"},
        {"levels": [{"member": "geometry", "parameter": 12}] * 3}, {"levels": [{"member": "apart", "parameter": 2}] * 3},
        {"levels": [{"member": "direct"}] * 3}, {"levels": [None] * 3}, {"levels": ...},
    ],
    "one-bit-mean": [{"low": "1440"}, {"gamma": "2"}, {"gamma": "-1/2"}, {"epsilon": "1000"}],
    "count-mean-sketch": [{"width": 63}, {"rows": 0}, {"key": ""}, {"key": "k" * 65}, {"width": 0}],
    "hadamard": [{"width": 48}, {"rows": -1}],
    "bit-flip": [{"sample": 0}, {"sample": 9}, {"buckets": 1}, {"gamma": "3/2"}],
    "rappor": [
        {"hashes": 0}, {"bits": 0}, {"f": "2"}, {"p": "-1"}, {"cohorts": 0}, {"hashes": 17}, {"p": "99/100", "q": "1/100"},
        {"p": "3/4"}, {"f": "0"}, {"f": "1"}, {"q": "3/2"},
    ],
}  # fmt: skip
"""Lies by the parameters they change; `...` leaves a field out, words name a change of the table."""


def _table(weights, how):
    """Return another table: everything shown, rows that sum to more, or weights moved beyond ε."""
    rows = copy.deepcopy(weights)
    width = len(rows[0])
    if how == "open":
        for index, row in enumerate(rows):
            row[:] = [1] * width
            row[index * (width - 1) // (len(rows) - 1)] = (1 << 40) - width + 1
    elif how == "uneven":
        # A weight between the least and the largest of its column, so that no ratio is larger.
        index, place = next(_inner(rows))
        rows[index][place] += 1
    elif how == "negative":
        rows[0][0], rows[0][1] = -rows[0][0], rows[0][1] + 2 * rows[0][0]
    else:
        # One column of one input is a tenth more than ε allows.
        least = min(row[0] for row in rows)
        wanted = int(least * 7.3891 * 1.1)
        rows[0][1] += rows[0][0] - wanted
        rows[0][0] = wanted
    return rows


def _inner(rows):
    """Yield the places of weights that are neither the least nor the largest of their column."""
    for place, column in enumerate(zip(*rows, strict=True)):
        for index, weight in enumerate(column):
            if min(column) < weight < max(column):
                yield index, place


def hostile():
    """Yield the parameters of every lie."""
    for name, lies in LIES.items():
        for lie in lies:
            given = dict(GOOD[name])
            for field, value in lie.items():
                if value is ...:
                    del given[field]
                elif isinstance(value, str) and field == "weights":
                    given[field] = _table(given[field], value)
                else:
                    given[field] = value
            yield name, lie, given
