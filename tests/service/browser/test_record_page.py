"""Page of a public record: nothing for axe to complain of, one sheet of paper, no script, no request."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

import discreet as dp
from record.conftest import PEOPLE, SQL, WORDS, ask

from .conftest import FLAGS
from .test_looks import look

SHEET = re.compile(rb"/Type\s*/Page\b")
"""A page of a PDF file of Chromium, which does not compress the list of its pages."""
PRINT = [*FLAGS, "--no-pdf-header-footer"]


def _full():
    ledger = dp.open_ledger(":memory:", dp.PureDP(3))
    ask(ledger, *SQL.values())
    shown = [entry.number for entry in ledger.history(kinds=["charge"])]
    return dp.record(ledger, PEOPLE, WORDS, questions=shown)


def _bare():
    budget = dp.ApproxDP(3, "1e-6")
    ledger = dp.open_ledger(":memory:", budget, allowances={"*": budget})
    ask(ledger, SQL["means"])
    return dp.record(ledger, PEOPLE, {}, questions=[2])


def _windows():
    """Return the record with the longest sentences: replaced values in windows, of a named unit."""
    unit = dp.People("id", who="user", max_rows=3, window=("day", "day"))
    days = {"day": dp.Date("2024-01-01", "2030-12-31")}
    visits = dp.Schema("visits", unit, days, neighbours="replace")
    ledger = dp.open_ledger(":memory:", dp.GaussianDP(1), window="month")
    return dp.record(ledger, visits, {"unit": "Device", "data_curators": ["City of Example"] * 8})


RECORDS = {"full": _full, "bare": _bare, "windows": _windows}
# The longest of them always: each starts a browser.
PARAMS = ["bare", *(pytest.param(name, marks=pytest.mark.slow) for name in ("full", "windows"))]


@pytest.fixture(params=PARAMS)
def written(request, tmp_path):
    """The folder of a record: with all words and tables, with no word, and with the longest text."""
    return RECORDS[request.param]().write(tmp_path / "record")


def test_the_page_passes_axe_and_loads_nothing(window, axe, written):
    asked = []
    page = window()
    page.on("request", lambda request: asked.append(request.url))
    page.goto((written / "index.html").as_uri())
    look(page, axe, "record")
    assert asked == [(written / "index.html").as_uri()]
    assert page.locator("script").count() == 0
    # Every link leads to a file of the folder.
    for link in page.locator("a").all():
        assert (written / link.get_attribute("href")).is_file()


def test_the_page_prints_on_one_sheet(written, tmp_path):
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no Chromium here")
    paper = tmp_path / "paper.pdf"
    where = (written / "index.html").as_uri()
    command = [program, *PRINT, f"--user-data-dir={tmp_path}", f"--print-to-pdf={paper}", where]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert paper.is_file(), done.stderr
    assert len(SHEET.findall(paper.read_bytes())) == 1
