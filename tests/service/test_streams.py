"""Standing reports over HTTP: opened once, closed by the service's own clock, shown for nothing."""

from __future__ import annotations

import resource
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest

import discreet as dp
from discreet.errors import EngineFailure
from discreet.ledger import clock, move_ledger
from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.state import open_state
from discreet.streams.seal import Seal
from service.deployment import build
from service.inside import inside

TODAY = datetime.now(UTC).date()
# A Friday in the past: planning workers have the clock of the machine, which no entry may be ahead of.
START = TODAY - timedelta(days=(TODAY.weekday() - 4) % 7)
SCHEMA = """format = 1
[tables.visits]
unit = { kind = "rows" }
[tables.visits.columns]
day = { type = "date", low = "2020-01-01", high = "2060-12-31" }
ward = { type = "category", values = ["A", "B"] }
"""
SQL = "SELECT day, ward, COUNT(*) AS n FROM visits GROUP BY day, ward"
# A machine that is shared may be slow at any moment.
PATIENT = "free_seconds = 300"
ASK = {
    "sql": SQL,
    "spend": {"rho": "1000000"},
    "name": "visits",
    "start": START.isoformat(),
    "periods": 40,
    "matters": {"day": 1, "total": 1},
}


def set_day(monkeypatch, days, hours=0):
    """Let the service's clock say so many days after the start of the stream."""
    now = datetime(START.year, START.month, START.day, hours, tzinfo=UTC) + timedelta(days=days)
    monkeypatch.setattr(clock, "now", lambda: now)


def write_visits(house, count):
    """Write so many visits of each of 40 days to ward A."""
    lines = [f"{START + timedelta(days=day)},A" for day in range(40) for _ in range(count)]
    (house.folder / "visits.csv").write_text("\n".join(["day,ward", *lines]) + "\n")


def deploy(folder, seal='seal = "visits.key"'):
    """Return a service with a table of visits, as `people`'s data set."""
    house = build(
        folder, budget='{ rho = "10000000" }', dataset=seal, service='grid = "0.1"', limits=PATIENT
    )
    text = house.config.read_text()
    house.config.write_text(
        text.replace('{ people = "people.csv", wards = "wards.csv" }', '{ visits = "visits.csv" }')
    )
    (house.folder / "people.toml").write_text(SCHEMA)
    write_visits(house, 1)
    return house


@pytest.fixture
def house(tmp_path):
    return deploy(tmp_path)


class Service:
    """The application with requests of its people; `state` is what it works with."""

    def __init__(self, house, client, state):
        self.state = state
        self._house = house
        self._client = client

    def send(self, who, method, path, body=None, root="/api/v1/datasets/people/streams"):
        auth = {"Authorization": f"Bearer {self._house.tokens[who]}"}
        return self._client.request(method, root + path, json=body, headers=auth)

    def open(self, who="ana", **change):
        return self.ask("/streams", {**ASK, **change}, who)

    def ask(self, path, body, who="ana"):
        """Send a request, and wait for its job if it becomes one."""
        reply = self.send(who, "POST", path, body, root="/api/v1/datasets/people")
        while reply.status_code == 202:
            auth = {"Authorization": f"Bearer {self._house.tokens[who]}"}
            found = self._client.request("GET", reply.headers["Location"], headers=auth).json()
            if "reply" in found:
                return found["status"], found["reply"]
        return reply.status_code, reply.json()

    def numbers(self, by="day", **query):
        """Return the shown numbers of ward A."""
        text = "&".join(f"{name}={value}" for name, value in {"by": by, **query}.items())
        table = self.send("bob", "GET", f"/visits?{text}").json()["table"]
        return [row[3] for row in table["rows"] if row[2] == "A"]


@pytest.fixture
def service(house, monkeypatch):
    set_day(monkeypatch, 0)
    config = read_config(house.config)
    state = open_state(config)
    with inside(build_app(config, state), house.url) as client:
        yield Service(house, client, state)


