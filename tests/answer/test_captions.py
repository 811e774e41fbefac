"""Captions of one line, their details, and digits: for every kind of answer, in every way to show it."""

from __future__ import annotations

import re
from decimal import Decimal

import pytest

import discreet as dp
from discreet.answer.text.caption import MAX_WORDS, caption_line
from discreet.service.pages.answer_view import answer_view
from discreet.wire.reply import answer_reply

COLUMNS = {
    "sex": dp.Category(["f", "m"], default="f"),
    "age": dp.Integer(0, 4, default=0),
    "cost": dp.Real(0, 100_000, step="1/8", default=0),
    "ward": dp.Text(2),
    "town": dp.Category(["x", "y"]),
}
ROWS = [
    {"uid": k % 80, "sex": "fm"[k % 2], "age": k % 5, "cost": 311.37 * k, "ward": "ab"[k % 2]}
    | {"town": "xy?"[k % 3]}
    for k in range(240)
]
SCHEMAS = [
    dp.Schema("rows", dp.Rows(), COLUMNS),
    dp.Schema("visits", dp.People("uid", max_rows=3), COLUMNS),
    dp.Schema("bills", dp.People("uid", max_rows=2), {"paid": dp.Boolean()}),
]
CUT = "at most 3 rows a person counted: anything beyond that is in no number and in no interval"
NOISE = "± covers the noise that was added for privacy: neither sampling error"
MOVED = "counts were moved to 0 or more, as asked"
NO_KEY = "rows without a listed value of town count in totals, but in no cell"
ADD_UP = "the numbers shown may not add up"
KINDS = {
    "count": (
        "SELECT COUNT(*) AS n FROM rows WHERE cost > 99999",
        {"spend": dp.PureDP("1/1000")},
        [NOISE, "rows drawn hollow, in grey or in italics say nothing"],
    ),
    "mean by key": (
        "SELECT sex, COUNT(*) AS n, AVG(cost) AS m FROM rows GROUP BY sex",
        {"level": 0.9},
        ["at least 90 %"],
    ),
    "quantile": ("SELECT sex, MEDIAN(cost) AS m FROM rows GROUP BY sex", {}, [NOISE]),
    "unknown keys": (
        "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward",
        {"spend": dp.ApproxDP(3, 1e-6)},
        [CUT, "keys were selected privately"],
    ),
    "cube": (
        "SELECT sex, COUNT(*) AS n, SUM(cost) AS s, AVG(cost) AS m FROM rows GROUP BY CUBE (sex)",
        {},
        [ADD_UP, NOISE],
    ),
    "rows without a key": (
        "SELECT town, COUNT(*) AS n FROM rows GROUP BY CUBE (town)",
        {},
        [NO_KEY, ADD_UP],
    ),
    "running": (
        "SELECT age, SUM(COUNT(*)) OVER (ORDER BY age) AS n FROM visits GROUP BY age",
        {},
        [ADD_UP, CUT],
    ),
    "join": (
        "SELECT sex, COUNT(*) AS n FROM visits JOIN bills ON visits.uid = bills.uid GROUP BY sex",
        {},
        ["rows a person counted: anything beyond that"],
    ),
    "filters": (
        "SELECT COUNT(*) FILTER (WHERE age > 1) AS a, COUNT(*) FILTER (WHERE age > 2) AS b FROM visits",
        {"spend": dp.PureDP("1/10")},
        [CUT],
    ),
    "nonnegative": ("SELECT COUNT(*) AS n FROM visits", {"nonnegative": True}, [MOVED, CUT]),
    "whole": (
        "SELECT sex, age, COUNT(*) AS n FROM visits GROUP BY CUBE (sex, age)",
        {"whole": True},
        [MOVED, CUT, ADD_UP],
    ),
    "computed": (
        "SELECT sex, SUM(cost) / COUNT(*) AS q, 100 * COUNT(*) / SUM(COUNT(*)) OVER () AS share "
        "FROM rows GROUP BY sex",
        {},
        [NOISE],
    ),
    "picked": (
        "SELECT age, COUNT(*) AS n FROM rows GROUP BY age ORDER BY n DESC LIMIT 2",
        {},
        ["rows were picked by noisy values: their intervals hold together for all 5 keys"],
    ),
    "mode": ("SELECT MODE(age) AS m FROM rows", {}, ["no interval of m: it is picked"]),
}


@pytest.fixture(scope="module")
def curator():
    bills = [{"uid": k, "paid": True} for k in range(60)]
    store = dp.Memory({"rows": ROWS, "visits": ROWS, "bills": bills})
    return dp.Curator(store, SCHEMAS, dp.open_ledger(":memory:", dp.ApproxDP(100, 1e-4)))


@pytest.fixture(scope="module")
def answers(curator):
    """Each kind as it was asked first, and as it is stored."""
    asked = {}
    for name, (sql, terms, _) in KINDS.items():
        options = {"spend": dp.PureDP(1), **terms}
        asked[name] = [curator.sql(sql, **options) for _ in range(2)]
    return asked


def words(text):
    return len(text.split())


