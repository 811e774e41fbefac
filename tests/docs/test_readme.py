"""README: its sample output has the form that this release prints."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import discreet as dp

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
ROW = re.compile(r"([01])    (\d{3}) ± (\d) +├─*●─*┤ +(\d\d,\d{3}) ± ([\d,]+)")
"""Counts are whole, means are rounded to their error and have thousands separators."""


def numbers(row):
    return [int(number.replace(",", "")) for number in ROW.fullmatch(row).groups()]


@pytest.mark.statistical
def test_the_sample_output_is_what_this_release_prints(tmp_path, monkeypatch):
    """False alarm below 1e-9: counts would have to move by twenty scales, means by ten thousand."""
    monkeypatch.chdir(tmp_path)
    lines = re.findall(r"^>>> (.*)$", README, re.MULTILINE)
    names: dict[str, object] = {"dp": dp}
    for line in lines:
        exec(line, names)  # noqa: S102 - the lines of our own README
    printed = str(names["answer"]).splitlines()
    shown = re.search(r"^```\n(sex .*?)\n```", README, re.MULTILINE | re.DOTALL)[1].splitlines()
    assert len(printed) == len(shown) == 4
    # The heads are as far apart as the bars are long, which depends on the noise.
    assert printed[0].split() == shown[0].split() and printed[3] == shown[3]
    for row, sample in zip(printed[1:3], shown[1:3], strict=True):
        key, count, error, mean, mean_error = numbers(row)
        told_key, told_count, told_error, told_mean, told_mean_error = numbers(sample)
        assert (key, error) == (told_key, told_error) and abs(count - told_count) < 60
        assert abs(mean - told_mean) < 20_000
        # The error of a mean depends on its noisy count and its place in the range.
        assert 0.7 < mean_error / told_mean_error < 1.4