class TestOpening:
    def test_one_charge_and_the_same_again_for_nothing(self, service, house):
        status, first = service.open()
        assert status == 200 and first["closed"] == 0 and "one charge" in first["text"]
        assert service.open() == (200, first)
        assert service.open("bob") == (200, first)
        kinds = [entry.kind for entry in service.state.datasets.ledger("people").history()]
        assert kinds.count("charge") == 1

    @pytest.mark.slow
    def test_refusals_in_the_user_s_words(self, service):
        for change, words in [
            ({"sql": "SELECT day, AVG(1) AS a FROM visits GROUP BY day"}, "AVG"),
            ({"sql": "SELECT day, MEDIAN(1) AS a FROM visits GROUP BY day"}, "no sum of days"),
            ({"sql": "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"}, "day of each row"),
            ({"start": "soon"}, "2027-01-31"),
            ({"zone": "Mars/Olympus"}, "Europe/Berlin"),
            ({"matters": {"hour": 1}}, "hour"),
            ({"name": "a b"}, "identifier"),
            ({"per_person": {"days": 3}}, "unit of this table is a row"),
            ({"late": -1}, "late"),
            ({"periods": 40_000}, "36525"),
        ]:
            status, reply = service.open(**change)
            assert status == 422 and words in reply["error"]["message"], change
        assert service.open(spend={"rho": "20000000"})[0] == 409
        assert len(service.state.datasets.ledger("people").history()) == 1

    @pytest.mark.slow
    def test_a_data_set_without_a_key_file(self, tmp_path, monkeypatch):
        set_day(monkeypatch, 0)
        house = deploy(tmp_path / "bare", seal="")
        config = read_config(house.config)
        state = open_state(config)
        with inside(build_app(config, state), house.url) as client:
            service = Service(house, client, state)
            assert service.open()[0] == 422
            assert len(state.datasets.ledger("people").history()) == 1


class TestTheClock:
    def test_days_close_by_the_clock_with_the_rows_that_are_there_then(
        self, service, house, monkeypatch
    ):
        service.open()
        closer = service.state.streams
        set_day(monkeypatch, 2)
        closer.close_due()
        write_visits(house, 3)
        closer.close_due()
        assert service.numbers() == [1, 1]
        set_day(monkeypatch, 3)
        closer.close_due()
        assert service.numbers() == [1, 1, 3]
        # The clock is set back by two days, and on again: nothing happens twice.
        for day in (1, 3):
            set_day(monkeypatch, day)
            closer.close_due()
        assert service.numbers() == [1, 1, 3] and service.numbers("total") == [1, 2, 5]
        assert service.numbers("day", last=2) == [1, 3]

    def test_overdue_days_close_one_by_one_where_that_is_configured(self, service, monkeypatch):
        service.open()
        monkeypatch.setattr(service.state.streams, "_catch_up", 5.0)
        set_day(monkeypatch, 3)
        for closed in (1, 2, 3, 3):
            service.state.streams.close_due()
            assert service.numbers() == [1] * closed

    @pytest.mark.slow
    def test_days_of_a_zone_end_there(self, service, monkeypatch):
        service.open(zone="Etc/GMT+5")
        closer = service.state.streams
        set_day(monkeypatch, 1, hours=4)
        closer.close_due()
        assert service.numbers() == []
        set_day(monkeypatch, 1, hours=5)
        closer.close_due()
        assert service.numbers() == [1]

    def test_a_failing_store_leaves_the_day_due_and_says_one_thing(
        self, service, house, monkeypatch
    ):
        service.open()
        set_day(monkeypatch, 2)
        private = house.folder / "visits.csv"
        text = private.read_text()
        private.unlink()
        service.state.streams.close_due()
        service.state.streams.close_due()
        assert service.numbers() == []
        listed = service.send("ana", "GET", "").json()["streams"]
        assert [(one["closed"], one["due"]) for one in listed] == [(0, 2)]
        private.write_text(text)
        service.state.streams.close_due()
        assert service.numbers() == [1, 1]
        log = (house.folder / "audit.log").read_text()
        assert log.count("stream visits stays due") == 1

    @pytest.mark.slow
    def test_the_thread_closes_by_itself(self, house, monkeypatch):
        """The service starts with a day due: its thread closes it at once."""
        config = read_config(house.config)
        set_day(monkeypatch, 0)
        state = open_state(config)
        with inside(build_app(config, state), house.url) as client:
            Service(house, client, state).open()
        set_day(monkeypatch, 1)
        state = open_state(config)
        with inside(build_app(config, state), house.url) as client:
            service = Service(house, client, state)
            # Answered by the same thread after its first look.
            reply = service.send("stella", "POST", "/visits/close")
            assert reply.json()["text"] == "nothing is due"
            assert service.numbers() == [1]

    def test_reading_ends_at_a_tick(self, service, monkeypatch):
        """Also where people are told apart, and where the store fails."""
        waited = []
        monkeypatch.setattr("discreet.service.jobs.paced_engine.time.sleep", waited.append)
        with service.state.datasets.reading_anew("people") as curator:
            with curator.context.held():
                pass
            with pytest.raises(EngineFailure), curator.context.held():
                raise EngineFailure("away")
        assert len(waited) == 2 and all(0.05 < seconds <= 0.075 for seconds in waited)


