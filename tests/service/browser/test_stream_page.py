"""The standing report of the demo in a browser: nothing for axe to complain of, light, and it moves."""

from __future__ import annotations

import socket
from dataclasses import dataclass

import pytest
from playwright.sync_api import expect

from discreet.service.demo import Sample, make_demo
from service.deployment import serving

from .conftest import sign_in
from .test_looks import LOADED, MAX_BYTES, look


@dataclass(frozen=True)
class Demo:
    """A running demo service, and the tokens of its two users."""

    url: str
    made: Sample


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    made = make_demo(tmp_path_factory.mktemp("demo"), url)
    with serving(made, port=port):
        yield Demo(url, made)


def test_a_stream_moves_in_front_of_its_visitor(demo, window, axe):
    page = window(bypass_csp=True)
    sign_in(page, demo, demo.made.analyst)
    page.get_by_role("link", name="Streams", exact=True).click()
    expect(page.locator("svg.chart .band")).to_have_count(3)
    expect(page.get_by_text("of 365 days closed")).to_be_visible()
    before = page.locator("#sums-title + nav, #sums-title").first.text_content()
    closed = page.get_by_text("of 365 days closed").text_content()
    # Without a reload: the page asks again while days are overdue.
    expect(page.get_by_text(closed)).to_have_count(0, timeout=60_000)
    assert page.locator("#sums-title").text_content() == before
    look(page, axe, "stream")
    for kind in ("week", "month", "year", "total"):
        page.goto(f"{demo.url}/streams/visits?by={kind}", wait_until="networkidle")
        expect(page.get_by_role("region", name=f"Table of sums by {kind}")).to_be_visible()
        size = sum(size for _, size in page.evaluate(LOADED))
        assert size <= MAX_BYTES, f"by {kind} loads {size} bytes"


@pytest.mark.slow
def test_without_a_script_and_as_a_steward(demo, window, axe):
    page = window(java_script_enabled=False)
    sign_in(page, demo, demo.made.steward)
    page.goto(f"{demo.url}/streams/visits?by=week")
    expect(page.locator("svg.chart .line")).to_have_count(3)
    page.get_by_role("link", name="month").click()
    expect(page.get_by_role("heading", name="By month")).to_be_visible()
    expect(page.get_by_role("button", name="Close what is due")).to_be_visible()
    steward = window(bypass_csp=True)
    sign_in(steward, demo, demo.made.steward)
    steward.goto(f"{demo.url}/streams/visits")
    steward.get_by_text("Stop this stream").click()
    look(steward, axe, "stream-steward")
    # Reading each day ends at a tick of the grid: sixty days take a while.
    steward.get_by_role("button", name="Close what is due").click(timeout=120_000)
    expect(steward.get_by_text("150 of 365 days closed")).to_be_visible(timeout=120_000)
    steward.get_by_text("Stop this stream").click()
    steward.get_by_label("Why; the ledger keeps it").fill("an example")
    steward.get_by_role("button", name="Stop", exact=True).click()
    expect(steward.get_by_text("; stopped")).to_be_visible()
