"""Ledgers written by release 0.1.0: they open, verify, count to the last digit, and give their answers free, for ever."""

from __future__ import annotations

import json
import secrets
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import discreet as dp
from curator.cases import plan_otherwise
from discreet.curator.receipt_check import read_receipt
from fixtures.world_0_1_0 import (
    ASKED,
    BUDGETS,
    FAILED,
    FIRST,
    MAY,
    PENDING,
    PEOPLE,
    ROWS,
    TERMS,
    VISIT,
    VISITS,
    ask,
    shown,
    state,
)

HOME = Path(__file__).parents[1] / "fixtures" / "ledger_0_1_0"
EXPECTED = json.loads((HOME / "expected.json").read_text(encoding="utf-8"))
KINDS = list(BUDGETS)
CROSSED = pytest.mark.parametrize(
    ("store", "kind"),
    [
        pytest.param(store, kind, marks=[pytest.mark.slow] * ((row + column) % 2))
        for row, store in enumerate(("sqlite", "postgres"))
        for column, kind in enumerate(KINDS)
    ],
)
"""For what the curator makes of a ledger that is read as it was: every store and every filter, all pairs in deep."""


class Sealed:
    """A store that nothing may be asked of."""

    def __init__(self):
        store = dp.Memory(ROWS)
        self.explain, self.check, self.public_values = (
            store.explain,
            store.check,
            store.public_values,
        )

    def tally(self, tally):
        raise AssertionError("the store was asked, though the answer is in the ledger")


