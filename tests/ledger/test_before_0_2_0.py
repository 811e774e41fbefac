"""Ledgers written at the commit before the renaming: they open, verify and answer, and the same bytes are written."""

from __future__ import annotations

import gzip
import hashlib
import json
import math
import re
import secrets
import sqlite3
import warnings
from contextlib import closing
from datetime import datetime
from fractions import Fraction
from pathlib import Path

import pytest

import discreet as dp
from discreet.arithmetic.canonical import canonical_json, digest
from discreet.ledger import verify_export

# The only names below a package's own; a renaming changes these two lines and nothing else here.
from discreet.ledger.charge_order import ChargeOrder
from discreet.privacy.events.json import from_json as read_event
from fixtures.world_before_0_2_0 import (
    ASKED,
    LEDGERS,
    MAY,
    ROWS,
    answers_of,
    receipt_of,
    shown,
    state,
    take,
)

# The steps were written with the names of that time, which still work.
pytestmark = pytest.mark.filterwarnings("ignore:estimate_cut is now:DeprecationWarning")

FLOAT = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
"""A number with a point, as `repr` writes it."""
SHOWN_MU = re.compile(r"μ = (\d+\.\d{5,})")
HOME = Path(__file__).parents[1] / "fixtures" / "before_0_2_0"
EXPECTED = json.loads((HOME / "expected.json").read_text(encoding="utf-8"))
PLANNED_OTHERWISE: dict[tuple[str, str], str] = {
    ("residue", "logistic"): "a part of the budget recalibrates its probabilities",
    ("residue", "classifier"): "a part of the budget recalibrates its probabilities",
    ("residue", "kmeans"): "it starts from a noisy grid",
    ("residue", "pairs"): "shares of the budget go by cells, and the total has one of its own",
    ("residue", "ones"): "shares of the budget go by cells, and the total has one of its own",
    ("residue", "of rows"): "shares of the budget go by cells, and the total has one of its own",
    ("pure", "cases cube"): "rows without a key are measured too",
    ("pure", "cases sets"): "rows without a key are measured too",
    ("pure", "cases release"): "rows without a key are measured too",
    ("pure", "percentile"): "a quantile is chosen with its interval",
    **dict.fromkeys(
        ((kind, "median") for kind in LEDGERS), "a quantile is chosen with its interval"
    ),
}
"""Questions that a later planner charges otherwise, by ledger and step, and why. Their keys stay equal all the same."""
MENDED_INTERVALS: dict[tuple[str, str], str] = {
    (kind, step): "exact tails of Gaussian noise on the sum and the count of a mean"
    for kind in ("zcdp", "gaussian", "gaussian residue", "renyi")
    for step in ("mean", "april mean", "release")
}
"""Answers whose intervals a later release states otherwise, by ledger and step, and why. Their values stay equal."""
OTHER_MEANING = {
    "pure": ("cases cube", "cases sets", "cases release", "trips", "trips of people", "joined"),
    "zcdp": ("trips",),
    "residue": ("visits",),
}
"""Steps that counted other rows then: rows without a key of another table, people's rows by two kinds of caps, rows
kept before a join by the columns that were read, and people's rows in a model."""
NESTED_SINCE = ("cut", "cut of a sum")
"""Questions that are written as a SELECT over a SELECT since such questions are read; their keys stay equal."""
REPRICED = ("events replace",)
"""Ledgers with an event that a later release prices lower: shuffled reports, by their own pair."""
RENAMED_REASONS = {"estimate cut": "estimate truncation"}
"""Reasons that a verb writes by itself where nobody gives one, by what they were."""
READ = {
    "pure": """
        count, mean, median, points, mode, people, rounded, filters, computed, months, part N, release,
        bounds, caps, old deviation, old moment, old coefficient, again, eve
    """,
    "residue": "towns, bayes, pca, ones",
    "zcdp": "april, april mean, mean, again",
}
"""The steps that `make test` reads again: every form of a stored answer. `make deep` reads all of them."""
ASKED_ANEW = {
    "pure": "count, mean, median, mode, people, filters, bins, part N, release, bounds, caps, again",
    "residue": "towns, bayes, ones",
    "renyi": "count, again",
}
"""The steps that `make test` asks in a new ledger. `make deep` asks all of them."""


