"""Dashboards: whose answers stand on them, who may open them, what asking again costs, one file to publish."""

from __future__ import annotations

import json
import re
import time
from contextlib import ExitStack
from fractions import Fraction
from html import unescape
from pathlib import Path

import pytest

from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.jobs import job_store
from discreet.service.jobs.job_store import KEPT_SECONDS
from discreet.service.state import open_state
from service.deployment import SCHEMA, House, rows
from service.described import check_reply
from service.inside import inside
from service.test_answer_pages import Person, office

SHARED = "share_dashboards = true"
NASTY = '<script>alert("x")</script> & **bold**'


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """A service whose steward allows sharing, its users, and one answer of Ana's."""
    with office(tmp_path_factory.mktemp("boards"), dataset=SHARED) as (state, enter):
        ana, bob, stella, sid = map(enter, ("ana", "bob", "stella", "sid"))
        yield state, {"ana": ana, "bob": bob, "stella": stella, "sid": sid}, ana.asks()


def board_of(person, place, title="Who lives here") -> str:
    """Put an answer on a new dashboard; return its address."""
    made = person.post(f"{place}/dashboard", board="new", title=title)
    assert made.status_code == 303, made.text
    return made.headers["Location"]


def change(person, board, **form):
    """Send the editor's form as a browser without a script does."""
    page = person.get(f"{board}/edit").text
    version = re.search(r'name="version" value="(\w+)"', page)[1]
    title = unescape(re.search(r'name="title" value="([^"]+)"', page)[1])
    return person.post(f"{board}/edit", version=version, **{"title": title, **form})


def spent(state):
    return state.datasets.ledger("people").spent()


def test_an_author_writes_orders_and_shares(opened):
    state, people, place = opened
    ana, bob = people["ana"], people["bob"]
    before = spent(state)
    board = board_of(ana, place)
    assert change(ana, board, action="add text", new_text=NASTY).status_code == 303
    assert change(ana, board, action="up 1").headers["Location"] == f"{board}/edit"
    page = ana.get(board).text
    assert "<script>alert" not in page and "&lt;script&gt;" in page
    assert page.index("<strong>bold</strong>") < page.index("<figure>")
    # A private dashboard is as unknown as one that never was.
    unknown = bob.get("/dashboards/nothing")
    hidden = bob.get(board)
    assert (hidden.status_code, hidden.text) == (unknown.status_code, unknown.text)
    assert hidden.status_code == 403 and board not in bob.get("/dashboards").text
    change(ana, board, action="share")
    seen = bob.get(board)
    assert seen.status_code == 200 and "<figure>" in seen.text and "By ana" in seen.text
    assert f"{board}/edit" not in seen.text and place not in seen.text
    assert bob.get(place).status_code == 403
    for way in ("edit", "refresh"):
        assert bob.get(f"{board}/{way}").status_code == 403
    assert bob.post(f"{board}/remove").status_code == 403
    assert people["sid"].get(board).status_code == 403
    assert spent(state) == before


def test_a_steward_takes_back_and_lets_again(opened):
    state, people, place = opened
    ana, bob, stella = people["ana"], people["bob"], people["stella"]
    board = board_of(ana, place, "Taken")
    assert stella.get(board).status_code == 403
    change(ana, board, action="share")
    assert bob.get(board).status_code == 200
    assert "Taken" in stella.get("/steward/people").text
    assert stella.post(f"{board}/remove").headers["Location"] == "/steward/people"
    assert bob.get(board).status_code == 403 and "taken it back" in ana.get(board).text
    # Its author cannot undo what the steward did.
    change(ana, board, action="unshare")
    change(ana, board, action="share")
    assert bob.get(board).status_code == 403
    name = board.rpartition("/")[2]
    assert people["bob"].post("/steward/people/dashboards", board=name).status_code == 403
    stella.post("/steward/people/dashboards", board=name)
    assert bob.get(board).status_code == 200
    log = Path(state.config.log).read_text(encoding="utf-8")
    verbs = [json.loads(line)["verb"] for line in log.splitlines()]
    for verb in ("make", "share", "take back", "give back"):
        assert f"{verb} dashboard" in verbs


