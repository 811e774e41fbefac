"""The page of an answer: whose it is, what can be taken home from it, and that it stays."""

from __future__ import annotations

import csv
import io
import json
import re
import time
from contextlib import contextmanager
from pathlib import Path

import duckdb
import httpx
import pytest

from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.jobs.job_store import KEPT_SECONDS
from discreet.service.pages.charts.drawing import LOOKS, drawing
from discreet.service.pages.downloads.files import answer_parquet
from discreet.service.pages.downloads.question_code import fields_of, sql_code
from discreet.service.state import open_state
from discreet.wire.json_text import write_json
from service.deployment import build
from service.inside import inside

SQL = "SELECT region, COUNT(*) AS n, AVG(income) AS income\nFROM people\nGROUP BY region"
FILES = (
    "",
    "/table.csv",
    "/table.parquet",
    "/receipt.json",
    "/question.py",
    "/question.sql",
    "/chart-1.svg",
)


class Person:
    """Somebody at the pages: their cookie and their second secret."""

    def __init__(self, opened, deployment, who):
        self.opened, self.url = opened, deployment.url
        reply = opened.request(
            "POST",
            "/sign-in",
            data={"token": deployment.tokens[who]},
            headers={"Origin": deployment.url},
        )
        self.heads = {
            "Cookie": reply.headers["Set-Cookie"].partition(";")[0],
            "Origin": deployment.url,
        }
        self.csrf = re.search(r'name="csrf" value="([^"]+)"', self.get("/history").text)[1]

    def get(self, path) -> httpx.Response:
        return self.opened.request("GET", path, headers=self.heads)

    def post(self, path, **form) -> httpx.Response:
        return self.opened.request(
            "POST", path, data={"csrf": self.csrf, **form}, headers=self.heads
        )

    def asks(self, sql=SQL, spend="1/3", **ticks) -> str:
        """Run a question to its end; return the address of its page."""
        form = {"sql": sql, "spend": spend, "nonnegative": "1", **ticks}
        place = self.post("/workbench/people/run", **form).headers["Location"]
        while "/table.csv" not in self.get(place).text:
            time.sleep(0.02)
        return place


@contextmanager
def office(folder, **options):
    """A service without a network, its state, and a way to let people in."""
    deployment = build(folder, service='grid = "0.05"', **options)
    config = read_config(deployment.config)
    state = open_state(config)
    with inside(build_app(config, state), deployment.url) as opened:
        yield state, lambda who: Person(opened, deployment, who)


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    with office(tmp_path_factory.mktemp("office")) as (state, enter):
        ana = enter("ana")
        yield state, enter, ana, ana.asks()


@pytest.fixture
def held(opened):
    """An office where Ana has one answer and nothing saved."""
    opened[0].store.ask("DELETE FROM discreet_saved")
    return opened


def test_what_is_taken_home_is_the_answer(held, tmp_path):
    _, _, ana, place = held
    table = list(csv.DictReader(io.StringIO(ana.get(f"{place}/table.csv").text)))
    (tmp_path / "a.parquet").write_bytes(ana.get(f"{place}/table.parquet").content)
    columns = duckdb.sql(f"DESCRIBE SELECT * FROM '{tmp_path}/a.parquet'").fetchall()
    assert {one[0]: one[1] for one in columns} == {
        "region": "VARCHAR", **{f"{c}{e}": "DOUBLE" for c in ("n", "income") for e in ("", "_low", "_high")}
    }  # fmt: skip
    rows = duckdb.sql(f"SELECT * FROM '{tmp_path}/a.parquet'").fetchall()
    assert [tuple(map(str, row)) for row in rows] == [tuple(row.values()) for row in table]
    assert ana.get(f"{place}/question.sql").text.splitlines()[1:] == SQL.splitlines()
    picture = ana.get(f"{place}/chart-2.svg").text
    assert (
        picture.startswith("<svg")
        and 'xmlns="http://www.w3.org/2000/svg"' in picture
        and "class=" not in picture
    )
    assert ana.get(f"{place}/chart-3.svg").status_code == 403
    assert "attachment" in ana.get(f"{place}/chart-1.svg").headers["Content-Disposition"]


