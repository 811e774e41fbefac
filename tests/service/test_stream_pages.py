"""Pages of standing reports: a line with its band, by every unit of time; stewards close and stop."""

from __future__ import annotations

import re

import pytest

from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.state import open_state
from service.inside import inside
from service.test_streams import Service, deploy, set_day


class Pages:
    """Signed-in browsers of several people, without a script."""

    def __init__(self, house, client):
        self._house = house
        self._client = client

    def __call__(self, who, path, form=None, **headers):
        sent = {"Origin": self._house.url, **headers}
        token = {"token": self._house.tokens[who]}
        signed = self._client.request("POST", "/sign-in", data=token, headers=sent)
        sent["Cookie"] = signed.headers["Set-Cookie"].partition(";")[0]
        if form is None:
            return self._client.request("GET", path, headers=sent)
        page = self._client.request("GET", "/streams/people", headers=sent).text
        # The form to sign out has the same token.
        form = {**form, "csrf": re.search(r'name="csrf" value="([^"]+)"', page)[1]}
        return self._client.request("POST", path, data=form, headers=sent)


@pytest.fixture
def pages(tmp_path, monkeypatch):
    set_day(monkeypatch, 0)
    house = deploy(tmp_path)
    config = read_config(house.config)
    state = open_state(config)
    with inside(build_app(config, state), house.url) as client:
        yield Pages(house, client), Service(house, client, state)


def test_a_stream_by_every_unit_of_time(pages, monkeypatch):
    page, service = pages
    empty = page("ana", "/streams")
    assert empty.status_code == 200 and "No stream is open here" in empty.text
    service.open()
    assert "No day is closed yet" in page("ana", "/streams/people").text
    set_day(monkeypatch, 9)
    service.state.streams.close_due()
    assert page("ana", "/streams").headers["Location"] == "/streams/people"
    for kind, rows in [("day", 18), ("week", 4), ("total", 18)]:
        found = page("ana", f"/streams/people?stream=visits&by={kind}")
        assert found.status_code == 200, found.text
        assert found.text.count("<tr>") == 1 + rows and "9 of 40 days closed" in found.text
        # A line and its band for each ward, with words for those who do not see them.
        assert found.text.count("<svg") == 2
        # Two weeks are no line.
        assert ("in a band whose points hold" in found.text) == (kind != "week")
        assert "Stop this stream" not in found.text and "data-poll" not in found.text
    assert '<a href="/streams" aria-current="page">Streams</a>' in found.text
    part = page("ana", "/streams/people?stream=visits&by=week", **{"X-Piece": "1"}).text
    assert "<html" not in part and "Table of sums by week" in part
    set_day(monkeypatch, 11)
    assert "2 overdue" in page("ana", "/streams/people").text
    assert "data-poll" in page("ana", "/streams/people").text
    for path, status in [
        ("/streams/people?by=hour", 200),
        ("/streams/people?stream=more", 422),
        ("/streams/nowhere", 403),
    ]:
        found = page("ana", path)
        assert found.status_code == status and "<table" not in found.text
    assert "shown by one of day, week" in page("ana", "/streams/people?by=hour").text


def test_stewards_close_and_stop(pages, monkeypatch):
    page, service = pages
    service.open()
    set_day(monkeypatch, 3)
    for what in ("close", "stop"):
        assert page("ana", f"/streams/people/visits/{what}", {"why": "no"}).status_code == 403
        # A steward of another data set.
        assert page("sid", f"/streams/people/visits/{what}", {"why": "no"}).status_code == 403
    assert "Close what is due" in page("stella", "/streams/people").text
    closed = page("stella", "/streams/people/visits/close", {})
    assert closed.headers["Location"] == "/streams/people?stream=visits"
    assert "3 of 40 days closed" in page("ana", "/streams/people").text
    assert page("stella", "/streams/people/visits/stop", {"why": " "}).status_code == 422
    assert page("stella", "/streams/people/visits/stop", {"why": "it ended"}).status_code == 303
    stopped = page("stella", "/streams/people").text
    assert "; stopped" in stopped and "Close what is due" not in stopped
    [entry] = service.state.datasets.ledger("people").history(kinds=["stop"])
    assert entry.why == "it ended"
    service.state.datasets.ledger("people").verify()
