"""Tokens open, until they are revoked, expire or are renewed; the store holds none of them. SQLite and PostgreSQL."""

from __future__ import annotations

import time

import pytest

from discreet.errors import InvalidArgument, NotAllowed, ServiceUnavailable
from discreet.service.http.session import Sessions
from discreet.service.stores import store as stores
from discreet.service.stores.people import Member, Members, token_hash
from discreet.service.stores.store import PostgresServiceStore, SqliteServiceStore, open_store


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    if request.param == "sqlite":
        made = open_store(str(tmp_path / "service.db"))
    else:
        made = open_store(request.getfixturevalue("postgres_dsn"))
        for table in ("people", "sessions", "jobs", "receipts"):
            made.ask(f"DELETE FROM discreet_{table}")
    yield made
    made.close()


@pytest.fixture
def people(store):
    return Members(store)


class TestTokens:
    def test_a_token_finds_its_person(self, people):
        person, token = people.add("ana", "analyst", ["census"])
        assert people.holder(token) == person
        assert token.startswith("dsc_")
        assert len(token) == 47

    def test_no_token_is_in_the_store(self, people, store):
        _, token = people.add("ana", "analyst", ["census"])
        everything = str(store.ask("SELECT * FROM discreet_people"))
        assert token not in everything
        assert token_hash(token) in everything

    @pytest.mark.parametrize(
        "token", ["", "dsc_", "dsc_x", "' OR 1=1 --", "\x00", "\ud800", "dsc_" + "x" * 10_000]
    )
    def test_nothing_else_opens(self, people, token):
        people.add("ana", "analyst", ["census"])
        assert people.holder(token) is None

    def test_every_token_is_new(self, people):
        assert people.add("ana", "analyst", ["a"])[1] != people.add("bob", "analyst", ["a"])[1]

    def test_the_hash_does_not_open(self, people):
        _, token = people.add("ana", "analyst", ["census"])
        assert people.holder(token_hash(token)) is None

    def test_a_revoked_token_is_shut_at_once(self, people):
        _, token = people.add("ana", "analyst", ["census"])
        people.revoke("ana")
        assert people.holder(token) is None
        assert people.find("ana").revoked

    def test_an_expired_token_is_shut(self, people, store):
        _, token = people.add("ana", "analyst", ["census"], days="1/2")
        assert people.holder(token) is not None
        store.ask("UPDATE discreet_people SET expires = ?", time.time() - 1)
        assert people.holder(token) is None

    def test_a_new_token_ends_the_old_one(self, people):
        _, old = people.add("ana", "analyst", ["census"])
        new = people.renew("ana", days=3)
        assert people.holder(old) is None
        assert people.holder(new).expires > time.time() + 2 * 86_400

    def test_a_revoked_person_gets_no_new_token(self, people):
        people.add("ana", "analyst", ["census"])
        people.revoke("ana")
        with pytest.raises(NotAllowed, match="nobody named"):
            people.renew("ana")


class TestNames:
    def test_a_name_is_for_good(self, people):
        people.add("ana", "analyst", ["census"])
        people.revoke("ana")
        with pytest.raises(InvalidArgument, match="taken"):
            people.add("ana", "steward", ["*"])

    @pytest.mark.parametrize(
        "name", ["", " ana", "*", "a" * 65, "ana\n", "Ä", "a'b", "../x", None, 3]
    )
    def test_odd_names_are_refused(self, people, name):
        with pytest.raises(InvalidArgument, match="a name is"):
            people.add(name, "analyst", ["census"])

    @pytest.mark.parametrize("role", ["admin", "", None])
    def test_unknown_roles_are_refused(self, people, role):
        with pytest.raises(InvalidArgument, match="role"):
            people.add("ana", role, ["census"])

    @pytest.mark.parametrize("datasets", [[], [3]])
    def test_somebody_without_data_sets_is_refused(self, people, datasets):
        with pytest.raises(InvalidArgument, match="data sets"):
            people.add("ana", "analyst", datasets)

    @pytest.mark.parametrize("days", [0, -1, "nan", 10**9])
    def test_odd_days_are_refused(self, people, days):
        with pytest.raises(InvalidArgument, match="days"):
            people.add("ana", "analyst", ["a"], days=days)

    def test_nobody_is_found_under_an_unknown_name(self, people):
        for act in (people.find, people.revoke, people.renew):
            with pytest.raises(NotAllowed, match="nobody named"):
                act("nobody")

    def test_everybody_is_listed(self, people):
        people.add("bob", "analyst", ["b"])
        people.add("ana", "steward", ["*"], days=1)
        assert [person.name for person in people.all()] == ["ana", "bob"]
        assert people.all()[0].to_json()["expires"] is not None