class TestStewards:
    def test_they_close_and_stop(self, service, monkeypatch):
        assert service.open()[0] == 200
        set_day(monkeypatch, 2)
        for what, body in [("close", {}), ("stop", {"why": "no"})]:
            assert service.send("ana", "POST", f"/visits/{what}", body).status_code == 403
            assert service.send("sid", "POST", f"/visits/{what}", body).status_code == 403
        closed = service.send("stella", "POST", "/visits/close", {}).json()
        assert closed["state"]["closed"] == 2 and len(closed["table"]["rows"]) == 4
        assert service.send("stella", "POST", "/visits/stop", {}).status_code == 422
        stopped = service.send("stella", "POST", "/visits/stop", {"why": "it ended"})
        assert stopped.json()["stopped"] is True
        assert service.send("stella", "POST", "/visits/close").status_code == 422
        set_day(monkeypatch, 9)
        service.state.streams.close_due()
        assert service.numbers() == [1, 1]

    @pytest.mark.slow
    def test_strangers_see_nothing(self, service):
        service.open()
        assert service.send("sid", "GET", "/visits").status_code == 403
        assert service.send("sid", "GET", "").status_code == 403


class TestShowing:
    def test_ranges_levels_and_bad_queries(self, service, monkeypatch):
        service.open()
        set_day(monkeypatch, 10)
        service.state.streams.close_due()
        assert service.numbers(**{"from": _day(1), "to": _day(3)}) == [3]
        assert service.numbers("week") == [3, 7]
        wide = service.send("ana", "GET", "/visits?by=total&level=0.99&joint=true").json()
        assert wide["table"]["level"] == 0.99 and wide["table"]["joint"] is True
        alone = service.send("ana", "GET", "/visits?by=total&level=0.99").json()
        # The text has the intervals of the table: joint ones are wider, and the line below says so.
        assert wide["text"] != alone["text"] and "by itself" in alone["text"]
        assert "by itself" not in wide["text"]
        for query, words in [
            ("by=hour", "one of day"),
            (f"from={_day(1)}", "two ends"),
            (f"from={_day(1)}&to={_day(70)}", "closed days"),
            ("level=2", "level"),
            ("joint=maybe", "true or false"),
            ("last=0", "last"),
        ]:
            reply = service.send("ana", "GET", f"/visits?{query}")
            assert reply.status_code == 422 and words in reply.json()["error"]["message"]
        missing = service.send("ana", "GET", "/nothing")
        assert missing.status_code == 422 and "there are visits" in missing.text

    def test_sql_over_what_is_published(self, service, monkeypatch):
        service.open()
        set_day(monkeypatch, 5)
        service.state.streams.close_due()
        entries = len(service.state.datasets.ledger("people").history())
        asked = {"sql": "SELECT ward, SUM(n) AS n FROM stream.visits GROUP BY ward"}
        asked["spend"] = {"rho": "1"}
        status, reply = service.ask("/sql", asked)
        assert (status, reply["rows"]) == (200, [["A", 5], ["B", 0]]) and reply["receipt"] is None
        assert reply["exact"]["stream"] == "visits" and "free" in reply["caption"]
        for path, change, words in [
            ("/sql", {"sql": "SELECT n FROM stream.more"}, "there are visits"),
            ("/sql", {"of": "population"}, "of the data"),
            ("/sql", {"sql": "SELECT MEDIAN(n) AS m FROM stream.visits"}, "MIN and MAX"),
            ("/explain", {}, "ask it by itself, for nothing"),
            ("/rehearse", {}, "ask it by itself, for nothing"),
        ]:
            status, reply = service.ask(path, asked | change)
            assert status == 422 and words in reply["error"]["message"], (path, change)
        assert len(service.state.datasets.ledger("people").history()) == entries

    def test_totals_for_clients_are_final(self, service, monkeypatch):
        service.open()
        set_day(monkeypatch, 3)
        service.state.streams.close_due()
        whole = service.send("ana", "GET", "/visits/totals").json()["totals"]
        later = service.send("ana", "GET", "/visits/totals?first=2").json()["totals"]
        assert len(whole) == 3 and whole[1:] == later
        terms = service.send("ana", "GET", "/visits/terms").json()["terms"]
        assert terms["sql"] == SQL and terms["periods"] == 40

    @pytest.mark.slow
    def test_neighbours_look_alike(self, tmp_path, monkeypatch):
        """With one row more, of any kind, statuses, entries, shapes and sizes are the same."""
        shapes = []
        for place, more in enumerate(["", f"{START},B\n", "no day,Z\n"]):
            set_day(monkeypatch, 0)
            house = deploy(tmp_path / str(place))
            with (house.folder / "visits.csv").open("a") as file:
                file.write(more)
            config = read_config(house.config)
            state = open_state(config)
            with inside(build_app(config, state), house.url) as client:
                service = Service(house, client, state)
                service.open(spend={"rho": "1"})
                set_day(monkeypatch, 3)
                state.streams.close_due()
                reply = service.send("ana", "GET", "/visits?by=day")
                entries = state.datasets.ledger("people").history()
                stored = [(entry.kind, entry.key, entry.who) for entry in entries]
                rows = [row[:3] for row in reply.json()["table"]["rows"]]
                shapes.append((reply.status_code, rows, stored))
        assert shapes[0] == shapes[1] == shapes[2]


