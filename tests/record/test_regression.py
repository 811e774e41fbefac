"""The worked examples: a regression on published totals covers the slope as often as it says, in Python and R."""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from importlib.machinery import SourceFileLoader

import numpy as np
import pytest

import discreet as dp
from discreet.testing.bits import HashedBits
from record.conftest import PEOPLE, SQL, WORDS, ask


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The data of a record of means, a cube and a line."""
    ledger = dp.open_ledger(":memory:", dp.PureDP(100))
    ask(ledger, *SQL.values(), "SELECT age, AVG(income) AS m FROM people GROUP BY age", spend=2)
    numbers = [entry.number for entry in ledger.history(kinds=["charge"])]
    made = dp.record(ledger, PEOPLE, WORDS, questions=numbers)
    return made.write(tmp_path_factory.mktemp("data") / "record") / "data"


def _script(folder):
    loader = SourceFileLoader("regression", str(folder / "regression.py"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("regression", loader))
    loader.exec_module(module)
    return module


CASES = [("entry-4", "cube"), ("entry-6", "line"), ("entry-8", "means")]


def _told(text):
    words = text.split()
    return [float(word) for word in words[1::2]]


def _statistic(folder, table):
    tables = json.loads((folder / "measurements.json").read_text(encoding="utf-8"))["tables"]
    return next(iter(tables[table]))


def _run(program, folder, table):
    words = [*program, "measurements.json", table, _statistic(folder, table), "age"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return _told(done.stdout)


def test_python_finds_the_slope_of_every_kind_of_table(folder):
    # Incomes are 100 times the age; ages are uniform, and a line of them grows by a tenth of 500.
    for (table, _), (slope, slack) in zip(CASES, [(0, 20), (50, 15), (100, 8)], strict=True):
        found, error, low, high = _run([sys.executable, "regression.py"], folder, table)
        assert abs(found - slope) <= slack and low < found < high and error > 0


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_finds_the_same(folder):
    for table, _ in CASES:
        ours = _run([sys.executable, "regression.py"], folder, table)
        theirs = _run(["Rscript", "regression.R"], folder, table)
        # Python's quantile of t is an expansion: ends agree to a thousandth of the interval.
        assert theirs == pytest.approx(ours, abs=2e-2 * abs(ours[1]), rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("law", ["laplace", "gaussian"])
def test_coverage_in_a_thousand_releases(folder, law):
    """Half of the variance is noise of the release, half is of the cells: the slope is covered by 95 ± 1 %.

    Noise is drawn from fixed bytes: 1,000 fresh releases would vary by 0.7 %, and so fail at times.
    """
    bits = HashedBits(law.encode())
    script = _script(folder)
    mechanism = dp.Geometric(scale=8, sensitivity=1)
    if law == "gaussian":
        mechanism = dp.DiscreteGaussian(scale=11, sensitivity=1)
    draw = np.random.default_rng(7)
    cells, slope, spread = 40, 3.0, 11.0
    x = np.arange(float(cells))
    covered = 0
    for _ in range(1000):
        truth = np.rint(200 + slope * x + draw.normal(0, spread, cells)).astype(int)
        noisy = np.array(mechanism.release(truth, bits=bits), dtype=float)
        _, _, (low, high) = script.gls(x, noisy, np.eye(cells) * mechanism.variance)
        covered += low <= slope <= high
    assert 940 <= covered <= 960
