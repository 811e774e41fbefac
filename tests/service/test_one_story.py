"""One story over all parts: a messy file, a kept store, a weekly stream, a dashboard, psql, the record, its check."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import httpx
import matplotlib.pyplot as plt
import pytest

import discreet as dp
from discreet.ledger import clock
from discreet.record.check import check_record
from service.deployment import free_port, serving
from service.postgres.conftest import Wire
from service.test_answer_pages import Person
from service.test_dashboards import change
from service.test_streams import ASK, TODAY, deploy

WEEKS = 2
PER_DAY = 3
# Its last day is yesterday: planning workers have the clock of the machine.
START = TODAY - timedelta(days=7 * WEEKS)
COUNTED = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"


def write_messy(path):
    """Write a file as people send them: a mark of byte order, carriage returns, quotes, a day that never was."""
    lines = ["day,ward,note"]
    for day in range(7 * WEEKS):
        lines += [f'{START + timedelta(days=day)},A,"ann, ""the first"""'] * PER_DAY
    lines += ["2026-13-45,A,", f"{START},unknown,", ",,"]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode() + b"\r\n")


@pytest.mark.slow
def test_one_story(tmp_path, monkeypatch):
    terms = 'seal = "visits.key"\nshare_dashboards = true\nkeep = "visits.store"'
    house = deploy(tmp_path / "service", seal=terms)
    write_messy(house.folder / "visits.csv")
    port, postgres = free_port(), free_port()
    house.config.write_text(house.config.read_text().replace(":8000", f":{port}"))
    house = replace(house, url=f"http://127.0.0.1:{port}")
    set_clock(monkeypatch, START)
    with serving(house, postgres=f"127.0.0.1:{postgres}"):
        assert (house.folder / "visits.store").exists()
        with house.client("ana") as ana, house.client("stella") as stella:
            root = "/datasets/people/"
            follow(ana, ana.post(f"{root}streams", json={**ASK, "start": START.isoformat()}))
            set_clock(monkeypatch, TODAY)
            stella.post(f"{root}streams/visits/close").raise_for_status()
        address = _dashboard(house)
        with httpx.Client(base_url=house.url, trust_env=False, timeout=60) as opened:
            page = Person(opened, house, "bob").get(address).text
        assert "visits by week" in page and page.count("<figure>") == 3
        with dp.connect(house.url, token=house.tokens["ana"], dataset="people") as remote:
            axes = remote.streams()["visits"].by("week").plot()
            sums = [sum(line.get_ydata()) for line in axes.lines]
            assert sums == pytest.approx([7 * WEEKS * PER_DAY, 0], abs=2)
            plt.close(axes.get_figure())
            made = remote.dashboard("Daily", [{"stream": "visits", "by": "day"}])
            assert made in remote.dashboards() and len(remote.dashboards()) == 2
        wire = Wire(house, postgres)
        before = wire.psql("SHOW discreet.left").stdout
        done = wire.psql(COUNTED, options="-c discreet.rho=1000")
        rows = dict(line.split("|")[:2] for line in done.stdout.splitlines())
        assert round(float(rows["A"])) in range(7 * WEEKS * PER_DAY, 7 * WEEKS * PER_DAY + 3), done
        # The dashboard paid for it: psql shows the same answer for nothing.
        assert wire.psql("SHOW discreet.left").stdout == before
        with house.client("stella") as stella:
            asked = {"words": {"data_curators": ["City of Example"]}}
            made = stella.post("/datasets/people/record", json=asked).json()
    folder = tmp_path / "record"
    for name, text in made["files"].items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="")
    with dp.open_ledger(house.folder / "people.ledger") as ledger:
        assert ledger.verify() and check_record(folder, ledger)
        kinds = [entry.kind for entry in ledger.history()]
    assert kinds.count("charge") == 2


def set_clock(monkeypatch, day):
    """Let the service's clock say that a day begins."""
    moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
    monkeypatch.setattr(clock, "now", lambda: moment)


def follow(client, reply):
    """Wait for a job and return its reply."""
    while reply.status_code == 202 or reply.json().get("state") in ("waiting", "running"):
        place = reply.headers.get("Location", str(reply.url.path)).removeprefix("/api/v1")
        time.sleep(0.1)
        reply = client.get(place)
    assert reply.status_code == 200, reply.text
    return reply.json()


def _dashboard(house):
    """Let Ana ask, put the answer and the stream on a dashboard, and share it; return its address."""
    with httpx.Client(base_url=house.url, trust_env=False, timeout=60) as opened:
        ana = Person(opened, house, "ana")
        place = ana.asks(COUNTED, "1000", nonnegative="")
        board = ana.post(f"{place}/dashboard", board="new", title="Visits").headers["Location"]
        assert (
            change(ana, board, action="add stream", stream="visits", by="week").status_code == 303
        )
        assert change(ana, board, action="share").status_code == 303
    return board
