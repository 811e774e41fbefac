"""Hostile values on a device: a report or a refusal in our words, never another error, a warning or the value itself."""

from __future__ import annotations

import warnings

import pytest

import discreet as dp
from discreet.errors import InvalidArgument
from learn.test_hostile_cells import CELLS, objects

SPEND = dp.PureDP(2)
VALUES = [cell for cell in CELLS if not type(cell).__name__.startswith("Bad")]
"""All but objects whose own code fails: on a device they are of the very program that asks."""
SKETCH = {"rows": 4, "width": 16, "key": "k"}
DEVICES = {
    "choice": (dp.local.Choice(["a", "b", "7"], SPEND), "a"),
    "options": (dp.local.Choice(3, SPEND), 1),
    "number": (dp.local.Number(0, 10, SPEND), 1),
    "histogram": (dp.local.Histogram(0, 10, 8, SPEND), 1),
    "one bit": (dp.local.OneBitMean(0, 10, SPEND), 1),
    "bit flip": (dp.local.BitFlip(SPEND, buckets=8, sample=2), 1),
    "sketch": (dp.local.CountMeanSketch(SPEND, **SKETCH), "a"),
    "hadamard": (dp.local.HadamardCountMeanSketch(SPEND, **SKETCH), "a"),
}


@pytest.mark.parametrize("name", DEVICES)
def test_a_report_or_a_refusal_and_nothing_else(name):
    device, plain = DEVICES[name]
    reports = 0
    for cell in VALUES:
        for value in (cell, [plain, cell], (cell, plain), objects([plain, cell]), [cell]):
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    device.randomize(value)
                    reports += 1
                except InvalidArgument as refusal:
                    assert "secret" not in str(refusal)
                    assert refusal.__cause__ is None
    # Plain values among the hostile ones are reported.
    assert reports >= 3
