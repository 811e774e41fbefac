"""Walk of a web analyst who knows no SQL, in the demo: an answer, a picture, a name, a dashboard, a colleague.

| step | before | now |
|---|---|---|
| first answer | SQL, folded away | two clicks |
| sharing | none | a dashboard for colleagues, a link for the steward |
| words | `dp.ApproxDP`, codes 0 and 1 | ε and δ, man and woman |
"""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.sync_api import expect

from discreet.service.http.rate_limit import TokenBuckets

from .conftest import enter, screen, sign_in
from .test_asking_without_sql import choose

PYTHON_WORDS = re.compile(r"\bdp\.\w|ApproxDP|PureDP|SELECT")


def said(page):
    """Return all words of a page but those of details that are shut."""
    return page.locator("main").inner_text()


@pytest.mark.slow
def test_from_a_question_to_colleagues(demo, window):
    page = window()
    sign_in(page, demo, demo.analyst)
    choose(page, "I want to know", "mean")
    choose(page, "of", "income")
    choose(page, "for each", "sex")
    expect(page.locator("#explained .price")).to_contain_text("Costs")
    assert not PYTHON_WORDS.search(said(page))
    page.get_by_role("button", name="Run", exact=True).click()
    table = page.get_by_role("region", name="Answer as a table", exact=True)
    expect(table.get_by_role("row")).to_have_count(3)
    expect(table).to_contain_text("woman")
    expect(page.locator("#answer .said")).to_contain_text("Income in dollars")
    page.get_by_role("link", name="Open its page").click()
    link = page.url
    page.get_by_label("Title").fill("Incomes")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("h1")).to_have_text("Incomes")
    page.get_by_role("link", name="Change or share").click()
    page.get_by_role("button", name=re.compile("Share")).click()
    expect(page.locator("main")).to_contain_text("Everybody who may ask about census")
    board = page.url
    steward = window("phone", "dark")
    enter(steward, demo, demo.steward, board.removeprefix(demo.url))
    expect(steward.locator("main svg").first).to_be_visible()
    screen(steward, "walk-shared-dashboard-phone-dark")
    # The address of the answer opens for her too.
    steward.goto(link)
    expect(steward.locator("main")).to_contain_text("Asked by ana.")
    expect(steward.locator("#answer .said")).to_contain_text("Income in dollars")


@pytest.mark.slow
def test_every_link_of_the_demo_opens(demo, window, monkeypatch):
    """All addresses that pages of both roles link to, from the menu and the lessons on, are there."""
    # Hundreds of pages in a minute are more than one person may open.
    monkeypatch.setattr(TokenBuckets, "wait", lambda *_: 0.0)
    broken, read = {}, 0
    for who in ("analyst", "steward"):
        page = window()
        enter(page, demo, getattr(demo, who), "/")
        waiting, seen = ["/"], set()
        while waiting:
            address = waiting.pop()
            # One address of each path is enough: the others differ by the question alone.
            path = re.split(r"[?#]", address)[0]
            if path in seen:
                continue
            seen.add(path)
            reply = page.request.get(f"{demo.url}{address}")
            read += 1
            if reply.status != 200:
                broken[address] = reply.status
            elif reply.headers["content-type"].startswith("text/html"):
                links, missing = links_of(path, reply.text())
                waiting += links
                broken |= {f"{path}{one}": "no such place" for one in missing}
    assert broken == {} and read > 100


def links_of(path, page):
    """Return the addresses of this service that a page links to, and the places in it that are not there."""
    marks = set(re.findall(r'id="([^"]+)"', page))
    links, missing = [], []
    for found in re.findall(r'<a [^>]*href="([^"]+)"', page):
        link = unescape(found)
        if link.startswith("#"):
            missing += [link] if link[1:] not in marks else []
        elif not urlsplit(link).scheme:
            links.append(urljoin(path, link))
    return links, missing