def test_only_own_answers_of_the_data_set(opened):
    _, people, place = opened
    bob = people["bob"]
    job = place.rpartition("/")[2]
    for dataset in ("people", "other"):
        bob.post("/dashboards", dataset=dataset, title=f"Of {dataset}")
        listed = bob.get("/dashboards").text
        [board] = re.findall(rf'href="(/dashboards/[\w-]+)">Of {dataset}<', listed)
        for strange in (job, "nothing"):
            refused = change(bob, board, action="add answer", answer=strange)
            assert refused.status_code == 403 and "You have no such job" in refused.text
    assert bob.post(f"{place}/dashboard", board="new", title="Stolen").status_code == 403
    refused = change(bob, board, action="share")
    assert refused.status_code == 403 and "share_dashboards" in refused.text
    assert people["ana"].post("/dashboards", dataset="other", title="No").status_code == 403


def test_two_windows_and_what_does_not_fit(opened):
    _, people, place = opened
    ana = people["ana"]
    board = board_of(ana, place, "Windows")
    page = ana.get(f"{board}/edit").text
    version = re.search(r'name="version" value="(\w+)"', page)[1]
    change(ana, board, action="add text", new_text="first")
    late = ana.post(f"{board}/edit", version=version, title="Windows", action="remove 0")
    assert late.status_code == 422 and "changed meanwhile" in late.text
    for form in ({"action": "up 9"}, {"action": "remove x"}, {"title": " "}, {"title": "a" * 101}):
        assert change(ana, board, **form).status_code == 422
    assert change(ana, board, action="add text", new_text="a" * 4001).status_code == 422
    emptied = change(ana, board, **{"text 1": "  "})
    assert emptied.status_code == 303 and "first" not in ana.get(board).text


def test_asking_again_says_its_price_and_is_free_where_it_was_answered(opened):
    state, people, place = opened
    ana = people["ana"]
    board, before = board_of(ana, place, "Again"), spent(state)
    page = ana.get(f"{board}/refresh").text
    assert "free: answered before" in page
    mark = re.search(r'name="mark" value="([^"]+)"', page)[1]
    jobs = "SELECT COUNT(*) FROM discreet_jobs"
    [(count,)] = state.store.ask(jobs)
    for _ in range(2):
        assert ana.post(f"{board}/refresh", mark=mark, **{"part 0": "1"}).status_code == 303
    assert state.store.ask(jobs) == [(count + 1,)]
    assert ana.post(f"{board}/refresh", mark=mark, **{"part 7": "1"}).status_code == 422
    assert ana.post(f"{board}/refresh", **{"part 0": "1"}).status_code == 422
    wait_for(ana, board)
    fresh = re.search(r'href="(/answers/[\w-]+)"', ana.get(board).text)[1]
    assert fresh != place and spent(state) == before
    assert ana.get(f"{fresh}/table.csv").text == ana.get(f"{place}/table.csv").text


def test_of_a_new_version_of_the_data_asking_again_costs(tmp_path):
    """Until the new answer is there, and if it is refused, everybody sees the one before."""
    with office(tmp_path, dataset=SHARED) as (_, enter):
        ana = enter("ana")
        board = board_of(ana, ana.asks())
        change(ana, board, action="share")
        old = figures(enter("bob").get(board).text)
    (tmp_path / "people.csv").write_text(rows(800))
    newer = SCHEMA.replace("[tables.people]\n", '[tables.people]\nversion = "2"\n')
    (tmp_path / "people.toml").write_text(newer)
    config = read_config(tmp_path / "curator.toml")
    state = open_state(config)
    tokens = {who: state.people.renew(who) for who in ("ana", "bob")}
    house = House(tmp_path, config.url, tokens)
    with inside(build_app(config, state), config.url) as client:
        ana, bob = Person(client, house, "ana"), Person(client, house, "bob")
        before = spent(state)
        page = ana.get(f"{board}/refresh").text
        form = page.partition('<form class="card"')[2].partition("</form>")[0]
        assert "free" not in form and "0.333334" in form
        assert figures(bob.get(board).text) == old and spent(state) == before
        mark = re.search(r'name="mark" value="([^"]+)"', page)[1]
        for _ in range(2):
            ana.post(f"{board}/refresh", mark=mark, **{"part 0": "1"})
        wait_for(ana, board)
        assert figures(bob.get(board).text) != old
        assert spent(state).epsilon == before.epsilon + Fraction(1, 3)


