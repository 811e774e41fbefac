"""What is a server and what is a path: one rule, in every way in; and no password in anything that is shown or made."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from psycopg.conninfo import conninfo_to_dict

import discreet as dp
from discreet.cli.publish.release_file import read_release
from discreet.connection import (
    KEYWORDS,
    SECRETS,
    hide_secrets,
    is_server,
    masked,
    server_at,
    server_table,
)
from discreet.data.drafting.infer import infer
from discreet.ledger import move_ledger, repair_ledger
from discreet.service.config import read_config

S = "s3cr3tWord"
SERVERS = (
    f"password={S} host=127.0.0.1 port=1",
    f"host=127.0.0.1 port=1 password={S}",
    f"host=127.0.0.1 password={S} port=1 dbname=d",
    f"  port = 1   host = 127.0.0.1\tpassword = {S}\n",
    f"password='{S} with spaces' host='127.0.0.1' port=1",
    f"password='{S}\\' quoted \\\\' host=127.0.0.1 port=1",
    f"password={S}\\ escaped host=127.0.0.1 port=1",
    f"sslpassword={S} host=127.0.0.1 port=1",
    f"application_name=x password={S} hostaddr=127.0.0.1 port=1",
    f"service=discreet_nowhere password={S}",
    f"host=/nowhere/at/all password={S}",
    f"user=ann password={S} host=127.0.0.1 port=1 options='-c search_path=x'",
    f"connect_timeout=2 passfile=/nowhere password={S} host=127.0.0.1 port=1",
    f"postgresql://ann:{S}@127.0.0.1:1/d",
    f"postgres://ann:{S}@127.0.0.1:1/d",
    f"PostgreSQL://ann:{S}@127.0.0.1:1/d",
    f"POSTGRES://ann:{S}@127.0.0.1:1/d",
    f"  postgresql://ann:{S}@127.0.0.1:1/d ",
    f"postgresql://ann:{S}%40%2F%3A@127.0.0.1:1/d",
    f"postgresql://:{S}@127.0.0.1:1",
    f"postgresql://127.0.0.1:1/d?user=ann&password={S}",
    f"postgresql://127.0.0.1:1/d?password={S}&user=ann",
    f"postgresql://127.0.0.1:1/d?pass%77ord={S}",
    f"postgresql:///d?host=/nowhere/at/all&sslpassword={S}",
    f"postgresql://ann:{S}@[::1]:1,127.0.0.1:1/d",
)
REFUSED = (
    f"PASSWORD={S} HOST=127.0.0.1",
    f"pasword={S} host=127.0.0.1",
    f"host=127.0.0.1;password={S} port=1",
    f"host= password={S}",
    f"pwd={S}",
    f"db_secret={S}",
    f"server=127.0.0.1 password={S}",
    f"ledger host=127.0.0.1 password={S}",
    f"host=127.0.0.1 password=two {S}",
    f"host=127.0.0.1 password={S} trailing",
    f"host=127.0.0.1 password='{S}",
    f"host=127.0.0.1 password='{S}'tail",
    f"'host=127.0.0.1 password={S}'",
    f'"password={S} host=127.0.0.1"',
    f"postgresql://ann:{S}@x@127.0.0.1/d",
    f"postgresql://ann:{S}/x@127.0.0.1/d",
    f"postgresql://ann:{S}#x@127.0.0.1/d",
    f"postgresql://ann:{S}",
    f"postgresql://ann:{S}/d",
    f"postgresql+psycopg://ann:{S}@127.0.0.1/d",
    f"postgresql:/ann:{S}@127.0.0.1/d",
    f"jdbc:postgresql://127.0.0.1/d?password={S}",
    f"mysql://ann:{S}@127.0.0.1/d",
    f"ann:{S}@127.0.0.1/d",
    f"DATABASE_URL=postgresql://ann:{S}@127.0.0.1/d",
    f"postgresql%3A%2F%2Fann%3A{S}%40db%2Fc",
    f"postgresql:\\\\ann:{S}@db\\c",
    f"host%3Ddb%20password%3D{S}",
    f"--password={S}",
    f"people.ledger?password={S}",
    f"'password'={S}",
    f"\u200bpassword={S}",
    f"postgresql://ann%3A{S}%40localhost/c",
    f"host=db#password={S}",
    f"host=localhost:1:{S}",
    f"host=user:{S}@db",
    f"hostaddr=1.2.3.4:1:{S}",
    f"host=db port=1:{S}",
    f"host=db dbname=db:{S}",
    f"host=db password=a {S} = 3",
    f"postgresql://db/d?host=db:1:{S}",
    f"postgresql://db/d?password=a b {S}",
    f"postgresql://ann:a {S}@127.0.0.1/d",
)
FITTING = {
    "host": ("db", "db.example,::1", "/var/run", "@socket", "[fe80::1%eth0]", "127.0.0.1"),
    "hostaddr": ("127.0.0.1", "::1,127.0.0.1"),
    "port": ("5432", "1,2"),
    "dbname": ("d", "my data"),
}
"""Values of keywords that are told in messages of libpq; what has another form is refused."""
PATHS = (
    "people.ledger",
    "with space.ledger",
    "./host=db.ledger",
    "./password=none host=db",
    "year=2024.ledger",
    "hostile.ledger",
    "a=b",
    "C:\\data\\host=db.ledger",
    "user@home.ledger",
    "~people.ledger",
)
TABLE = 'format = 1\n[tables.people]\nunit = { kind = "rows" }\n[tables.people.columns]\nage = { type = "integer", low = 0, high = 120 }\n'
PEOPLE = dp.Schema("people", dp.Rows(), {"age": dp.Integer(0, 9)})
COUNT = "SELECT COUNT(*) AS n FROM people"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "2")
    (tmp_path / "people.toml").write_text(TABLE)
    (tmp_path / "people.csv").write_text("age\n37\n")
    return tmp_path


def files(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


class TestTheRule:
    @pytest.mark.parametrize("where", SERVERS)
    def test_a_server_is_a_server_however_it_is_written(self, where):
        assert is_server(where) and is_server(server_at(where))
        assert conninfo_to_dict(server_at(where)), "libpq reads it too"

    @pytest.mark.parametrize("where", REFUSED)
    def test_what_may_be_either_is_refused_without_being_shown(self, where):
        with pytest.raises(dp.InvalidArgument, match=r"postgresql://") as caught:
            server_at(where)
        assert S not in str(caught.value)

    @pytest.mark.parametrize("where", PATHS)
    def test_all_else_is_a_path(self, where, folder):
        assert not is_server(where) and masked(where) == where
        dp.open_ledger(where, dp.PureDP(1)).close()
        assert Path(where).is_file()

    def test_memory_and_paths_that_say_so(self, folder):
        assert not is_server(":memory:") and not is_server(Path("password=x host=y"))
        assert server_table("postgresql://db/d#hr.staff") == ("postgresql://db/d", "hr.staff")
        assert server_table("host=db dbname=d#hr.staff") == ("host=db dbname=d", "hr.staff")
        assert server_table("host=db dbname=d") == ("host=db dbname=d", "")
        assert server_table("people.duckdb#staff") is None and server_table("./host=x#y") is None

    @given(
        st.lists(
            st.tuples(
                st.sampled_from(sorted(KEYWORDS)),
                st.text(
                    st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1
                ),
            ),
            min_size=1,
            max_size=4,
        ),
        st.data(),
    )
    def test_every_list_of_pairs_is_read_as_libpq_reads_it(self, pairs, data):
        """In any order, quoted or escaped, with any white space round the equals sign."""
        said = []
        pairs = [
            (keyword, data.draw(st.sampled_from(FITTING.get(keyword, (value,)))))
            for keyword, value in pairs
        ]
        for keyword, value in pairs:
            space = data.draw(st.sampled_from(["", " ", "\t", " \n "]))
            inner = value.replace("\\", "\\\\").replace("'", "\\'")
            plain = re.sub(r"([\\'\s])", r"\\\1", value) if value.isascii() else f"'{inner}'"
            written = data.draw(st.sampled_from([f"'{inner}'", plain]))
            said.append(f"{keyword}{space}={space}{written}")
        where = " ".join(said)
        try:
            read = conninfo_to_dict(where)
        except psycopg.Error:
            assume(False)  # a keyword that this libpq does not have
        assert server_at(where) == where
        shown = masked(where)
        for keyword, value in read.items():
            if keyword in SECRETS and len(value) > 3:
                others = [str(other) for name, other in pairs if name not in SECRETS]
                assert value not in shown or any(value in other for other in others)

    def test_the_keywords_are_those_of_libpq(self):
        known = {option.keyword.decode() for option in psycopg.pq.Conninfo.get_defaults()}
        assert known <= KEYWORDS


class TestNothingIsShown:
    @pytest.mark.parametrize("where", SERVERS + REFUSED)
    def test_masked(self, where):
        assert S not in masked(where)
        assert masked(masked(where)) == masked(where)

    @pytest.mark.parametrize("where", SERVERS)
    def test_messages_of_a_driver(self, where):
        secret = next(
            value
            for keyword, value in conninfo_to_dict(server_at(where)).items()
            if keyword in SECRETS
        )
        assert S in secret
        said = f'connection to "{where}" failed: "{secret}" is no {quote(secret, safe="")}'
        assert S not in hide_secrets(said, where)

    @pytest.mark.parametrize("where", SERVERS + REFUSED)
    def test_by_the_library(self, where, folder):
        before = files(folder)
        ways = (
            lambda: dp.open_ledger(where, dp.PureDP(1)),
            lambda: dp.open_ledger(where),
            lambda: move_ledger(where, "new.ledger"),
            lambda: repair_ledger(where),
            lambda: dp.Postgres(where).check(PEOPLE),
            lambda: infer(f"{where}#people"),
            lambda: dp.DuckDB({"people": where}),
            lambda: dp.DuckDB({"people": dp.Csv(where)}),
            lambda: dp.DuckDB(where),
            lambda: dp.prepare({"people": where}, [PEOPLE], "p.store"),
            lambda: dp.prepare({"people": "people.csv"}, [PEOPLE], where),
        )
        for way in ways:
            with pytest.raises(dp.DiscreetError) as caught:
                way()
            assert S not in str(caught.value) + repr(caught.value)
            assert caught.value.__suppress_context__ or caught.value.__context__ is None
        assert files(folder) == before

    @pytest.mark.parametrize("where", SERVERS + REFUSED)
    def test_by_the_command_line(self, where, run, folder):
        """Every spelling by the commands that make or spend, and some by all."""
        before, at = files(folder), ("--schema", "people.toml", "--epsilon", "1")
        commands = [
            ("ledger", "show", where, "--json"),
            ("ledger", "create", where, "--epsilon", "3"),
            ("query", "people.csv", COUNT, *at, "--ledger", where),
        ]
        if where in (*SERVERS[:2], *REFUSED[:2]):
            commands += [
                ("ledger", "show", where),
                ("ledger", "history", where),
                ("ledger", "verify", where),
                ("ledger", "verify", f"{where}.json"),
                ("ledger", "move", where, "new.ledger"),
                ("ledger", "repair", where),
                ("query", "people.csv", COUNT, *at, "--ledger", where, "--json"),
                ("explain", where, COUNT, *at),
                ("explain", "people.csv", COUNT, *at, "--table", f"more={where}"),
                ("schema", "infer", f"{where}#people"),
                ("prepare", where, "--schema", "people.toml", "--out", "p.store"),
                ("prepare", "people.csv", "--schema", "people.toml", "--out", where),
                ("verify-receipt", "none.json", "--ledger", where),
            ]
        for words in commands:
            done = run(*words)
            assert done.exit_code, words
            assert done.exit_code != 70, (words, done.output)
            assert S not in done.output, words
        assert files(folder) == before

    @pytest.mark.parametrize("where", [*SERVERS, *REFUSED])
    def test_by_a_configuration_and_a_release(self, where, folder):
        quoted = json.dumps(where)
        Path("curator.toml").write_text(
            f"[service]\nstore = {quoted}\n[datasets.people]\nschema = 'people.toml'\nledger = {quoted}\npostgres = {quoted}\n"
        )
        Path("release.toml").write_text(
            f"title = 't'\nsource = {quoted}\nschema = 'people.toml'\nledger = {quoted}\nspend = {{ epsilon = '1' }}\n"
            f"[questions.n]\nsql = '{COUNT}'\n"
        )
        for read in (read_config, read_release):
            name = "curator.toml" if read is read_config else "release.toml"
            if where in REFUSED:
                with pytest.raises(dp.InvalidArgument) as caught:
                    read(name)
                assert S not in str(caught.value)
                continue
            found = read(name)
            assert S not in repr(found)
            assert is_server(found.store if read is read_config else found.ledger)


class TestWhyAServerCannotBeUsed:
    """Before a session exists nothing can come from a row, so what libpq says is shown."""

    def told(self, dsn):
        with pytest.raises(dp.EngineFailure) as caught:
            dp.Postgres(dsn).check(PEOPLE)
        return str(caught.value)

    def test_refused(self):
        said = self.told(f"host=127.0.0.1 port=1 password={S}")
        assert "refused" in said and "127.0.0.1" in said and S not in said

    def test_also_of_a_ledger(self):
        with pytest.raises(dp.LedgerUnavailable, match=r"nothing was spent: .*refused") as caught:
            dp.open_ledger(f"host=127.0.0.1 port=1 password={S}", dp.PureDP(1))
        assert S not in str(caught.value)

    @pytest.mark.needs_postgres
    def test_no_such_database_or_role(self, postgres_dsn):
        said = self.told(f"{postgres_dsn} dbname=nowhere_{S[:3]} password={S}")
        assert "does not exist" in said and S not in said
        assert "role" in self.told(f"{postgres_dsn} user=no_such_role password={S}")

    @pytest.mark.needs_postgres
    def test_once_there_was_a_session_nothing_is_told(self, postgres_dsn):
        """A row may have ended it."""
        # The server is shared by all tests of a run: a table that none of them makes.
        unknown = dp.Schema("made_by_no_test", dp.Rows(), {"age": dp.Integer(0, 9)})
        with dp.Postgres(postgres_dsn) as store:
            with pytest.raises(dp.SchemaMismatch):
                store.check(unknown)
            store.close()
            store._dsn = "host=127.0.0.1 port=1"
            with pytest.raises(dp.EngineFailure, match="not shown"):
                store.check(unknown)

    def test_a_string_that_libpq_cannot_read(self):
        with pytest.raises(dp.InvalidArgument, match="libpq cannot read") as caught:
            dp.Postgres(f"postgresql://ann:{S}@h/d?none={S}").check(PEOPLE)
        assert S not in str(caught.value)
