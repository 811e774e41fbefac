"""Every page of the demo, from the table of routes, in all looks: a page that is added cannot be forgotten."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import expect
from starlette.routing import Route

from discreet.service.pages.routes import routes
from discreet.service.stores.dashboards import Dashboards
from discreet.wire.json_text import write_json as write

from .conftest import enter
from .test_looks import LOADED, MAX_BYTES, look

ASKED = "/workbench/census?by=sex&spend=0.05"
PAGES = {
    "/sign-in": ("", "/sign-in"),
    "/learn": ("", "/learn"),
    "/telemetry": ("", "/telemetry"),
    "/documents/{page:path}": ("", "/documents/explanation/privacy.html"),
    "/docs": ("", "/docs"),
    "/{rest:path}": ("", "/nowhere"),
    "/workbench/{dataset}": ("analyst", ASKED),
    "/answers/{job}": ("analyst", "/answers/{answer}"),
    "/history": ("analyst", "/history"),
    "/dashboards": ("analyst", "/dashboards"),
    "/dashboards/{board}": ("steward", "/dashboards/{board}"),
    "/dashboards/{board}/edit": ("steward", "/dashboards/{board}/edit"),
    "/dashboards/{board}/refresh": ("steward", "/dashboards/{board}/refresh"),
    "/synthesize/{dataset}": ("analyst", "/synthesize/census"),
    "/model/{dataset}": ("analyst", "/model/census"),
    "/made/{job}": ("analyst", "/made/{made}"),
    "/streams/{dataset}": ("analyst", "/streams/visits"),
    "/steward": ("steward", "/steward"),
    "/steward/{dataset}": ("steward", "/steward/census"),
    "/steward/{dataset}/record": ("steward", "/steward/census/record"),
    "/steward/{dataset}/intake": ("steward", "/steward/census/intake"),
    "/people": ("steward", "/people"),
}
"""For each page a role and an address; names in braces are made by `full`."""
PYTHON = {"/made/{job}", "/learn", "/learn/{lesson}", "/documents/{page:path}", "/docs"}
"""Pages about the library itself."""
EXCUSED = {"/{rest:path}": 404}
"""Pages that say that there is nothing."""
NO_PAGES = {"/", "/workbench", "/streams", "/sign-in/provider", "/sign-in/callback",
            "/telemetry/shown", "/learn/{lesson}", "/dashboards/{board}/dashboard.html"}  # fmt: skip
"""Paths of GET that lead elsewhere, or give a part or a file."""
FOCUSED = """() => {
  const one = document.activeElement;
  const style = getComputedStyle(one);
  return one === document.body ? "" : one.outerHTML.slice(0, 120) +
    (style.outlineStyle !== "none" || style.boxShadow !== "none" || one.matches("main") ? "" : " UNSEEN");
}"""
NAMELESS = """() => [...document.querySelectorAll("a, button, input, select, textarea, summary, [tabindex]")]
  .filter((one) => one.checkVisibility() && one.type !== "hidden")
  .filter((one) => !(one.innerText || one.labels?.length || one.ariaLabel || one.title
    || one.getAttribute("aria-labelledby")))
  .map((one) => one.outerHTML.slice(0, 120))"""


@pytest.fixture(scope="module")
def full(demo):
    """Something on every page: an answer, synthetic tables, the shared dashboard."""
    jobs = demo.state.jobs
    asked = {
        "sql": "SELECT CASE WHEN age < 40 THEN 'under 40' ELSE '40 and over' END AS ages, sex, "
        "COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY ages, sex"
    }
    spend = {"epsilon": "1/5", "delta": "1e-7"}
    answer = jobs.put("ana", "census", "sql", write({**asked, "spend": spend}), "asked")
    words = {"table": "people", "columns": ["sex", "married"], "workload": "pairs", "spend": spend}
    made = jobs.put("ana", "census", "synthesize", write(words), "made")
    end = time.monotonic() + 60
    while time.monotonic() < end and not all(
        jobs.view(jobs.job_store.get(one.id))[0] for one in (answer, made)
    ):
        time.sleep(0.1)
    [board] = Dashboards(demo.state.store).of("stella")
    return {"answer": answer.id, "made": made.id, "board": board.id}


def pages_of(state):
    """Return the paths of GET that answer with a page, in the order of the table of routes."""
    paths = [
        route.path
        for route in routes(state)
        if isinstance(route, Route) and "GET" in route.methods and route.path not in NO_PAGES
    ]
    return [path for path in dict.fromkeys(paths) if "." not in path.rpartition("/")[2]]


def test_no_page_is_forgotten(demo):
    assert set(pages_of(demo.state)) == set(PAGES)


REACHABLE = """() => [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")]
  .filter((one) => one.checkVisibility() && !one.disabled && one.type !== "hidden").length"""


def open_page(page, demo, full, path):
    """Open a page as who may, with the names of what is on it."""
    who, address = PAGES[path]
    address = address.format(**full)
    if who:
        enter(page, demo, getattr(demo, who), address)
    else:
        page.goto(f"{demo.url}{address}")
    page.wait_for_load_state("networkidle")


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES)
def test_page(demo, full, window, axe, path):
    page = window(bypass_csp=True, excused=(EXCUSED.get(path, 0),))
    open_page(page, demo, full, path)
    if path not in EXCUSED:
        expect(page.locator("main .refusal")).to_have_count(0)
        expect(page.locator("h1")).to_have_count(1)
    loaded = page.evaluate(LOADED)
    assert all(url.startswith(demo.url) for url, _ in loaded)
    assert sum(size for _, size in loaded) <= MAX_BYTES
    assert page.locator("script:not([src]), style, [style], [onclick]").count() == 0
    assert page.evaluate(NAMELESS) == []
    said = page.locator("body").inner_text()
    if path not in PYTHON:
        assert not re.search(r"\bdp\.\w|ApproxDP|PureDP|GaussianDP|ZCDP|Fraction|None\b", said)
    look(page, axe, "page" + re.sub(r"\W+", "-", path))


@pytest.mark.slow
@pytest.mark.parametrize("path", PAGES)
def test_every_control_is_reached_and_seen(demo, full, window, path):
    """The Tab key stops at every link, button and field that can be seen, and each shows that it has the focus."""
    page = window(excused=(EXCUSED.get(path, 0),))
    open_page(page, demo, full, path)
    wanted = page.evaluate(REACHABLE)
    found = []
    for _ in range(wanted + 5):
        page.keyboard.press("Tab")
        one = page.evaluate(FOCUSED)
        if not one:
            break
        found.append(one)
    assert not [one for one in found if one.endswith("UNSEEN")]
    assert len(set(found)) >= min(wanted, 1)
