"""A browser randomizes, the server collects, the estimate moves; nothing comes from another host."""

from __future__ import annotations

import re
from urllib.parse import parse_qs

from playwright.sync_api import expect

from .conftest import screen


def test_a_browser_sends_real_reports_and_the_estimate_moves(town, window):
    page = window()
    hosts, bodies = set(), []
    page.on("request", lambda request: hosts.add(re.match(r"https?://[^/]+", request.url)[0]))
    page.on(
        "request",
        lambda request: bodies.append(request.post_data) if request.method == "POST" else None,
    )
    page.goto(f"{town.url}/telemetry")
    before = int(
        page.locator("#telemetry-shown dd").first.inner_text()
    )  # another test may have sent some already
    page.get_by_label("by bicycle").check()
    page.get_by_role("button", name="Randomize and send").click()
    expect(page.locator("#telemetry-shown dd").first).to_have_text(str(before + 1))
    assert (
        page.locator("#sent")
        .inner_text()
        .startswith('{"v":1,"metric":"how people came here","params":"')
    )
    for count in (201, 401, 601):
        page.get_by_role("button", name="Send for 200 made-up people").click()
        expect(page.locator("#telemetry-shown dd").first).to_have_text(str(before + count))
    expect(page.locator("#telemetry-shown tbody tr")).to_have_count(4)
    screen(page, "telemetry")
    assert hosts == {town.url}
    sent = parse_qs(bodies[0])
    assert "by bicycle" not in str(sent)  # the answer stays on the device
    assert set(sent) <= {"csrf", "reports"}


def test_a_phone_sees_what_others_sent(town, window):
    page = window("phone", "dark")
    page.goto(f"{town.url}/telemetry")
    before = int(page.locator("#telemetry-shown dd").first.inner_text())
    other = window()
    other.goto(f"{town.url}/telemetry")
    other.get_by_role("button", name="Randomize and send").click()
    expect(page.locator("#telemetry-shown dd").first).to_have_text(str(before + 1))
    screen(page, "telemetry-phone")