class TestCaptions:
    """A caption has at most 20 words: the price, what ± is, and what moved. Details have the rest."""

    @pytest.mark.parametrize("kind", KINDS)
    def test_every_kind_of_answer(self, answers, kind):
        first, again = answers[kind]
        for answer, paid in ((first, "cost"), (again, "answered before for")):
            assert words(answer.caption) <= MAX_WORDS and "\n" not in answer.caption
            # Of a price with the ledger's unit in brackets the line may have the first term alone.
            price, _, _ = str(answer.receipt.shown_price()).partition(" [")
            assert answer.caption.startswith(f"{paid} {price}")
            level = float(100 * answer.level)
            has_error = kind != "mode"
            assert (f"; ± is noise only, at {level:g} %" in answer.caption) == has_error
            assert ("row" in answer.caption) == ("FROM visits" in KINDS[kind][0])
            moved = bool(KINDS[kind][1].keys() & {"nonnegative", "whole"})
            assert ("moved" in answer.caption or "negatives" in answer.caption) == moved
            assert (NO_KEY in answer.details()) == (kind == "rows without a key")
            for sentence in KINDS[kind][2]:
                assert sentence in answer.details() and sentence not in answer.caption
        entry = f"of (ε, δ) = (100, 0.0001), entry {first.receipt.number} of the ledger"
        assert entry in first.details().splitlines()[0]
        assert again.details().startswith("answered before, ")
        assert f"nothing spent; it {first.details()}" in again.details()

    @pytest.mark.parametrize("kind", KINDS)
    def test_the_same_words_everywhere(self, answers, kind):
        answer = answers[kind][0]
        reply = answer_reply(answer, float(answer.level))
        view = answer_view(reply, KINDS[kind][0])
        assert reply["caption"] == view.caption == answer.caption
        assert reply["details"] == "\n".join(view.details) == answer.details()
        shown = answer.to_text(400).splitlines()[-1], answer.to_markdown().strip().splitlines()[-1]
        assert shown == (answer.caption, answer.caption)
        table, _, fold = answer.to_html().partition("<details>")
        assert answer.caption in table
        assert all(sentence in fold for sentence in answer.details().splitlines())

    def test_a_client_says_what_its_own_intervals_cover(self, answers):
        first = answers["count"][0]
        sent = first.with_receipt(None, first.caption, tuple(first.details().splitlines()))
        assert sent.details() == first.details()
        told = sent.about("population").details()
        assert NOISE not in told and "± covers noise and sampling error" in told
        assert sent.about("population").about("data").details().count("± covers") == 1

    def test_a_rehearsal_and_an_answer_without_a_ledger(self, curator):
        sql, _, _ = KINDS["count"]
        rehearsed = curator.rehearse(sql, spend=dp.PureDP(1), nonnegative=True)
        assert words(rehearsed.caption) <= MAX_WORDS and "made-up" in rehearsed.caption
        assert rehearsed.caption.endswith("; ± is noise only, at 95 %; no negatives")
        assert "rehearsal: made-up data" in rehearsed.details()
        alone = rehearsed.with_receipt(None)
        assert alone.caption == "" and str(alone).endswith("at 95 %; counts moved to 0 or more")

    @pytest.mark.parametrize("paid", ["cost", "answered before for"])
    @pytest.mark.parametrize(
        "price",
        [
            dp.PureDP("1/3"),
            dp.ApproxDP("1/3", 1e-9),
            dp.ZCDP("1/7"),
            dp.GaussianDP("1/7"),
            dp.RenyiDP({2: "1/2", 4: 1, 8: 2, 16: 4}),
        ],
        ids=str,
    )
    def test_every_price_leaves_room_for_what_moved(self, answers, price, paid):
        answer = answers["nonnegative"][0]
        for told in (f"{price}", f"{price} [μ = 0.2291]", f"{price} [(ε, δ) = (2.1821, 1e-06)]"):
            line = caption_line(answer, paid, told, CUT)
            assert words(line) <= MAX_WORDS and "; ± is noise only, at 95 %; " in line
            assert "; at most 3 rows a person" in line or "; rows capped" in line
            assert "moved to 0 or more" in line or "no negatives" in line
            # The first term of a price is never cut.
            assert line.startswith(f"{paid} {' '.join(told.split()[:3])}")


def numbers(text):
    """Read the numbers of a cell as the library or a page writes them."""
    plain = text.replace("\u202f", "").replace(",", "").replace("−", "-")
    return [Decimal(one) for one in re.findall(r"-?\d[\d.]*(?:e[+-]?\d+)?", plain)]


class TestShownAsFarAsKnown:
    """No shown digit is finer than the second digit of its error; files keep every digit."""

    @pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "mode"])
    def test_no_digit_beyond_the_error(self, answers, kind):
        for answer in answers[kind]:
            level = float(answer.level)
            rows = [row.strip("| *").split(" | ") for row in answer.to_markdown().splitlines()[2:]]
            page = answer_view(answer_reply(answer, level), "").tables[0].rows
            seen = 0
            for place, bounds in enumerate(answer.interval(level)):
                for column, (low, high) in bounds.items():
                    at = answer.columns.index(column)
                    finest = Decimal(10) ** (Decimal((high - low) / 2).adjusted() - 1)
                    cell = page[place].cells[at]
                    for text in (rows[place][at].strip("*"), f"{cell.value} {cell.error}"):
                        shown = numbers(text)
                        assert len(shown) >= 2 and all(one % finest == 0 for one in shown), text
                        value = Decimal(answer.column(column)[place])
                        unit = max(finest, Decimal(1) if column in ("n", "a", "b") else finest)
                        assert abs(shown[0] - value) <= unit / 2, text
                        seen += 1
            assert seen

    def test_files_keep_every_digit(self, answers):
        cube, _ = answers["cube"]
        sums = cube.column("s")
        assert any(value != round(value) for value in sums)
        assert cube.to_polars()["s"].to_list() == sums
        assert all(repr(value) in cube.to_csv() for value in sums)
        assert not any(f"{value:,.3f}"[:-2] in str(cube) for value in sums)
