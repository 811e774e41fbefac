"""Verification accepts every honest chain and refuses every other, saying which entry."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from fractions import Fraction

import pytest

import discreet as dp
from discreet.arithmetic.canonical import canonical_json, digest
from discreet.ledger import Verdict, open_ledger, verify_export
from discreet.ledger.account import read_account
from discreet.ledger.entry import Entry, read_line, seal, write_line
from discreet.ledger.review import chain_replay as replay_file
from discreet.ledger.review import history as history_file
from discreet.ledger.review import verify as verify_file
from discreet.ledger.review.verify import replay_lines, verdict_of
from discreet.privacy.events import GaussianNoise, LaplaceNoise, Repeated
from discreet.privacy.events.json import to_json

TWENTIETH = LaplaceNoise(scale=20, sensitivity=1)


def story(ledger):
    """Do a little of everything."""
    one = ledger.charge(TWENTIETH, who="ann", why="first", question="q", key="k")
    ledger.finish(one, '{"n": 1}')
    two = ledger.charge(TWENTIETH, who="bob")
    ledger.fail(two)
    ledger.allow("ann", dp.PureDP("1/2"))
    ledger.charge(TWENTIETH, who="ann", part=4)
    return ledger


@pytest.fixture
def told(place):
    parts = dp.Parts("visits", "month", [4, 5])
    terms = {"allowances": {"*": dp.PureDP("1/4")}, "parts": parts, "neighbours": "add-remove"}
    return story(place.open(dp.PureDP(1), **terms))


def lines_of(ledger):
    return [found.line for found in ledger._store.lines(1, 100)]


class TestAnHonestChain:
    def test_it_holds(self, told):
        said = []
        verdict = told.verify(lambda number, end: said.append((number, end)))
        assert said == [(7, 7)]
        assert (verdict.entries, verdict.charges, verdict.answers, verdict.pending) == (7, 3, 1, 1)
        assert verdict.spent == dp.PureDP("3/20") and verdict.promise == dp.PureDP(1)
        assert verdict.exact and verdict.share == pytest.approx(0.15)
        assert verdict.checkpoint == (7, told.history()[-1].hash)

    def test_its_export_holds_without_the_store(self, told, tmp_path):
        assert told.export(tmp_path / "lines") == 7
        verdict = verify_export(tmp_path / "lines")
        assert verdict == told.verify()
        said = []
        verify_export(
            tmp_path / "lines", lambda *where: said.append(where), checkpoint=verdict.checkpoint
        )
        assert said == [(7, 7)]

    def test_progress_comes_every_thousand(self, monkeypatch):
        """Of a thousand entries the laws are those of a hundred."""
        assert (verify_file._EVERY, history_file._CHUNK) == (1000, 1000)
        monkeypatch.setattr(verify_file, "_EVERY", 100)
        monkeypatch.setattr(history_file, "_CHUNK", 100)
        ledger = open_ledger(":memory:", dp.PureDP(1000))
        for _ in range(110):
            ledger.charge(TWENTIETH, who="ann")
        said = []
        ledger.verify(lambda *where: said.append(where))
        assert said == [(100, 111), (111, 111)]
        assert len(ledger.history(last=105)) == 105 and ledger.history(last=105)[0].number == 7

    def test_a_checkpoint_tells_an_older_copy(self, told):
        early, late = told.history()[2], told.verify().checkpoint
        assert told.verify(checkpoint=(early.number, early.hash)).checkpoint == late
        with pytest.raises(dp.LedgerCorrupt, match="ends at 7: it is an older copy"):
            told.verify(checkpoint=(8, "0" * 64))
        with pytest.raises(dp.LedgerCorrupt, match="entry 3 is not the one of the checkpoint"):
            told.verify(checkpoint=(3, late[1]))


FIELDS = [
    ("number", 9),
    ("number", True),
    ("kind", "fail"),
    ("kind", "else"),
    ("time", "2020-01-01T00:00:00.000000Z"),
    ("time", "yesterday"),
    ("who", "eve"),
    ("why", "else"),
    ("question", "else"),
    ("key", "else"),
    ("part", 5),
    ("event", None),
    ("event", {"event": "laplace-noise"}),
    ("terms", {"allowance": None}),
    ("refers", 3),
    ("refers", 2.0),
    ("body_hash", "0" * 64),
    ("books", "0" * 64),
    ("previous", "0" * 64),
    ("hash", "0" * 64),
    ("format", 2),
]


def verify_lines(lines, checkpoint=None):
    """What is said of lines without their answers, and without the store they come from."""
    return verdict_of(replay_lines([(line, None) for line in lines], checkpoint=checkpoint))


class TestEveryCorruptionIsRefused:
    @pytest.mark.parametrize(("field", "value"), FIELDS, ids=lambda x: str(x)[:20])
    def test_a_field_of_a_line(self, field, value):
        honest, changed = self.lines(), 0
        for number in range(1, 8):
            data, lines = json.loads(honest[number - 1]), [*honest]
            if canonical_json(data[field]) == canonical_json(value):
                continue
            lines[number - 1] = canonical_json(data | {field: value})
            changed += 1
            with pytest.raises(dp.LedgerCorrupt, match=f"entry {number}"):
                verify_lines(lines)
        assert changed >= 3

    @staticmethod
    def lines():
        parts = dp.Parts("visits", "month", [4, 5])
        terms = {"allowances": {"*": dp.PureDP("1/4")}, "parts": parts, "neighbours": "add-remove"}
        return lines_of(story(open_ledger(":memory:", dp.PureDP(1), **terms)))

    @pytest.mark.parametrize("line", ["", "{", "[1]", "null", "{}", '"x"', "[" * 100_000])
    def test_what_is_no_line(self, line):
        lines = self.lines()
        lines[2] = line
        with pytest.raises(dp.LedgerCorrupt, match="entry 3: a line is no entry"):
            verify_lines(lines)

    def test_a_line_that_is_written_otherwise(self):
        lines = self.lines()
        lines[2] = json.dumps(json.loads(lines[2]))
        with pytest.raises(dp.LedgerCorrupt, match="entry 3 is not in its canonical form"):
            verify_lines(lines)

    def test_a_line_that_is_missing_twice_or_elsewhere(self):
        lines = self.lines()
        for changed in (
            lines[1:],
            lines[:3] + lines[4:],
            lines[:3] + lines[2:],
            [*lines[:2], lines[3], lines[2]],
        ):
            with pytest.raises(dp.LedgerCorrupt, match="is missing, or says that it is entry"):
                verify_lines(changed)
        with pytest.raises(dp.LedgerCorrupt, match="chain is empty"):
            verify_lines([])


def forged(lines, number, **changes):
    """Change an entry and seal it and all that follow again, as one who can write the whole ledger would."""
    previous = json.loads(lines[number - 1])["previous"]
    for place in range(number - 1, len(lines)):
        entry = replace(read_line(lines[place]), previous=previous)
        if place == number - 1:
            entry = replace(entry, **changes)
        entry = seal(entry)
        lines[place], previous = write_line(entry), entry.hash
    return lines


class TestAForgedChainMustStillMakeSense:
    @pytest.mark.parametrize(
        ("number", "changes", "word"),
        [
            (2, {"kind": "open"}, "entry 2 is of kind 'open'"),
            (2, {"time": "2020-01-01T00:00:00.000000Z"}, "entry 2 is earlier"),
            (2, {"event": None}, "entry 2 could not have been written"),
            (2, {"part": 6}, "entry 2 could not have been written"),
            (2, {"refers": 1}, "entry 2, of kind 'charge', refers to 1"),
            (3, {"refers": None}, "entry 3, of kind 'answer', refers to None"),
            (3, {"refers": 3}, "which is not its charge"),
            (3, {"who": "bob"}, "which is not its charge"),
            (3, {"key": "else"}, "which is not its charge"),
            (5, {"kind": "charge", "refers": None, "event": None}, "could not have been written"),
            (5, {"refers": 2, "who": "ann", "key": "k"}, "entry 5 ends entry 2 once more"),
            (
                5,
                {"refers": 2, "who": "ann", "key": "k", "kind": "answer"},
                "entry 5 ends entry 2 once more",
            ),
            (1, {"terms": None}, "terms of this ledger cannot be read"),
        ],
    )
    def test_it_is_refused(self, number, changes, word):
        lines = forged(TestEveryCorruptionIsRefused.lines(), number, **changes)
        with pytest.raises(dp.LedgerCorrupt, match=word):
            verify_lines(lines)

    def test_a_charge_beyond_the_budget_or_the_allowance(self):
        large = {"event": to_json(LaplaceNoise(2, 1))}
        with pytest.raises(
            dp.LedgerCorrupt, match="entry 2 was charged beyond its budget: the allowance of ann"
        ):
            verify_lines(forged(TestEveryCorruptionIsRefused.lines(), 2, **large))

    @pytest.mark.parametrize("kind", ["residue", "zcdp"])
    def test_also_where_prices_are_rounded(self, kind):
        ledger = open_ledger(":memory:", dp.ApproxDP(1, 1e-6), kind=kind)
        ledger.charge(GaussianNoise.of(10, 1), who="ann")
        lines = forged(lines_of(ledger), 2, event=to_json(GaussianNoise.of(1, 1)))
        with pytest.raises(dp.LedgerCorrupt, match="entry 2 was charged beyond its budget"):
            verify_lines(lines)

    def test_only_a_checkpoint_tells_a_chain_that_was_written_anew(self):
        lines = TestEveryCorruptionIsRefused.lines()
        kept = verify_lines(lines).checkpoint
        new = forged(lines, 2, why="another reason")
        assert verify_lines(new).exact
        with pytest.raises(dp.LedgerCorrupt, match="written anew"):
            verify_lines(new, kept)


class TestThePricesOfAnotherRelease:
    """A release that prices tighter, or a machine that rounds the last digit otherwise, does not break a ledger."""

    def test_lower_prices_are_covered_by_the_books(self, monkeypatch):
        ledger = open_ledger(":memory:", dp.PureDP(1))
        for _ in range(3):
            ledger.charge(Repeated(TWENTIETH, 2), who="ann")
        self._price(monkeypatch, TWENTIETH)
        verdict = ledger.verify()
        assert not verdict.exact and verdict.spent == dp.PureDP("3/20")
        assert "no higher than in the books" in str(verdict)

    def test_higher_prices_are_not(self, monkeypatch):
        ledger = open_ledger(":memory:", dp.PureDP(1))
        ledger.charge(TWENTIETH, who="ann")
        self._price(monkeypatch, Repeated(TWENTIETH, 2))
        with pytest.raises(dp.LedgerCorrupt, match="account of everyone in the books is not"):
            ledger.verify()

    @staticmethod
    def _price(monkeypatch, event):
        from discreet.ledger import books

        monkeypatch.setattr(books, "read_event", lambda text: event)

    def test_a_full_budget_may_be_over_by_a_last_digit(self, monkeypatch):
        ledger = open_ledger(
            ":memory:", dp.ZCDP("1/100"), allowances={"ann": dp.ZCDP("1/100"), "bob": dp.ZCDP(1)}
        )
        ledger.allow("bob", None)
        ledger.charge(GaussianNoise.of(10, 1), who="ann")
        ledger.charge(GaussianNoise.of(10, 1), who="ann")
        hair = GaussianNoise(
            variance=Fraction(100) / (1 + Fraction(1, 10**12)), squared_sensitivity=1, step=0
        )
        self._price(monkeypatch, hair)
        assert not ledger.verify().exact
        monkeypatch.setattr(replay_file, "SLACK", 1 + Fraction(1, 10**13))
        with pytest.raises(dp.LedgerCorrupt, match="entry 4 was charged beyond"):
            ledger.verify()


class TestTheBooksMustBeThoseOfTheChain:
    @pytest.fixture
    def ledger(self, file):
        ledger = story(
            open_ledger(file, dp.PureDP(1), parts=dp.Parts("v", "m", [4]), neighbours="add-remove")
        )
        yield ledger
        ledger.close()

    @staticmethod
    def put(ledger, name, text):
        with closing(sqlite3.connect(ledger._store.path, isolation_level=None)) as connection:
            connection.execute("INSERT OR REPLACE INTO state VALUES (?, ?)", (name, text))

    @staticmethod
    def text(ledger, name):
        return ledger._store.read([name]).texts[name]

    @pytest.mark.parametrize("name", ["terms", "allowances", "everyone"])
    def test_what_everyone_stands_under_is_checked_at_every_charge(self, ledger, name):
        text = self.text(ledger, name)
        for changed in (text.replace("1", "2", 1), text[:-9], "null", "[]", "{}"):
            self.put(ledger, name, changed)
            for call in (ledger.left, lambda: ledger.charge(TWENTIETH, who="ann"), ledger.verify):
                with pytest.raises(dp.LedgerCorrupt):
                    call()
        self.put(ledger, name, text)
        ledger.charge(TWENTIETH, who="ann")

    def test_an_account_with_less_or_more_is_found(self, ledger):
        text = self.text(ledger, "who:ann")
        for changed in (text.replace("1/20", "1/2000"), text.replace("1/20", "1/2")):
            self.put(ledger, "who:ann", changed)
            with pytest.raises(dp.LedgerCorrupt, match="account of ann in the books is not"):
                ledger.verify()

    def test_an_account_too_many_is_found(self, ledger):
        self.put(ledger, "who:eve", self.text(ledger, "who:ann"))
        with pytest.raises(dp.LedgerCorrupt, match="terms, allowances or accounts"):
            ledger.verify()

    @pytest.mark.parametrize(
        "change",
        [
            lambda d: d | {"since": "x"},
            lambda d: d | {"near": "replace"},
            lambda d: d | {"parts": {}},
        ],
    )
    def test_also_when_this_release_prices_otherwise(self, ledger, monkeypatch, change):
        TestThePricesOfAnotherRelease._price(monkeypatch, LaplaceNoise(40, 1))
        assert not ledger.verify().exact
        self.put(
            ledger, "who:ann", canonical_json(change(json.loads(self.text(ledger, "who:ann"))))
        )
        with pytest.raises(dp.LedgerCorrupt, match="account of ann"):
            ledger.verify()

    def test_an_account_in_another_measure_is_found(self, ledger):
        account = read_account(self.text(ledger, "who:ann"))
        two = replace(
            account, common=replace(account.common, amounts=account.common.amounts * 2), parts=()
        )
        self.put(ledger, "who:ann", two.text())
        with pytest.raises(dp.LedgerCorrupt, match="another measure"):
            ledger.left("ann")

    def test_a_text_that_is_lost_is_found(self, ledger):
        with closing(sqlite3.connect(ledger._store.path, isolation_level=None)) as connection:
            connection.execute("DELETE FROM state WHERE name = 'everyone'")
        with pytest.raises(dp.LedgerCorrupt, match="has lost its everyone"):
            ledger.left()

    @pytest.mark.parametrize(
        ("sql", "word"),
        [
            ("DELETE FROM entry WHERE number = 7", "the books are not those after entry 6"),
            (
                "UPDATE entry SET line = replace(line, 'ann', 'eve') WHERE number = 7",
                "entry 7 does not have the hash",
            ),
            ("UPDATE entry SET number = 8 WHERE number = 7", "entry 8 says that it is entry 7"),
            ("DELETE FROM entry", "there is no ledger here any more"),
        ],
    )
    def test_a_last_line_that_is_lost_or_changed_stops_the_next_charge(self, ledger, sql, word):
        with closing(sqlite3.connect(ledger._store.path, isolation_level=None)) as connection:
            connection.execute(sql)
        for call in (ledger.left, lambda: ledger.charge(TWENTIETH, who="ann"), ledger.verify):
            with pytest.raises(dp.LedgerCorrupt, match=word):
                call()

    def test_a_line_that_is_lost_in_the_middle_is_found_by_verification(self, ledger):
        with closing(sqlite3.connect(ledger._store.path, isolation_level=None)) as connection:
            connection.execute("DELETE FROM entry WHERE number = 4")
        with pytest.raises(dp.LedgerCorrupt, match="entry 4 is missing"):
            ledger.verify()

    @pytest.mark.parametrize(
        ("body", "word"), [("'{}'", "has another answer"), ("NULL", "has lost its answer")]
    )
    def test_an_answer_that_was_changed_is_not_given(self, ledger, body, word):
        with closing(sqlite3.connect(ledger._store.path, isolation_level=None)) as connection:
            connection.execute(f"UPDATE entry SET body = {body} WHERE number = 3")
        with pytest.raises(dp.LedgerCorrupt, match="not the one that was stored"):
            ledger.answer("k")
        with pytest.raises(dp.LedgerCorrupt, match=word):
            ledger.verify()

    def test_lines_that_are_gone_by_the_time_they_are_read(self, ledger, monkeypatch):
        monkeypatch.setattr(ledger._store, "lines", lambda first, last: iter([]))
        with pytest.raises(dp.LedgerCorrupt, match="entries 1 to 7 are missing"):
            ledger.verify()


class TestExports:
    def test_a_file_that_exists_is_not_overwritten(self, told, tmp_path):
        (tmp_path / "lines").write_text("mine")
        with pytest.raises(dp.InvalidArgument, match="name a new file"):
            told.export(tmp_path / "lines")
        assert (tmp_path / "lines").read_text() == "mine"

    def test_a_torn_or_foreign_file_is_refused(self, told, tmp_path):
        told.export(tmp_path / "lines")
        whole = (tmp_path / "lines").read_bytes()
        (tmp_path / "torn").write_bytes(whole[:-10])
        with pytest.raises(dp.LedgerCorrupt, match="ends in the middle of a line"):
            verify_export(tmp_path / "torn")
        (tmp_path / "cut").write_bytes(whole[: whole.index(b"\n") + 1])
        assert (
            verify_export(tmp_path / "cut").entries == 1
        )  # a shorter chain is a chain: keep a checkpoint
        with pytest.raises(dp.LedgerCorrupt, match="older copy"):
            verify_export(tmp_path / "cut", checkpoint=told.verify().checkpoint)
        (tmp_path / "other").write_bytes(b"\xff\xfe\n")
        with pytest.raises(dp.LedgerCorrupt, match="something else than lines"):
            verify_export(tmp_path / "other")
        with pytest.raises(dp.InvalidArgument, match="cannot be read"):
            verify_export(tmp_path / "nowhere")


def test_a_verdict_shows_itself():
    verdict = open_ledger(":memory:", dp.ZCDP(1)).verify()
    assert (
        str(verdict).splitlines()[0] == "verdict     the chain holds, every charge fits its budget"
    )
    assert (
        "0 %" in str(verdict)
        and "<table>" in verdict._repr_html_()
        and isinstance(verdict, Verdict)
    )


def test_where_one_text_ends_and_the_next_begins_matters():
    assert len({digest("ab", "c"), digest("a", "bc"), digest("abc"), digest("", "abc")}) == 4


def test_entries_can_be_members_of_a_set():
    assert len({Entry(1, "open", "x", event={"a": 1}), Entry(1, "open", "x", event={"a": 1})}) == 1
