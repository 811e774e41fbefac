"""Real clients ask: psql and psycopg 3. Others have files of their own."""

from __future__ import annotations

import datetime as dt
import subprocess
import threading
from decimal import Decimal
from fractions import Fraction

import psycopg
import pytest

import discreet
from discreet.service.postgres import allowances

COUNTS = "SELECT region, COUNT(*) AS n FROM people GROUP BY region ORDER BY region"


class TestPsql:
    """What an analyst types, and what psql shows."""

    def test_a_question_is_charged_once_and_told(self, wire):
        sql = "SELECT COUNT(*) AS n FROM people WHERE age < 11"
        first = wire.psql(sql)
        again = wire.psql(sql.replace("AS n", "AS how_many"))
        assert "NOTICE:  cost ε = 0.1" in first.stderr and "receipt" in first.stderr
        assert "nothing spent" in again.stderr
        assert first.stdout == again.stdout
        assert first.stdout.strip().lstrip("-").isdigit()

    def test_without_terms_nothing_is_asked(self, wire):
        refused = wire.psql(COUNTS, options="")
        assert "HINT:  SET discreet.epsilon = '1/10'" in refused.stderr

    def test_explain_is_free(self, wire):
        before = wire.spent()
        shown = wire.psql("EXPLAIN SELECT AVG(income) AS m FROM people", "SHOW discreet.left")
        assert "costs ε = 0.1" in shown.stdout and "ε = " in shown.stdout.splitlines()[-1]
        assert wire.spent() == before

    @pytest.mark.parametrize(
        "command", [r"\d", r"\dt", r"\d people", r"\l", r"\dn", r"\du", r"\dp"]
    )
    def test_catalog_commands(self, wire, command):
        shown = wire.psql(command)
        assert "ERROR" not in shown.stderr, shown.stderr
        if command.startswith((r"\d people", r"\dt")):
            assert "people" in shown.stdout or "income|double precision" in shown.stdout

    def test_copy(self, wire):
        shown = wire.psql(f"COPY ({COUNTS}) TO STDOUT WITH CSV HEADER")
        lines = shown.stdout.splitlines()
        assert lines[0] == "region,n" and [line[0] for line in lines[1:]] == ["E", "N", "S", "W"]

    def test_several_statements_are_planned_before_one_is_asked(self, wire):
        before = wire.spent()
        for other, words in {
            "SELECT COUNT(*) FROM nix": "there is no table 'nix'",
            "DROP TABLE people": "read-only",
            "SELEC 1": "no statement that is answered here",
        }.items():
            both = wire.psql(f"SELECT COUNT(*) AS n FROM people WHERE age < 12; {other}")
            assert words in both.stderr
        assert wire.spent() == before