def _chosen(quick):
    names = {kind: [name.strip() for name in listed.split(",")] for kind, listed in quick.items()}
    return [
        *(pytest.param(kind, listed, id=f"{kind} quick") for kind, listed in names.items()),
        *(pytest.param(kind, None, id=kind, marks=pytest.mark.slow) for kind in LEDGERS),
    ]


LIFE = [path.name.removesuffix(".ledger.gz") for path in sorted((HOME / "life").glob("*.gz"))]


class Sealed:
    """A store that nothing may be asked of."""

    def __init__(self):
        store = dp.Memory(ROWS)
        self.explain, self.check, self.public_values = (
            store.explain,
            store.check,
            store.public_values,
        )
        self.rows_public = store.rows_public

    def tally(self, tally):
        raise AssertionError("the store was asked, though the answer is in the ledger")


def _unpacked(source, folder):
    path = folder / "old.ledger"
    path.write_bytes(gzip.decompress(source.read_bytes()))
    return path


def _kept(path):
    """Return every row that a ledger's file keeps: its lines with bodies and keys, and its books."""
    with closing(sqlite3.connect(path)) as connection:
        lines = connection.execute(
            "SELECT number, line, body, key FROM entry ORDER BY number"
        ).fetchall()
        return lines, dict(connection.execute("SELECT name, text FROM state"))


@pytest.fixture
def file(kind, tmp_path, stopped_clock):
    """A copy of one ledger's file, at the time at which it was left."""
    stopped_clock.set(MAY)
    return _unpacked(HOME / f"{kind}.ledger.gz", tmp_path)


def _steps(kind, names):
    kept = LEDGERS[kind]
    every = {step.name: step for step in (*kept.first, *kept.steps) if step.verb in ASKED}
    return list(every.values()) if names is None else [every[name] for name in names]


def _opened(path, kind):
    return dp.open_ledger(path, LEDGERS[kind].budget, **LEDGERS[kind].terms)


def _check(ledger, told, folder):
    """Compare what a ledger says about itself, and what it exports, with what it said then."""
    verdict = ledger.verify(checkpoint=tuple(told["checkpoint"]))
    assert _verdict(ledger, verdict) == _verdict(ledger, told["verdict"])
    assert list(verdict.checkpoint) == told["checkpoint"]
    assert state(ledger) == told["state"]
    ledger.export(folder / "lines", answers=True)
    assert hashlib.sha256((folder / "lines").read_bytes()).hexdigest() == told["export"]
    assert _verdict(ledger, verify_export(folder / "lines")) == _verdict(ledger, told["verdict"])


def _verdict(ledger, verdict):
    """Return the words of a verdict; whether a residue is priced to its last digit is the processor's."""
    if ledger.terms.kind != "residue":
        return _same_mu(str(verdict))
    words = _same_mu(str(verdict)).replace("no higher than in the books", "as in the books")
    if not any(event["event"] == "shuffled" for event in _events(ledger)):
        return words
    # The price of all events together is lower than it was then.
    spent = re.compile(r"\(([\d.]+), 2e-09\)")
    assert float(spent.search(words)[1]) <= 16
    return spent.sub("less", words)


def _same_mu(words):
    """Leave out the last digits of μ: it was shown rounded to the nearest, and is rounded up since."""
    return SHOWN_MU.sub(lambda found: f"μ = {float(found[1]):.4f}", words)


def _events(ledger):
    return [entry.event for entry in ledger.history(kinds=("charge",))]