def test_a_tick_shows_the_population_for_free(held):
    _, _, ana, place = held
    assert "± is noise only" in ana.get(place).text
    wide = ana.asks(population="1")
    page = ana.get(wide).text
    assert "± includes sampling" in page and "if these rows are a random sample" in page
    tables = []
    for address in (place, wide):
        table = csv.DictReader(io.StringIO(ana.get(f"{address}/table.csv").text))
        tables.append(list(table))
    for narrow, row in zip(*tables, strict=True):
        assert narrow["income"] == row["income"]
        assert float(row["income_low"]) < float(narrow["income_low"])
    link = re.search(r'href="(/workbench/people\?[^"]+)"', page)[1].replace("&amp;", "&")
    assert 'name="population" value="1" checked' in ana.get(link).text
    assert "print(answer.about('population'))" in ana.get(f"{wide}/question.py").text
    refused = ana.post(
        "/workbench/people/run",
        sql="SELECT MEDIAN(age) AS m FROM people",
        spend="1/3",
        population="1",
    )
    assert refused.status_code == 422 and "COUNT, SUM or AVG" in refused.text


def test_the_page_says_what_was_asked_and_leads_back_to_it(held):
    _, _, ana, place = held
    page = ana.get(place).text
    assert "<h1>people: n, income by region</h1>" in page and "dp.PureDP(&#39;1/3&#39;)" in page
    link = re.search(r'href="(/workbench/people\?[^"]+)"', page)[1].replace("&amp;", "&")
    again = ana.get(f"{link}&answer={place.rpartition('/')[2]}").text
    assert SQL in again and 'value="1/3"' in again and "free: answered before" in again
    assert again.count("Answer as a table") == 1  # the answer is there after a reload too
    assert "Answer as a table" not in ana.get(f"{link}&answer=nowhere").text


def test_nothing_of_a_colleague_is_seen(held):
    _, enter, ana, place = held
    assert ana.post(f"{place}/save", name="My secret plan").headers["Location"] == place
    unknown = place[:-3] + "xyz"
    other = enter("bob")
    for end in FILES:
        mine, never = other.get(place + end), other.get(unknown + end)
        assert (mine.status_code, mine.text) == (403, never.text.replace("xyz", place[-3:]))
    assert other.post(f"{place}/save", name="x").status_code == 403
    asked = other.get(f"/workbench/people?answer={place.rpartition('/')[2]}").text
    assert asked.count("<table>") == 1  # its plan
    assert "secret plan" not in other.get("/history").text + other.get("/workbench/people").text
    [saved] = re.findall(r"/saved/([\w-]+)/forget", ana.get("/history").text)
    assert enter("bob").post(f"/saved/{saved}/forget").status_code == 403
    assert "<h1>My secret plan</h1>" in ana.get(place).text
    assert ana.post(f"/saved/{saved}/forget", back="//elsewhere.example").headers["Location"] == "/"
    assert "secret plan" not in ana.get("/history").text + ana.get(place).text


