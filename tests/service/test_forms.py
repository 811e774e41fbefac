"""Workloads, synthetic tables and models by their forms, without a script: weighed, paid once, taken home, refused."""

from __future__ import annotations

import csv
import io
import json
import re
import time

import numpy as np
import pytest

from discreet.curator.receipt_check import read_receipt
from discreet.learn import LinearRegression
from discreet.learn.stored import model_from_json
from discreet.synthetic.stored import measured_from_json
from discreet.synthetic.synthetic import Synthetic
from service.test_answer_pages import office

TICKED = {"sent": "1", "table": "people", "column age": "1", "column region": "1"}
SYNTHESIS = TICKED | {"bins": "age = 6", "spend": "2", "delta": "1e-7", "why": "try"}
MODEL = TICKED | {"kind": "LinearRegression", "target": "income", "spend": "2", "delta": "1e-7"}
ENDS = ("", "/records.csv", "/tables.json", "/model.json", "/use.py", "/receipt.json")


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    with office(tmp_path_factory.mktemp("forms"), budget='{ epsilon = "50", delta = "1e-5" }') as (
        state,
        enter,
    ):
        ana = enter("ana")
        places = {
            room: makes(ana, room, form)
            for room, form in (("synthesize", SYNTHESIS), ("model", MODEL))
        }
        yield state, enter, ana, places


def mark_of(page):
    return re.search(r'name="mark" value="([^"]+)"', page)[1]


def makes(person, room, form, mark="") -> str:
    """Send a form as a browser without a script does, and look again until there is something to see."""
    place = person.post(f"/{room}/people/run", mark=mark, **form).headers["Location"]
    while "/receipt.json" not in (page := person.get(place).text):
        assert 'role="alert"' not in page, page
        time.sleep(0.02)
    return place


def charges(state):
    return sum(entry.kind == "charge" for entry in state.datasets.ledger("people").history())


def test_both_forms_say_what_it_costs_before_anything_is_spent(opened):
    state, _, ana, _ = opened
    before = charges(state)
    for room, form, said in (
        (
            "synthesize",
            SYNTHESIS | {"column income": "1", "workload": "ones"},
            "expect a total variation of about",
        ),
        ("model", MODEL | {"kind": "KMeans", "count": "3"}, "rows against noise"),
        (
            "model",
            MODEL | {"select": "SELECT age, income FROM people WHERE age > 20"},
            "LinearRegression: 2 columns",
        ),
    ):
        assert f'href="/{room}/people"' in ana.get("/workbench/people").text
        assert "What would be done" in ana.get(f"/{room}/people").text
        page = ana.post(f"/{room}/people", **form).text
        assert said in page and "for this</li>" in page and 'role="alert"' not in page
        assert (
            f'value="{form["spend"]}"' in page and 'name="column region" value="1" checked' in page
        )
        assert (
            "free: made before"
            in ana.post(f"/{room}/people", **(SYNTHESIS if room == "synthesize" else MODEL)).text
        )
    assert charges(state) == before


def test_a_form_that_is_sent_twice_is_charged_once(opened):
    state, _, ana, _ = opened
    before = charges(state)
    form = MODEL | {"spend": "3"}
    mark = mark_of(ana.get("/model/people").text)
    first, again = makes(ana, "model", form, mark), makes(ana, "model", form, mark)
    assert first == again and charges(state) == before + 1
    other = ana.post("/model/people/run", mark=mark, **MODEL, why="other")
    assert other.status_code == 422 and "used for another request" in other.text


def test_synthetic_tables_are_taken_home(opened):
    _, _, ana, places = opened
    place = places["synthesize"]
    page = ana.get(place).text
    assert (
        "expect a total variation" in page
        and "Result as a table: By age" in page
        and "Result as a table: By region" in page
    )
    records = list(csv.DictReader(io.StringIO(ana.get(f"{place}/records.csv").text)))
    assert 200 < len(records) < 800 and set(records[0]) == {"age", "region"}
    assert {row["region"] for row in records} <= {"N", "S", "E", "W", ""}
    taken = json.loads(ana.get(f"{place}/tables.json").text)
    made = Synthetic(measured_from_json(taken["released"]))
    assert (
        made.table("region").to_dict() == taken["tables"][1]["table"] and made.rows == taken["rows"]
    )
    assert f"It cost {read_receipt(ana.get(f'{place}/receipt.json').text).stated_price()}." in page
    compile(ana.get(f"{place}/use.py").text, "use.py", "exec")
    assert ana.get(f"{place}/model.json").status_code == 403