class TestALedgerOfThen:
    @pytest.mark.parametrize("kind", LEDGERS)
    def test_opens_verifies_counts_and_stays_as_it_is(self, file, kind, tmp_path):
        before, told = _kept(file), EXPECTED["ledgers"][kind]
        with _opened(file, kind) as ledger:
            _check(ledger, told, tmp_path)
            for step in told["steps"].values():
                if step.get("receipt"):
                    dp.verify_receipt(
                        step["receipt"], ledger=ledger
                    )  # it states every fact of a stored answer
        assert _kept(file) == before

    @pytest.mark.parametrize("kind", LIFE)
    def test_that_was_moved_imported_or_repaired_opens_too(self, kind, tmp_path, stopped_clock):
        stopped_clock.set(MAY)
        path = _unpacked(HOME / "life" / f"{kind}.ledger.gz", tmp_path)
        before = _kept(path)
        with dp.open_ledger(path) as ledger:
            _check(ledger, EXPECTED["life"][kind], tmp_path)
            charge = ledger.history(kinds=("charge",))[0]
            assert (ledger.body(charge) is None) is (kind == "imported without answers")
        assert _kept(path) == before

    @pytest.mark.parametrize(("kind", "names"), _chosen(READ))
    def test_gives_every_answer_again_free_of_charge(self, file, kind, names):
        before, told = _kept(file), EXPECTED["ledgers"][kind]["steps"]
        with _opened(file, kind) as ledger, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is advised before a charge is not the point here
            curator = dp.Curator(Sealed(), LEDGERS[kind].schemas, ledger)
            for step in _steps(kind, names):
                if step.name in OTHER_MEANING.get(kind, ()):
                    continue
                found, then = take(curator, step), told[step.name]
                now = json.loads(json.dumps(shown(found)))
                pair = [_without_mended(kind, step.name, one) for one in (now, then["shown"])]
                assert _near(*pair), (step.name, *pair)
                assert receipt_of(found) == then["receipt"], step.name
                for one in answers_of(found).values():
                    if isinstance(
                        one, dp.Answer
                    ):  # the hash is of the answer as it would be stored today
                        dp.verify_receipt(then["receipt"], answer=one, ledger=ledger)
        assert _kept(file) == before

    @pytest.mark.parametrize("kind", OTHER_MEANING)
    def test_charges_anew_what_counted_other_rows(self, file, kind):
        """Those answers stay in the history; the same question is a new charge, with a key that says its meaning."""
        with _opened(file, kind) as ledger, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            curator = dp.Curator(dp.Memory(ROWS), LEDGERS[kind].schemas, ledger)
            for step in _steps(kind, OTHER_MEANING[kind]):
                before = ledger.verify().charges
                take(curator, step)
                take(dp.Curator(Sealed(), LEDGERS[kind].schemas, ledger), step)
                assert ledger.verify().charges == before + 1, step.name
                [charge] = ledger.history(last=1, kinds=("charge",))
                # Questions say their meaning in their key; models have another key of the same form.
                assert charge.key.startswith("2:m2:") or step.verb == "learn"

    @pytest.mark.parametrize("kind", ["pure", pytest.param("zcdp", marks=pytest.mark.slow)])
    def test_runs_what_is_pending_under_its_charge(self, file, kind, stopped_clock):
        stopped_clock.move(
            hours=1
        )  # whoever asks at once would wait a moment for the process that was charged
        [pending] = [step for step in LEDGERS[kind].steps if step.name == "pending"]
        with _opened(file, kind) as ledger:
            before = ledger.verify()
            take(dp.Curator(dp.Memory(ROWS), LEDGERS[kind].schemas, ledger), pending)
            after = ledger.verify()
            assert (after.charges, after.answers, after.pending) == (
                before.charges,
                before.answers + 1,
                before.pending - 1,
            )


def _without_mended(kind, name, told):
    """Leave out intervals that are stated otherwise since."""
    if (kind, name) not in MENDED_INTERVALS:
        return told
    return {
        of: {what: one for what, one in said.items() if what != "intervals"}
        for of, said in told.items()
    }