class TestLinks:
    """A link to an answer opens for stewards of its data set, and for nobody else by itself."""

    def test_by_rights(self, held):
        state, enter, ana, place = held
        ana.post(f"{place}/save", name="My secret plan")
        stella, sid = enter("stella"), enter("sid")
        for end in FILES:
            assert stella.get(place + end).status_code == 200, end
            # A steward of other data.
            assert sid.get(place + end).status_code == 403, end
        shown = stella.get(place).text
        assert "Asked by ana." in shown and "secret plan" not in shown
        assert "only stewards of people can open it" in ana.get(place).text
        assert stella.get(f"{place}/table.csv").text == ana.get(f"{place}/table.csv").text
        # To open is not to own: what an asker does with an answer stays hers.
        assert stella.post(f"{place}/cancel").status_code == 403
        assert stella.post(f"{place}/dashboard", board="new", title="Hers").status_code == 403
        log = Path(state.config.log).read_text(encoding="utf-8")
        opened = [json.loads(line) for line in log.splitlines() if '"open answer"' in line]
        assert {(line["who"], line["dataset"]) for line in opened} == {("stella", "people")}

    def test_only_what_its_asker_was_shown(self, held):
        state, enter, _, _ = held
        words = {"sql": SQL.replace("COUNT(*)", "SUM(nothing)"), "spend": {"epsilon": "1/50"}}
        refused = state.jobs.put("ana", "people", "sql", write_json(words), "")
        end = time.monotonic() + 30
        while not state.jobs.view(state.jobs.job_store.get(refused.id))[0]:
            assert time.monotonic() < end
            time.sleep(0.05)
        assert enter("stella").get(f"/answers/{refused.id}").status_code == 403


def test_where_questions_are_shared_so_are_answers_but_not_names(tmp_path):
    with office(tmp_path, dataset="share_questions = true") as (_, enter):
        ana, bob, sid = map(enter, ("ana", "bob", "sid"))
        place = ana.asks()
        ana.post(f"{place}/save", name="My secret plan")
        shown = bob.get(place).text
        assert "Asked by a colleague" in shown and "secret plan" not in shown
        assert bob.get(f"{place}/table.csv").text == ana.get(f"{place}/table.csv").text
        assert bob.post(f"{place}/cancel").status_code == 403
        assert sid.get(place).status_code == 403  # these data are not hers


def test_questions_are_saved_as_they_stand(held):
    _, _, ana, _ = held
    form = {
        "sql": "SELECT <b> half of it",
        "mode": "error",
        "error": "n = 5",
        "spend": "1/7",
        "nonnegative": "1",
    }
    back = ana.post("/workbench/people/save", name="half & <b>", **form).headers["Location"]
    page = ana.get(back).text
    assert (
        "SELECT &lt;b&gt; half of it" in page
        and 'value="n = 5"' in page
        and "half &amp; &lt;b&gt;" in page
    )
    assert page.count("checked") == 2 and 'value="error" checked' in page
    first = re.findall(r"/saved/([\w-]+)/forget", ana.get("/history").text)
    ana.post("/workbench/people/save", name="half & <b>", **form | {"sql": "SELECT another"})
    assert (
        re.findall(r"/saved/([\w-]+)/forget", ana.get("/history").text) == first
    )  # a name means one question
    assert "SELECT+another" in ana.get("/history").text
    for name in ("", " ", "a" * 101, "a\nb"):
        assert ana.post("/workbench/people/save", name=name, **form).status_code == 422
    assert ana.post("/workbench/people/save", name="long", sql="x" * 30_000).status_code == 422
    assert ana.post("/workbench/other/save", name="not hers", **form).status_code == 403


def test_answers_stay_and_what_was_refused_goes(held, monkeypatch):
    state, _, ana, place = held
    newer = ana.asks("SELECT COUNT(*) AS n FROM people WHERE age > 3", "1/9")
    body = '{"sql":"SELECT COUNT(*) AS n FROM people","spend":{"epsilon":"1000"}}'
    refused = state.jobs.put("ana", "people", "sql", body)
    made = state.jobs.put(
        "ana",
        "people",
        "suggest_bounds",
        '{"table":"people","column":"income","spend":{"epsilon":"1/9"}}',
    )
    while state.jobs.job_store.get(made.id).open:
        time.sleep(0.02)
    while state.jobs.job_store.get(refused.id).open:
        time.sleep(0.02)
    state.store.ask("UPDATE discreet_jobs SET finished = finished - ?", 2 * KEPT_SECONDS)
    state.jobs.job_store.forget()
    assert (
        state.jobs.job_store.get(refused.id) is None
        and state.jobs.job_store.get(made.id).state == "done"
    )
    assert ana.get(place).status_code == ana.get(newer).status_code == 200
    ana.post(f"{place}/save", name="kept")
    monkeypatch.setattr("discreet.service.jobs.job_store.KEPT_ANSWERS", 0)
    state.jobs.job_store.forget()
    assert ana.get(place).status_code == 200  # it has a name
    assert ana.get(newer).status_code == 403