def wait_for(person, board):
    end = time.monotonic() + 30
    while "being asked again" in person.get(board).text and time.monotonic() < end:
        time.sleep(0.05)


def figures(page):
    return re.findall(r"<tbody>.*?</tbody>", page, re.DOTALL)


def test_answers_on_a_dashboard_are_kept(opened, monkeypatch):
    state, people, place = opened
    ana = people["ana"]
    kept, gone = ana.asks(spend="1/7"), ana.asks(spend="1/9")
    # Other tests go on with the first answer.
    board_of(ana, place, "Used later")
    board_of(ana, kept, "Kept")
    old = time.time() - KEPT_SECONDS - 9
    state.store.ask("UPDATE discreet_jobs SET finished = ?, created = ?", old, old)
    monkeypatch.setattr(job_store, "KEPT_ANSWERS", 0)
    state.jobs.job_store.forget()
    assert ana.get(kept).status_code == 200 and ana.get(gone).status_code == 403


def test_one_file_needs_no_server(opened):
    _, people, _ = opened
    ana = people["ana"]
    board = board_of(ana, ana.asks(spend="1/11"), "R&D <b>")
    change(ana, board, action="add text", new_text=NASTY)
    change(ana, board, action="share")
    reply = people["bob"].get(f"{board}/dashboard.html")
    page = reply.text
    assert "attachment" in reply.headers["Content-Disposition"]
    assert "<script" not in page and "R&amp;D &lt;b&gt;" in page
    links = re.findall(r'(?:src|href|url)\s*[=(]\s*"?([^">)]*)', page)
    assert links == [] and page.count("<svg") == 2
    assert set(re.findall(r"https?://[^\"' ]+", page)) <= {"http://www.w3.org/2000/svg"}