class TestPsycopg:
    """psycopg 3: parameters, binary results, cursors, pipelines, transactions."""

    def test_parameters_of_every_type(self, wire):
        sql = "SELECT COUNT(*) AS n FROM people WHERE {}"
        cases = [
            ("age > %s", 30),
            ("income > %s", 1000.5),
            ("income > %s", Decimal("1000.5")),
            ("region = %s", "N"),
            ("region = %s", "1' OR '1'='1"),
            ("(age > 3) = %s", True),
        ]
        with wire.connect() as line:
            for condition, value in cases:
                for binary in (False, True):
                    [[n]] = line.execute(sql.format(condition), [value], binary=binary).fetchall()
                    assert isinstance(n, int)

    def test_a_value_stays_one_value(self, wire):
        with wire.connect(spend="20") as line:
            hostile = "N' OR region = 'S"
            [[n]] = line.execute(
                "SELECT COUNT(*) AS n FROM people WHERE region = %s", [hostile]
            ).fetchall()
            assert abs(n) < 20

    def test_types_agree_in_text_and_binary(self, wire):
        sql = "SELECT region, age > 40 AS old, COUNT(*) AS n, AVG(income) AS m FROM people GROUP BY region, old"
        # Enough is spent that no cell is too small for a mean.
        with wire.connect(spend="2") as line:
            as_text = line.execute(sql).fetchall()
            as_binary = line.execute(sql, binary=True).fetchall()
        assert as_text == as_binary
        assert [type(value) for value in as_text[0]] == [str, bool, int, float]

    def test_dates(self, wire):
        with wire.connect() as line:
            [[day]] = line.execute("SELECT %s::date", [dt.date(2024, 2, 29)]).fetchall()
        assert day == dt.date(2024, 2, 29)

    def test_named_cursor_pages_through_one_answer(self, wire):
        with wire.connect(autocommit=False) as line:
            before = wire.spent()
            with line.cursor("paged") as cursor:
                cursor.execute("SELECT age, COUNT(*) AS n FROM people GROUP BY age")
                assert len(cursor.fetchmany(7)) == 7
                assert len(cursor.fetchall()) == 121 - 7
        assert wire.spent() - before == Fraction(1, 10)

    def test_pipeline(self, wire):
        with wire.connect() as line, line.pipeline():
            ones = [line.execute("SELECT %s::int", [k]) for k in range(5)]
            assert [cursor.fetchone()[0] for cursor in ones] == list(range(5))

    def test_after_an_error_the_transaction_is_over(self, wire):
        with wire.connect(autocommit=False) as line:
            with pytest.raises(psycopg.errors.UndefinedTable):
                line.execute("SELECT COUNT(*) FROM nix")
            with pytest.raises(psycopg.errors.InFailedSqlTransaction):
                line.execute("SELECT 1")
            line.rollback()
            assert line.execute("SELECT 1").fetchone() == (1,)
            with pytest.raises(psycopg.errors.UndefinedTable), line.transaction():
                line.execute("SELECT COUNT(*) FROM nix")
            assert line.execute("SELECT 2").fetchone() == (2,)

    def test_a_rollback_refunds_nothing_and_says_so(self, wire):
        notices = []
        with wire.connect(autocommit=False) as line:
            line.add_notice_handler(lambda notice: notices.append(notice.message_primary))
            line.execute("SELECT COUNT(*) AS n FROM people WHERE age < 13").fetchall()
            spent = wire.spent()
            line.rollback()
        assert any("refunds nothing" in notice for notice in notices)
        assert wire.spent() == spent

    def test_intervals_confirm_and_allowance(self, wire):
        with wire.connect() as line:
            line.execute("SET discreet.intervals = on")
            cursor = line.execute("SELECT COUNT(*) AS n FROM people WHERE age < 14")
            assert [column.name for column in cursor.description] == ["n", "n_low", "n_high"]
            [[n, low, high]] = cursor.fetchall()
            assert low <= n <= high
            line.execute("SET discreet.confirm = on")
            # What was answered before is answered again; what is new is refused with its price.
            assert line.execute("SELECT COUNT(*) AS n FROM people WHERE age < 14").fetchall()
            with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="costs ε = 0.1"):
                line.execute("SELECT COUNT(*) AS n FROM people WHERE age < 15")
            line.execute("SET discreet.confirm = off")
            line.execute("SET discreet.allowance = '3/20'")
            line.execute("SELECT COUNT(*) AS n FROM people WHERE age < 16")
            with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="allowance"):
                line.execute("SELECT COUNT(*) AS n FROM people WHERE age < 17")
            line.execute("SELECT COUNT(*) AS n FROM people WHERE age < 16")

    @pytest.mark.parametrize(
        ("sql", "error"),
        [
            ("INSERT INTO people VALUES (1)", psycopg.errors.ReadOnlySqlTransaction),
            ("SELECT * FROM people LIMIT 5", psycopg.errors.FeatureNotSupported),
            ("SELECT COUNT(nix) AS n FROM people", psycopg.errors.UndefinedColumn),
            ("SELECT COUNT(*) FROM nix", psycopg.errors.UndefinedTable),
            ("SELECT FROM WHERE", psycopg.errors.SyntaxError),
            ("SET discreet.epsilon = 'x'", psycopg.errors.InvalidParameterValue),
            ("SET discreet.epsilom = '1'", psycopg.errors.InvalidParameterValue),
            ("SELECT COUNT(*) AS n FROM people, pg_class", psycopg.errors.FeatureNotSupported),
            ("FETCH 1 FROM nothing", psycopg.errors.InvalidCursorName),
        ],
    )
    def test_refusals_have_their_codes(self, wire, sql, error):
        before = wire.spent()
        with wire.connect() as line, pytest.raises(error):
            line.execute(sql)
        assert wire.spent() == before

    @pytest.mark.parametrize(
        ("sql", "hint"),
        [
            ("SELECT COUNT(*) FROM poeple", "did you mean people?"),
            ("SELECT COUNT(*) FROM nix", "there is people, wards"),
            ("SET discreet.epsilom = '1'", "did you mean epsilon?"),
            ("SET discreet.nothing = '1'", "there are discreet.epsilon, discreet.delta"),
        ],
    )
    def test_what_would_work_is_the_hint(self, wire, sql, hint):
        with wire.connect() as line, pytest.raises(psycopg.Error) as refused:
            line.execute(sql)
        assert refused.value.diag.message_hint.startswith(hint)
        assert "did you mean" not in refused.value.diag.message_primary

    def test_a_question_beyond_the_budget(self, wire):
        with (
            wire.connect(spend="1000") as line,
            pytest.raises(psycopg.errors.ConfigurationLimitExceeded),
        ):
            line.execute("SELECT COUNT(*) AS n FROM people WHERE age < 18")

    def test_columns_of_no_rows(self, wire):
        with wire.connect(spend="") as line:
            cursor = line.execute("SELECT * FROM people WHERE 1 = 0")
            assert [column.name for column in cursor.description] == ["age", "income", "region"]
            assert cursor.fetchall() == []
            assert line.execute("SELECT region FROM people LIMIT 0").fetchall() == []

    def test_twenty_at_once_are_charged_once(self, wire):
        sql = "SELECT COUNT(*) AS n FROM people WHERE age < 19"
        before = wire.spent()
        found = []

        def ask():
            with wire.connect() as line:
                found.append(line.execute(sql).fetchall())

        threads = [threading.Thread(target=ask) for _ in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(found) == 20 and len(set(map(str, found))) == 1
        assert wire.spent() - before == Fraction(1, 10)


class TestStewardsOptions:
    """Keys of `[wire]`."""

    def test_previews_are_made_up_and_a_day_has_an_end(self, own_wire):
        options = 'preview = "made-up"\nper_day = { epsilon = "1/4" }\nepsilon = "1/10"'
        wire = own_wire(options, csv="age,income,region\n" + "77,77777,W\n" * 50)
        notices = []
        with wire.connect(spend="") as line:
            line.add_notice_handler(lambda notice: notices.append(notice.message_primary))
            rows = line.execute("SELECT * FROM people LIMIT 5").fetchall()
            assert len(rows) == 5 and (77, 77777.0, "W") not in rows
            assert any("made up" in notice for notice in notices)
            assert wire.spent() == 0
            for age in (1, 2):
                line.execute(f"SELECT COUNT(*) AS n FROM people WHERE age < {age}")
            # A third is beyond the day; what was paid for is answered.
            with pytest.raises(psycopg.errors.ConfigurationLimitExceeded, match="of a day"):
                line.execute("SELECT COUNT(*) AS n FROM people WHERE age < 3")
            line.execute("SELECT COUNT(*) AS n FROM people WHERE age < 2")
        assert wire.spent() == Fraction(1, 5)

    def test_a_day_with_more_entries_than_are_read_has_no_allowance_left(self, monkeypatch):
        table = discreet.Schema("t", discreet.Rows(), {"x": discreet.Integer(0, 9)})
        ledger = discreet.open_ledger(":memory:", discreet.PureDP(10))
        curator = discreet.Curator(discreet.Memory({"t": []}), [table], ledger)
        monkeypatch.setattr(allowances, "_MAX_ENTRIES", 2)
        for limit in (1, 2):
            allowances.check_day(curator, discreet.PureDP(4), discreet.PureDP(1))
            curator.sql(f"SELECT COUNT(*) FROM t WHERE x < {limit}", spend=1)
        with pytest.raises(discreet.BudgetExceeded, match="nothing is left"):
            allowances.check_day(curator, discreet.PureDP(4), discreet.PureDP(1))


def test_the_command_listens(tmp_path):
    """`discreet serve --postgres` refuses to listen beyond this machine without TLS."""
    from service.deployment import build

    deployment = build(tmp_path)
    command = [
        "serve",
        "--config",
        str(deployment.config),
        "--host",
        "192.0.2.1",
        "--postgres",
        "5433",
    ]
    import sys

    script = "from discreet.cli.app import app; app()"
    ended = subprocess.run(
        [sys.executable, "-c", script, *command],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ended.returncode != 0 and "needs TLS" in ended.stderr + ended.stdout