@pytest.fixture(scope="module")
def old_database(postgres_dsn):
    """A database with the ledgers that 0.1.0 kept in PostgreSQL, in the tables that it made."""
    import psycopg

    name = f"old_{secrets.token_hex(6)}"
    with psycopg.connect(postgres_dsn, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    dsn = f"{postgres_dsn} dbname={name}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute((HOME / "postgres.sql").read_text(encoding="utf-8"))
    return dsn


def _copied(dsn, kind):
    """Copy one ledger in its database under a name of its own, so that tests do not see each other."""
    import psycopg

    name = secrets.token_hex(6)
    with psycopg.connect(dsn) as connection:
        for table, rest in (("entry", "number, line, body, key"), ("state", "name, text")):
            connection.execute(
                f"INSERT INTO discreet_ledger.{table} SELECT %s, {rest} FROM discreet_ledger.{table} WHERE ledger = %s",
                (name, kind),
            )
    return name


@pytest.fixture(params=["sqlite", "postgres"])
def store(request):
    """Both stores that outlive their process."""
    return request.param


@pytest.fixture(params=KINDS)
def kind(request):
    """Each filter."""
    return request.param


@pytest.fixture
def told(store, kind):
    """What 0.1.0 said."""
    return EXPECTED[store][kind]


@pytest.fixture
def old(store, kind, request, tmp_path, stopped_clock):
    """A ledger as 0.1.0 left it, in the month in which it did."""
    stopped_clock.set(MAY)
    if store == "sqlite":
        where, name = shutil.copy(HOME / f"{kind}.ledger", tmp_path / "old.ledger"), "main"
    else:
        where = request.getfixturevalue("old_database")
        name = _copied(where, kind)
    with dp.open_ledger(where, BUDGETS[kind], name=name, **TERMS[kind]) as ledger:
        yield ledger


def test_a_server_whose_user_may_make_no_index_does_without(old_database):
    """The tables are those of 0.1.0; one who may only read and write rows is charged and answered all the same."""
    import psycopg

    name, clerk = _copied(old_database, "pure"), f"clerk_{secrets.token_hex(4)}"
    with psycopg.connect(old_database, autocommit=True) as admin:
        admin.execute("DROP INDEX IF EXISTS discreet_ledger.entry_question")
        admin.execute(f"CREATE ROLE {clerk} LOGIN")
        admin.execute(f"GRANT USAGE ON SCHEMA discreet_ledger TO {clerk}")
        admin.execute(
            f"GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA discreet_ledger TO {clerk}"
        )
        with dp.open_ledger(f"{old_database} user={clerk}", name=name) as ledger:
            before, order = ledger.spent(), ASKED["pure"][1]
            assert ask(_curator(ledger), "pure", order) and ledger.spent() == before
            ask(_curator(ledger, dp.Memory(ROWS)), "pure", (*order[:2], {"spend": "1/8"}))
            assert ledger.spent() != before and ledger.verify().exact
        assert admin.execute("SELECT to_regclass('discreet_ledger.entry_question')").fetchone() == (
            None,
        )


def _curator(ledger, store=None):
    return dp.Curator(Sealed() if store is None else store, [PEOPLE, VISITS], ledger)


def _orders(kind):
    return [*FIRST.get(kind, []), *ASKED[kind]]


def _same_meaning(kind, answers):
    """Pair what was asked with what 0.1.0 said; rows of people without a listed key count otherwise since."""
    pairs = zip(_orders(kind), answers, strict=True)
    return [(order, answer) for order, answer in pairs if order[1] != VISIT]


MENDED_INTERVALS = {
    (
        "zcdp",
        "SELECT region, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY region",
    ): "exact tails of Gaussian noise"
}
"""Answers whose intervals a later release states otherwise, and why. Their values stay equal."""


def _lasting(kind, order, told):
    """Leave out intervals that are stated otherwise since: what is shown begins with the values."""
    if (kind, str(order[1])) not in MENDED_INTERVALS:
        return told
    return {name: texts[0] for name, texts in told.items()}


class TestALedgerOf010:
    def test_verifies_as_it_did_and_counts_to_the_last_digit(self, old, kind, told):
        assert str(old.verify()) == told["verdict"]
        assert state(old, kind) == told["state"]

    def test_gives_every_answer_and_receipt_again_free_of_charge(self, old, kind, told):
        curator, before = _curator(old), old.verify().entries
        for order, answer in _same_meaning(kind, told["answers"]):
            found = ask(curator, kind, order)
            assert _lasting(kind, order, shown(found)) == _lasting(kind, order, answer["shown"]), (
                order
            )
            for one in found.values():
                assert one.receipt.to_json() == answer["receipt"]
                with pytest.warns(
                    UserWarning, match="the ledger vouches for the charge, .* but not for these two"
                ):
                    dp.verify_receipt(answer["receipt"], answer=one, ledger=old)
        if told["bounds"]:
            found = curator.named("bob").suggest_bounds("people", "age", dp.PureDP(1))
            assert [str(found.low), str(found.high)] == told["bounds"]
        assert old.verify().entries == before and state(old, kind) == told["state"]

    @CROSSED
    def test_charges_anew_what_counts_other_rows_since(self, old, kind):
        """The first answer stays in the history, and `explain` says so before the charge."""
        orders = [order for order in _orders(kind) if order[1] == VISIT]
        for who, question, how in orders:
            curator = _curator(old, dp.Memory(ROWS)).named(who)
            before = old.verify()
            words = {name: value for name, value in how.items() if name != "why"}
            told = curator.explain(question, **{**words, "spend": dp.PureDP(words["spend"])})
            assert not told.stored and "by earlier rules" in str(told)
            ask(curator, kind, (who, question, how))
            after = old.verify()
            assert (after.charges, after.answers) == (before.charges + 1, before.answers + 1)
            ask(_curator(old), kind, (who, question, how))

    @CROSSED
    def test_refutes_a_forged_receipt_of_then_and_says_what_it_cannot_know(self, old, told):
        true = read_receipt(told["answers"][0]["receipt"])
        [asked] = true.asked
        for lie in (
            replace(true, asked=(replace(asked, fingerprint="0" * 64),)),
            replace(true, asked=(replace(asked, answer="0" * 64),)),
            replace(true, neighbours="replace"),
            replace(true, part=True),
            replace(true, price=old.promise()),
        ):
            with pytest.raises(dp.ClaimRefuted):
                dp.verify_receipt(lie, ledger=old)
        for unknown in (
            replace(true, tables=(("people", "2"),)),
            replace(true, asked=(replace(asked, text="?"),)),
        ):
            with pytest.warns(UserWarning, match="without the question's text and the versions"):
                dp.verify_receipt(unknown, ledger=old)
        signer = dp.Signer.create()
        dp.verify_receipt(true.signed(signer), ledger=old, key=signer.public)

    @CROSSED
    def test_charges_a_colleague_anew(self, old, kind):
        """A receipt of 0.1.0 would show that somebody asked before; who asked is given the answer as ever."""
        (who, question, how), everyone = ASKED[kind][-1], old.spent()
        other = {"ana": "bob", "bob": "ana"}[who]
        first = next(iter(ask(_curator(old), kind, (who, question, how)).values()))
        assert old.spent() == everyone
        colleague = _curator(old, dp.Memory(ROWS))
        second = next(iter(ask(colleague, kind, (other, question, how)).values()))
        assert (first.receipt.who, second.receipt.who) == (who, other)
        assert first.receipt.stored_as != second.receipt.stored_as
        assert old.spent() != everyone and old.verify().exact

    @CROSSED
    def test_charges_anew_what_is_run_otherwise_since(self, old, kind):
        """Medians are chosen and unknown keys are found otherwise since: no other event runs under a pending charge."""
        before = old.verify()
        assert before.pending == 1
        answers = ask(_curator(old, dp.Memory(ROWS)), kind, PENDING[kind])
        after = old.verify()
        assert (after.pending, after.charges, after.answers) == (
            1,
            before.charges + 1,
            before.answers + 1,
        )
        assert shown(ask(_curator(old), kind, PENDING[kind])) == shown(answers)

    @CROSSED
    def test_charges_again_what_failed(self, old, kind):
        before = old.verify()
        ask(_curator(old, dp.Memory(ROWS)), kind, FAILED[kind])
        after = old.verify()
        assert (after.charges, after.answers) == (before.charges + 1, before.answers + 1)

    @CROSSED
    def test_charges_new_questions_as_ever(self, old, kind):
        before = old.spent()
        who, question, _ = PENDING[kind]
        spend = {"pure": "1/8", "approximate": "1/8 1e-9", "zcdp": "1/64"}[kind]
        ask(_curator(old, dp.Memory(ROWS)), kind, (who, question, {"spend": spend}))
        assert old.spent() != before and old.verify().exact


class TestAnotherPlanner:
    """A better planner divides a spend otherwise; whoever paid for an answer still has it."""

    @pytest.fixture(autouse=True)
    def planner(self, monkeypatch):
        """Plan with other shares of the spend."""
        plan_otherwise(monkeypatch)

    @CROSSED
    def test_finds_what_was_paid_for(self, old, kind, told):
        curator, before = _curator(old), old.verify().entries
        for order, answer in _same_meaning(kind, told["answers"]):
            if len(order[2].get("weights", {})) < 2:
                found = ask(curator, kind, order)
                assert _lasting(kind, order, shown(found)) == _lasting(
                    kind, order, answer["shown"]
                ), order
                assert {one.receipt.to_json() for one in found.values()} == {answer["receipt"]}
        assert old.verify().entries == before and state(old, kind) == told["state"]

    @CROSSED
    def test_says_that_it_was_planned_before(self, old, kind):
        several = {"pure": 1, "approximate": 0, "zcdp": 1}[
            kind
        ]  # a question with more than one release
        [answer] = ask(_curator(old), kind, _orders(kind)[several]).values()
        assert "planned by release 0.1.0" in str(answer.plan) and str(answer)

    @CROSSED
    def test_does_not_run_another_plan_under_a_pending_charge(self, old, kind):
        before = old.verify()
        ask(_curator(old, dp.Memory(ROWS)), kind, PENDING[kind])
        after = old.verify()
        assert (after.pending, after.charges) == (1, before.charges + 1)

    @pytest.mark.parametrize("kind", ["pure"], indirect=True)
    def test_charges_another_spend_level_style_or_weight(self, old, kind):
        from fixtures.world_0_1_0 import COUNT, MEAN, MEDIAN

        curator, number = _curator(old, dp.Memory(ROWS)), old.verify().charges
        for question, how in (
            (COUNT, {"spend": "2"}),
            (COUNT, {"spend": "1", "nonnegative": True}),
            (MEDIAN, {"spend": "1", "level": 0.95}),
            (MEAN, {"spend": "1", "weights": {"income": 3}}),
            (MEAN, {"spend": "2", "size": 10}),
        ):
            for _ in range(2):
                ask(curator, kind, ("ana", question, how))
            number += 1
            assert old.verify().charges == number, how