class TestTheSameIsWritten:
    """Today's code writes what that commit wrote: keys, events and texts, and the whole chain byte by byte."""

    @pytest.mark.parametrize(("kind", "names"), _chosen(ASKED_ANEW))
    def test_by_asking_in_a_new_ledger(self, file, kind, names):
        """The noise is new; everything else follows from the question and its terms, and is equal."""
        with closing(sqlite3.connect(file)) as connection:
            old = _Lines(
                connection.execute("SELECT line, body FROM entry ORDER BY number").fetchall()
            )
        kept, told = LEDGERS[kind], EXPECTED["ledgers"][kind]["steps"]
        with (
            dp.open_ledger(":memory:", kept.budget, **kept.terms) as ledger,
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("ignore")  # what is advised before a charge is not the point here
            curator = dp.Curator(dp.Memory(ROWS), kept.schemas, ledger)
            for step in _steps(kind, names):
                found, planned = (
                    take(curator, step),
                    step.planned and (kind, step.name) not in PLANNED_OTHERWISE,
                )
                history = ledger.history(last=3, kinds=("charge", "again"))
                # The first steps of a synthetic table are kept behind its charge, at the price 0.
                paid = [one for one in history if not one.why.endswith("paid for with it")]
                entry = paid[-1]
                then = old.entries[told[step.name]["charge"]]
                same = [
                    "kind",
                    "who",
                    "why",
                    "part",
                    *["event"] * planned,
                ]
                # Questions are named by their measured part since views are made of it.
                measured = entry.key.startswith("2:m2:")
                if not measured:
                    same.append("question")
                reason = RENAMED_REASONS.get(then["why"], then["why"])
                expected = {name: then[name] for name in same} | {"why": reason}
                now = {name: getattr(entry, name) for name in same}
                if planned:
                    # A charge has its events in an order of its own since then.
                    now["event"] = _in_order(now["event"])
                    expected["event"] = _in_order(expected["event"])
                assert now == expected, step.name
                # Questions have keys of the next format, which hold more; others have them as they were.
                if step.name not in OTHER_MEANING.get(kind, ()):
                    assert entry.key == then["key"] or entry.key.startswith("2:m2:")
                # The body of a charge has grown by its price; its text is the same.
                asked = {"asked": history.asked[entry.number]}
                if step.name not in NESTED_SINCE:
                    assert digest(canonical_json(asked)) == then["body_hash"], step.name
                if step.verb != "old":
                    body = json.loads(ledger.answer(entry.key, entry.number)[1])
                    stored = old.bodies[then["refers"] or then["number"]]
                    _compare_bodies(body, stored, planned)
                    if (
                        planned and ledger.terms.kind != "residue"
                    ):  # which prices by what was spent before
                        assert body["price"] == stored["price"], step.name
                    if planned:
                        plans = {
                            n: one.plan.to_dict()
                            for n, one in answers_of(found).items()
                            if isinstance(one, dp.Answer)
                        }
                        now = _chosen_noise(json.loads(json.dumps(plans)))
                        assert _near(now, _chosen_noise(told[step.name]["plans"])), step.name

    @pytest.mark.parametrize("kind", LEDGERS)
    def test_by_charging_and_finishing_the_same_in_a_new_file(
        self, file, kind, tmp_path, stopped_clock
    ):
        """The chain, the accounts and the digests of both are functions of the entries and their times."""
        lines, books = _kept(file)
        new = tmp_path / "new.ledger"
        first = json.loads(lines[0][1])
        stopped_clock.set(datetime.fromisoformat(first["time"]))
        with _opened(new, kind) as ledger:
            charges = {}
            for number, line, body, _ in lines[1:]:
                entry = json.loads(line)
                stopped_clock.set(datetime.fromisoformat(entry["time"]))
                charges[number] = _write_again(ledger, entry, body, charges)
        if kind in REPRICED:
            now, then = _without_last_digits(*_kept(new)), _without_last_digits(lines, books)
            for account in ("everyone", "who:ann"):
                spent = [told[1][account].pop("common")[0][0] for told in (now, then)]
                assert float(spent[0]) < float(spent[1])
            assert now == then
        elif first["terms"]["filter"]["filter"] == "residue":
            assert _without_last_digits(*_kept(new)) == _without_last_digits(lines, books)
        else:
            assert _kept(new) == (lines, books)


def _without_last_digits(lines, books):
    """Leave out the digests of amounts, and the digits of amounts that are the processor's."""
    told = []
    for number, line, body, key in lines:
        entry = json.loads(line)
        facts = {name: entry[name] for name in entry if name not in ("books", "hash", "previous")}
        told.append((number, _rounded(facts), body, key))
    accounts = {name: re.sub(r"\b[0-9a-f]{64}\b", "digest", text) for name, text in books.items()}
    return told, {name: _rounded(_json_or_text(text)) for name, text in accounts.items()}


def _json_or_text(text):
    return json.loads(text) if text.startswith(("{", "[", '"')) else text


def _rounded(data):
    """Keep nine digits of fractions with long numerals."""
    if isinstance(data, dict):
        return {name: _rounded(inner) for name, inner in data.items()}
    if isinstance(data, list):
        return [_rounded(inner) for inner in data]
    if isinstance(data, str) and re.fullmatch(r"\d+/\d{10,}", data):
        return f"{float(Fraction(data)):.9g}"
    return data


class _Lines:
    """The entries of a ledger by their numbers, and the bodies of answers by those of their charges."""

    def __init__(self, rows):
        found = [(json.loads(line), body) for line, body in rows]
        self.entries = {entry["number"]: entry for entry, _ in found}
        self.bodies = {
            entry["refers"]: json.loads(body)
            for entry, body in found
            if entry["kind"] == "answer" and body
        }


def _write_again(ledger, entry, body, charges):
    """Do once more what an entry says, through the ledger's own verbs; give its charge."""
    words = {name: entry[name] for name in ("who", "why", "question", "key", "part")}
    match entry["kind"]:
        case "charge" if body is None:
            return ledger.charge(read_event(entry["event"]), **words)
        case "charge" | "again":
            text = json.loads(body)["asked"]
            return ledger.settle(
                ChargeOrder(event=read_event(entry["event"]), text=text, apart=True, **words)
            ).entry
        case "answer":
            return ledger.finish(charges[entry["refers"]], body)
        case "fail":
            return ledger.fail(charges[entry["refers"]])
        case "allow":
            share = entry["terms"]["allowance"]
            return ledger.allow(
                entry["who"], None if share is None else dp.Filter.from_json(share).terms.budget
            )
    raise AssertionError(entry["kind"])


def _chosen_noise(plans):
    """Leave out predicted errors, which later releases state for other data: nobody stores them."""
    left = {}
    for name, plan in plans.items():
        facts = {fact: said for fact, said in plan.items() if fact not in ("supposes", "why")}
        rows = []
        for row in plan["rows"]:
            rows.append(
                {fact: said for fact, said in row.items() if fact not in ("error", "range")}
            )
        left[name] = facts | {"rows": rows, "spend": _same_mu(facts["spend"])}
    return left


def _in_order(event):
    """A batch of events as it is charged now: in the order of their texts."""
    if event["event"] != "batch":
        return event
    return {**event, "events": sorted(event["events"], key=canonical_json)}


def _compare_bodies(new, old, planned):
    """Compare two stored answers to one question: everything but the noise, and the words of the plan."""
    if old["body"] == 2 and new["body"] == 4:
        assert new["meaning"] == 2
        _compare_measured(new, old, planned)
        return
    if "learn" in new.get("terms", {}) and "meaning" not in old["terms"]:
        # Models of people's rows say since then by which meaning of caps they counted.
        new["terms"].pop("meaning", None)
    facts = ("body", "terms", "neighbours", "tables")
    assert {name: new.get(name) for name in facts} == {name: old.get(name) for name in facts}
    words = ("text", "fingerprint", *["shares"] * planned)
    asked = [
        {name: [said[word] for word in words] for name, said in one.get("asked", {}).items()}
        for one in (new, old)
    ]
    assert asked[0] == asked[1]
    if planned:
        # The price as it was told is a field that was added since; models have grown by more of them.
        now, then = (
            _shape({**new, "shown": None, "made": None}),
            _shape({**old, "shown": None, "made": None}),
        )
        assert then <= now
        assert then == now or "learn" in new["terms"]


def _compare_measured(new, old, planned):
    """Compare a measured table with the answer to one spelling: names and order are its own."""
    for name in ("neighbours", "tables"):
        assert new[name] == old[name]
    by_statistic = ("weights", "error")
    terms = [
        {name: told for name, told in one["terms"].items() if name not in by_statistic}
        for one in (new, old)
    ]
    assert terms[0] == terms[1] and new["terms"].keys() == old["terms"].keys()
    assert new["asked"].keys() == old["asked"].keys() == new["answers"].keys()
    if planned:
        for name, said in new["asked"].items():
            assert said["shares"] == sorted(old["asked"][name]["shares"])


def _shape(data, path=""):
    """Return the fields of a JSON value and the names of its forms; other values depend on the noise."""
    if isinstance(data, dict) and data.keys().isdisjoint(
        ("fraction", "date", "time")
    ):  # these are values of keys
        kinds = {f"{path} {data.get(tag)}" for tag in ("estimate", "mechanism")}
        return kinds.union(*(_shape(inner, f"{path}.{name}") for name, inner in data.items()))
    if isinstance(data, list):
        return {path}.union(*(_shape(inner, path + "[]") for inner in data))
    return {path}


def _near(one, two):
    """Compare JSON values; the last digits of a float are the processor's."""
    if isinstance(one, dict) and isinstance(two, dict):
        return one.keys() == two.keys() and all(_near(one[name], two[name]) for name in one)
    if isinstance(one, list) and isinstance(two, list):
        return len(one) == len(two) and all(map(_near, one, two))
    if isinstance(one, float) and isinstance(two, float):
        return math.isclose(one, two, rel_tol=1e-9, abs_tol=1e-9)
    if isinstance(one, str) and isinstance(two, str) and one != two:
        # Shown values and intervals are kept as text: its words must be equal, its numbers near.
        words = [FLOAT.split(text) for text in (one, two)]
        numbers = [[float(found) for found in FLOAT.findall(text)] for text in (one, two)]
        return words[0] == words[1] and _near(*numbers)
    return one == two and type(one) is type(two)


def test_tables_are_declared_as_they_were():
    """Fingerprints, and so all keys, hash what a schema says of itself."""
    declared = [
        schema.to_dict() for kind in ("pure", "replace") for schema in LEDGERS[kind].schemas
    ]
    assert json.loads(json.dumps(declared)) == EXPECTED["schemas"]


def test_a_signed_receipt_of_then_holds():
    signed = EXPECTED["signed"]
    assert dp.verify_receipt(signed["receipt"], key=signed["key"]).to_json() == signed["receipt"]
    with pytest.raises(dp.ClaimRefuted):
        dp.verify_receipt(signed["receipt"].replace('"number":2', '"number":3'), key=signed["key"])


@pytest.mark.slow
def test_ledgers_on_a_server_open_too(postgres_dsn, tmp_path, stopped_clock):
    import psycopg

    stopped_clock.set(MAY)
    name = f"old_{secrets.token_hex(6)}"
    with psycopg.connect(postgres_dsn, autocommit=True) as admin:
        admin.execute(f"CREATE DATABASE {name}")
    dsn = f"{postgres_dsn} dbname={name}"
    with psycopg.connect(dsn, autocommit=True) as connection:
        connection.execute((HOME / "postgres.sql").read_text(encoding="utf-8"))
        kept = "SELECT ledger, number, line, body, key FROM discreet_ledger.entry ORDER BY 1, 2"
        before = connection.execute(kept).fetchall()
        for kind, told in EXPECTED["postgres"].items():
            (tmp_path / kind).mkdir()
            with dp.open_ledger(dsn, name=kind) as ledger:
                _check(ledger, told, tmp_path / kind)
                curator = dp.Curator(Sealed(), LEDGERS["zcdp"].schemas, ledger)
                for step in _steps("zcdp", None) if kind == "zcdp" else ():
                    if step.name in OTHER_MEANING["zcdp"]:
                        continue
                    now = json.loads(json.dumps(shown(take(curator, step))))
                    then = told["steps"][step.name]["shown"]
                    assert _near(*[_without_mended("zcdp", step.name, one) for one in (now, then)])
        assert connection.execute(kept).fetchall() == before