@pytest.mark.slow
def test_a_year_with_clock_steps_restarts_a_full_disk_and_a_moved_ledger(tmp_path, monkeypatch):
    """Each day has one value for ever, the chain verifies, and one charge is all that was paid."""
    house = deploy(tmp_path / "year")
    config_text = house.config.read_text()
    given, seen_states, failed = {}, set(), 0
    state, ledger_name = None, "people.ledger"

    def open_again():
        nonlocal state
        if state is not None:
            state.close()
        house.config.write_text(config_text.replace("people.ledger", ledger_name))
        state = open_state(read_config(house.config))

    set_day(monkeypatch, 0)
    open_again()
    curator = state.datasets.thread_curator("people").curator.named("ana")
    words = {"start": START, "periods": 365, "matters": {"total": 1}}
    curator.stream(SQL, dp.ZCDP("1/2"), name="visits", **words)
    for day in range(1, 380):
        steps = [day]
        if day % 17 == 0:
            steps = [day + 2, day - 5, day]
        for step in steps:
            set_day(monkeypatch, step)
            if day % 29 == 0:
                # A clock that is set back shows no history; the number of lines it always has.
                lines = state.datasets.ledger("people")._store
                before = lines.read(()).number
                with full_disk(monkeypatch, of_key_file=day % 2 == 0):
                    state.streams.close_due()
                failed += lines.read(()).number == before
            state.streams.close_due()
        if day % 41 == 0:
            open_again()
        if day == 200:
            state.close()
            state = None
            move_ledger(house.folder / ledger_name, house.folder / "moved.ledger")
            ledger_name = "moved.ledger"
            open_again()
        report = state.datasets.curator("people", "ana").streams()["visits"]
        seen_states.add(report.closed)
        rows = report.by("day", last=9).rows()
        for row in rows:
            assert given.setdefault(row[:3], row[3:]) == row[3:]
    ledger = state.datasets.ledger("people")
    ledger.verify()
    kinds = [entry.kind for entry in ledger.history()]
    assert kinds.count("charge") == 1 and kinds.count("period") == 365 == report.closed
    # Seven days met a full disk under the ledger, on one of them nothing was due: nothing was written.
    assert failed >= 6
    assert len(given) == 730 and max(seen_states) == 365
    state.close()


def _day(number):
    return (START + timedelta(days=number)).isoformat()


@contextmanager
def full_disk(monkeypatch, of_key_file):
    """Let every file of this process end where it is now; or, for the key file alone, let its last write fail."""
    if of_key_file:
        with monkeypatch.context() as patched:
            patched.setattr(Seal, "remember", _full)
            yield
        return
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def _full(*_: object) -> None:
    raise dp.LedgerUnavailable("no space left")