class TestReach:
    def test_a_steward_decides_within_own_data_sets(self):
        def person(role, *sets):
            return Member("x", role, sets, None, revoked=False, created=0.0)

        assert person("steward", "*").over(person("analyst", "a"))
        assert person("steward", "a", "b").over(person("analyst", "a"))
        assert not person("steward", "a").over(person("analyst", "a", "b"))
        assert not person("steward", "a").over(person("steward", "*"))
        assert not person("analyst", "*").over(person("analyst", "a"))


class TestSessions:
    def test_a_session_is_found_by_its_secret_and_kept_hashed(self, people, store):
        _, token = people.add("ana", "analyst", ["census"])
        sessions = Sessions(store, people, hours=1)
        opened = sessions.open(token)
        assert sessions.find(opened.id) == opened
        assert opened.id not in str(store.ask("SELECT * FROM discreet_sessions"))
        assert opened.id not in repr(opened) and opened.csrf not in repr(opened)

    def test_no_token_no_session(self, people, store):
        assert Sessions(store, people, hours=1).open("dsc_forged") is None

    @pytest.mark.parametrize("secret", ["", "forged", "' OR '1'='1"])
    def test_a_forged_secret_finds_nothing(self, people, store, secret):
        people.add("ana", "analyst", ["census"])
        assert Sessions(store, people, hours=1).find(secret) is None

    def test_a_session_ends_by_signing_out(self, people, store):
        sessions = Sessions(store, people, hours=1)
        opened = sessions.open(people.add("ana", "analyst", ["a"])[1])
        sessions.close(opened.id)
        assert sessions.find(opened.id) is None

    def test_a_session_ends_after_its_hours(self, people, store):
        sessions = Sessions(store, people, hours=1)
        opened = sessions.open(people.add("ana", "analyst", ["a"])[1])
        store.ask("UPDATE discreet_sessions SET expires = ?", time.time() - 1)
        assert sessions.find(opened.id) is None

    @pytest.mark.parametrize("act", ["revoke", "renew"])
    def test_a_session_ends_with_its_token(self, people, store, act):
        sessions = Sessions(store, people, hours=1)
        opened = sessions.open(people.add("ana", "analyst", ["a"])[1])
        getattr(people, act)("ana")
        assert sessions.find(opened.id) is None


class TestStore:
    def test_statements_after_close_open_anew(self, store):
        store.close()
        assert store.ask("SELECT 1") == [(1,)]

    def test_opening_twice_changes_nothing(self, store, people):
        people.add("ana", "analyst", ["a"])
        for table in stores.TABLES:
            store.ask(table)
        assert people.find("ana").name == "ana"

    def test_the_file_is_for_its_owner_only(self, tmp_path):
        open_store(str(tmp_path / "x.db")).close()
        assert (tmp_path / "x.db").stat().st_mode & 0o077 == 0

    def test_a_file_that_is_locked_is_unavailable(self, tmp_path, monkeypatch):
        monkeypatch.setattr(stores, "RETRY_SECONDS", 0.05)
        first, second = (
            SqliteServiceStore(str(tmp_path / "x.db")),
            SqliteServiceStore(str(tmp_path / "x.db")),
        )
        first.ask("CREATE TABLE t (x INTEGER)")
        second.ask("SELECT 1")
        first.ask("BEGIN IMMEDIATE")
        with pytest.raises(ServiceUnavailable, match="ask again"):
            second.ask("INSERT INTO t VALUES (1)")
        first.ask("COMMIT")
        first.close()
        second.close()

    def test_a_server_that_is_away_is_unavailable_after_some_patience(self, monkeypatch):
        monkeypatch.setattr(stores, "RETRY_SECONDS", 0.3)
        with pytest.raises(ServiceUnavailable, match="ask again"):
            PostgresServiceStore("host=127.0.0.1 port=1 dbname=none connect_timeout=1").ask(
                "SELECT 1"
            )

    def test_a_connection_that_was_cut_is_opened_again(self, postgres_dsn):
        one, other = PostgresServiceStore(postgres_dsn), PostgresServiceStore(postgres_dsn)
        [(pid,)] = one.ask("SELECT pg_backend_pid()")
        other.ask("SELECT pg_terminate_backend(?)", pid)
        assert one.ask("SELECT 1") == [(1,)]
        one.close()
        other.close()