class TestTheInterface:
    """The same over HTTP, with its described shapes (`as_who` checks every reply against its schema)."""

    @pytest.fixture
    def request_of(self, opened):
        _, people, _ = opened

        def send(who, method, path, body=None, more=None):
            person = people[who]
            heads = person.heads | {"X-CSRF-Token": person.csrf} | (more or {})
            reply = person.opened.request(method, "/api/v1" + path, json=body, headers=heads)
            check_reply(method, path, reply)
            return reply

        return send

    def test_make_show_change_take_away(self, opened, request_of):
        _, people, _ = opened
        root = "/datasets/people/dashboards"
        job = people["ana"].asks(spend="1/13").rpartition("/")[2]
        parts = [{"text": "Words"}, {"answer": job}]
        made = request_of("ana", "POST", root, {"title": "Ours", "parts": parts, "shared": True})
        assert made.status_code == 201 and made.json()["shared"] is True
        one = f"{root}/{made.json()['id']}"
        shown = request_of("bob", "GET", one).json()
        assert [list(part) for part in shown["parts"]] == [["text"], ["reply"]]
        assert shown["parts"][1]["reply"]["columns"][1]["name"] == "n"
        own = request_of("ana", "GET", one).json()["parts"][1]
        assert own["answer"] == job and "receipt" not in own["reply"]
        assert made.json() in request_of("bob", "GET", root).json()["dashboards"]
        body = {"title": "Renamed", "parts": parts[:1], "shared": False}
        assert request_of("bob", "POST", one, body).status_code == 403
        assert request_of("ana", "POST", one, body).json()["title"] == "Renamed"
        assert request_of("bob", "GET", one).status_code == 403
        assert (
            request_of("ana", "GET", f"/datasets/other/dashboards/{one[-16:]}").status_code == 403
        )
        assert request_of("ana", "DELETE", one).status_code == 200
        assert request_of("ana", "GET", one).status_code == 403

    def test_asked_again_by_their_author_alone(self, opened, request_of):
        state, people, _ = opened
        root = "/datasets/people/dashboards"
        job = people["ana"].asks(spend="1/17").rpartition("/")[2]
        parts = [{"text": "Words"}, {"answer": job}]
        made = request_of("ana", "POST", root, {"title": "Again", "parts": parts, "shared": True})
        way = f"{root}/{made.json()['id']}/refresh"
        [price] = request_of("ana", "GET", way).json()["prices"]
        assert (price["part"], price["free"], price["refusal"]) == (2, True, "")
        before, jobs = spent(state), "SELECT COUNT(*) FROM discreet_jobs"
        [(count,)] = state.store.ask(jobs)
        for who in ("bob", "stella"):
            assert request_of(who, "GET", way).status_code == 403
            assert request_of(who, "POST", way, {"parts": [2]}).status_code == 403
        for wrong in ([], [1], [3], [2, 1], [0]):
            assert request_of("ana", "POST", way, {"parts": wrong}).status_code == 422
        assert state.store.ask(jobs) == [(count,)]
        heads = {"Idempotency-Key": "again"}
        first, second = (
            request_of("ana", "POST", way, {"parts": [2]}, heads).json() for _ in range(2)
        )
        assert first == second and state.store.ask(jobs) == [(count + 1,)]
        assert (
            request_of(
                "ana", "POST", way, {"parts": [2]}, {"Idempotency-Key": "k" * 300}
            ).status_code
            == 422
        )
        assert spent(state) == before

    @pytest.mark.parametrize(
        "parts",
        [
            [{"text": "a", "stream": "b", "by": "day"}],
            [{}],
            [{"answer": "nothing"}],
            [{"stream": "nothing", "by": "week"}],
            [{"text": "x"}] * 41,
        ],
    )
    def test_a_refused_request_leaves_nothing(self, request_of, parts):
        root = "/datasets/people/dashboards"
        before = request_of("ana", "GET", root).json()
        refused = request_of("ana", "POST", root, {"title": "No", "parts": parts})
        assert refused.status_code in (403, 422)
        assert request_of("ana", "GET", root).json() == before


def test_nothing_on_a_dashboard_depends_on_one_person(tmp_path):
    """Two services whose data differ by the most extreme row: pages differ in noisy numbers alone."""
    pages = []
    with ExitStack() as stack:
        for name, csv in (("one", rows() + "119,99999,W\n"), ("two", rows())):
            opened = office(tmp_path / name, dataset=SHARED, csv=csv)
            _, enter = stack.enter_context(opened)
            ana, bob = enter("ana"), enter("bob")
            board = board_of(ana, ana.asks())
            rare = ana.asks("SELECT COUNT(*) AS n FROM people WHERE age = 119", "1/100")
            ana.post(f"{rare}/dashboard", board=board.rpartition("/")[2])
            change(ana, board, action="share")
            ways = (board, f"{board}/dashboard.html", "/dashboards")
            seen = [(bob.get(way).status_code, blotted(bob.get(way).text)) for way in ways]
            seen.append((200, blotted(ana.get(f"{board}/refresh").text)))
            pages.append(seen)
    assert pages[0] == pages[1]


def blotted(page):
    """Take out what noise and chance decide: pictures, cells of tables, sentences about them, ids."""
    chance = (
        r"<svg.*?</svg>",
        r"<tbody>.*?</tbody>",
        r'<p class="said">.*?</p>',
        r"(?<=</h2>)<p>.*?</p>",
        r"[\w-]{43}",
        # Some end in a hyphen, after which there is no border of a word.
        r'[/"][\w-]{16,22}(?![\w-])',
    )
    for pattern in chance:
        page = re.sub(pattern, "", page, flags=re.DOTALL)
    return page