def test_what_does_not_fit_is_refused_with_what_would_fit(held):
    state, _, ana, _ = held
    before = state.datasets.ledger("people").spent()
    form = {"sql": "SELECT COUNT(*) AS n FROM people", "spend": "500"}
    refused = ana.post("/workbench/people/run", **form)
    words = r"It costs ε = 500, and ε = [\d./]+ is left\.</p>\s*<p class=\"soft\">For ε = [\d./]+ it would be off: n by ± 0"
    assert refused.status_code == 409 and re.search(words, refused.text)
    assert re.search(words, ana.post("/workbench/people", **form).text)
    assert state.datasets.ledger("people").spent() == before


class TestCode:
    """What the page writes is read back as the same question."""

    @pytest.mark.parametrize(
        ("spend", "field"),
        [
            ({"mu_squared": "1/9"}, "1/3"),
            ({"mu": "2"}, "2"),
            ({"rho": "1/7"}, "1/7"),
            ({"epsilon": "2"}, "2"),
        ],
    )
    def test_amounts_of_all_measures(self, spend, field):
        body = f'{{"sql": "SELECT 1", "spend": {str(spend).replace(chr(39), chr(34))}}}'
        assert fields_of(body)["spend"] == field
        assert next(iter(spend.values())) in sql_code("x", body) or "GaussianDP('1/3')" in sql_code(
            "x", body
        )

    def test_what_made_a_question_free_is_in_its_code(self):
        """Without `within` and `reuse` the same question would be charged anew."""
        body = '{"sql": "SELECT 1", "spend": {"epsilon": "1"}, "within": "3/2", "reuse": false}'
        assert "within=1.5" in sql_code("x", body) and "reuse=False" in sql_code("x", body)

    def test_types_and_names_of_any_table(self, tmp_path):
        columns = [{"name": name, "noisy": False} for name in ('a"', 'A"', "flag", "long", "none")]
        reply = {
            "columns": columns,
            "rows": [[1, "x'", True, 2**70, None]],
            "intervals": [[None] * 5],
        }
        (tmp_path / "t.parquet").write_bytes(answer_parquet(reply))
        found = duckdb.sql(f"SELECT * FROM '{tmp_path}/t.parquet'")
        assert found.columns == ['a"', 'A"_2', "flag", "long", "none"]
        assert found.fetchall() == [(1, "x'", True, float(2**70), None)]

    def test_every_part_of_a_chart_has_a_look_of_its_own(self, held):
        _, _, ana, place = held
        shown = ana.get(place).text
        used = {kind for part in re.findall(r'<svg class="chart answer.*?</svg>', shown, re.DOTALL)
                for kind in re.findall(r'class="([\w -]+)"', part)}  # fmt: skip
        assert used - {"chart answer"} <= set(LOOKS)
        assert drawing('<svg class="chart"><path class="odd"/></svg>').endswith(
            'fill="#ffffff"/><path/></svg>'
        )


def test_the_where_that_leaves_out_rows_without_a_listed_group_is_offered(held):
    """One click writes it, where it changes a number: totals that count rows without a region."""
    _, _, ana, _ = held
    cube = "SELECT region, COUNT(*) AS n FROM people GROUP BY CUBE (region)"
    page = ana.post("/workbench/people/explain", sql=cube, spend="1").text
    offered = re.search(r'data-example="([^"]+)">Leave out rows without a listed group', page)[1]
    assert "WHERE region IS NOT NULL\nGROUP BY" in offered
    for sql in (offered, "SELECT region, COUNT(*) AS n FROM people GROUP BY region"):
        page = ana.post("/workbench/people/explain", sql=sql, spend="1").text
        assert "± " in page and "Leave out rows" not in page