def test_a_model_is_taken_home(opened):
    _, _, ana, places = opened
    place = places["model"]
    page = ana.get(place).text
    model = model_from_json(
        ana.get(f"{place}/model.json").text, {"LinearRegression": LinearRegression}
    )
    assert "It cost (ε, δ) = (" in page  # in the words of the budget, not in μ
    assert "Result as a table: Coefficients" in page and all(
        f"<td>{name}</td>" in page for name in model.columns_
    )
    assert np.isfinite(model.predict({"age": [50], "region": ["N"]})).all()
    assert read_receipt(ana.get(f"{place}/receipt.json").text).number >= 1
    code = ana.get(f"{place}/use.py").text
    compile(code, "use.py", "exec")
    assert (
        "LinearRegression(target='income'" in code
        and "SELECT age, region, income FROM people" in code
    )
    assert place in ana.get("/history").text and place in ana.get("/model/people").text
    assert place not in ana.get("/synthesize/people").text


@pytest.mark.parametrize(
    "kind",
    [
        "AdditiveRegressor",
        "LogisticRegression",
        "GaussianNB",
        "KMeans",
        "PCA",
        "QuantileRegression",
    ],
)
def test_every_kind_of_model_has_a_page(opened, kind):
    _, _, ana, _ = opened
    target = "region" if kind in ("LogisticRegression", "GaussianNB") else "income"
    form = {
        "sent": "1",
        "table": "people",
        "kind": kind,
        "target": target,
        "count": "2",
        "spend": "1",
        "delta": "1e-8",
    }
    page = ana.get(makes(ana, "model", form | {"column age": "1", "column income": "1"})).text
    assert "It cost" in page and "An error happened" not in page


@pytest.mark.parametrize(
    ("room", "form", "said"),
    [
        ("synthesize", SYNTHESIS | {"spend": "500"}, "Spend less, or ask your steward for more"),
        ("synthesize", {"sent": "1", "table": "people"}, "Choose at least one column"),
        ("synthesize", SYNTHESIS | {"bins": "region = 3"}, "which has no bins"),
        ("synthesize", SYNTHESIS | {"bins": "age"}, "must be a whole number"),
        ("synthesize", SYNTHESIS | {"table": "wards"}, "Choose one of the tables people"),
        ("synthesize", SYNTHESIS | {"select": "SELECT ward FROM wards"}, "public"),
        ("synthesize", SYNTHESIS | {"delta": "0"}, "Gaussian noise"),
        ("model", MODEL | {"spend": "none"}, "must be a finite number"),
        ("model", MODEL | {"target": "nobody"}, "nobody"),
        ("model", MODEL | {"target": ""}, "Choose the column that the model predicts"),
        ("model", MODEL | {"kind": "Oracle"}, "Its kind is one of"),
        ("model", MODEL | {"select": "SELECT age FROM people GROUP BY"}, "SELECT age FROM people"),
    ],
)
def test_refused_on_the_page_and_nothing_spent(opened, room, form, said):
    state, _, ana, _ = opened
    before = charges(state)
    asked, run = ana.post(f"/{room}/people", **form), ana.post(f"/{room}/people/run", **form)
    assert run.status_code in (402, 409, 422)
    assert all('role="alert"' in page.text and said in page.text for page in (asked, run)), run.text
    assert charges(state) == before


def test_a_ledger_of_pure_epsilon_says_why_not(tmp_path):
    with office(tmp_path) as (_, enter):
        ana = enter("ana")
        for room in ("synthesize", "model"):
            assert "Gaussian" in ana.get(f"/{room}/people").text


def test_nothing_of_a_colleague_is_seen(opened):
    _, enter, ana, places = opened
    for place in places.values():
        unknown = place[:-3] + "xyz"
        for who in ("bob", "stella"):
            other = enter(who)
            for end in ENDS:
                mine, never = other.get(place + end), other.get(unknown + end)
                assert (mine.status_code, mine.text) == (403, never.text)
            assert other.post(f"{place}/cancel").status_code == 403
            assert not any(
                place in other.get(list_).text
                for list_ in ("/model/people", "/synthesize/people", "/history")
            )
    assert "free: made before" not in enter("bob").post("/model/people", **MODEL).text
    assert (
        ana.get(f"/answers/{places['model'].rpartition('/')[2]}").status_code == 403
    )  # that page is of answers
    assert enter("sid").get("/model/people").status_code == 403  # these data are not hers


def test_an_answer_of_several_tables_shows_each_by_itself(opened):
    _, _, ana, _ = opened
    place = "/workbench/people?by=region&and=age&tables=pairs"
    sql = re.search(r"<textarea[^>]*>([^<]+)</textarea>", ana.get(place).text)[1]
    page = ana.get(ana.asks(sql, "1")).text
    assert [
        f"<h3>{title}</h3>" in page
        for title in ("All together", "By region", "By age", "By region, age")
    ] == [True] * 4
    assert "NULL" not in page.partition("<h3>")[2].partition("The question")[0]
    assert "n by region</figcaption>" in page and "n by age</figcaption>" in page
    assert ana.get(re.search(r'href="(/answers/[^"]+chart-2.svg)"', page)[1]).text.startswith(
        "<svg"
    )
