"""An answer as people see it: rounded in every face, grey where it says nothing, drawn with all its groups."""

from __future__ import annotations

import datetime as dt
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import pytest

import discreet as dp
from discreet.answer.text.display_facts import display_facts_of
from discreet.errors import InvalidArgument

mpl.use("Agg")
FIRST = dt.date(2023, 1, 1)
COLUMNS = {
    "day": dp.Date("2023-01-01", "2024-12-30"),
    "sex": dp.Category(["f", "m"]),
    "ward": dp.Category([f"w{k:03}" for k in range(310)]),
    "age": dp.Integer(0, 50),
    "cost": dp.Integer(0, 100_000),
}
ROWS = [
    {"day": FIRST, "sex": "f", "ward": "w000", "age": k % 20, "cost": 1000 * (k % 97)}
    for k in range(9000)
]  # men, and ages from 20 on, are nobody


@pytest.fixture(scope="module")
def curator():
    visits = dp.Schema("visits", dp.Rows(), COLUMNS)
    return dp.Curator(
        dp.Memory({"visits": ROWS}), [visits], dp.open_ledger(":memory:", dp.PureDP(90)), who="ana"
    )


@pytest.fixture(autouse=True)
def _closed():
    yield
    plt.close("all")


class TestFaces:
    """The same words in the terminal, in Markdown and in a notebook; every digit in what is taken home."""

    def test_all_faces_say_the_same(self, curator):
        sql = "SELECT sex, COUNT(*) AS n, AVG(cost) AS cost FROM visits WHERE age < {} GROUP BY sex"
        asked = (curator.sql(sql.format(50 - k), epsilon=1) for k in range(12))
        # nobody is a man: noise around 0, and a mean of nothing; one time in twenty the noise looks like somebody
        answer = next(one for one in asked if display_facts_of(one).faint == {1})
        text, page, marked = str(answer), answer.to_html(), answer.to_markdown()
        count = text.splitlines()[1].split()[1]
        assert count in page and count in marked and "," in count and "." not in count
        told = "rows drawn hollow, in grey or in italics say nothing"
        assert "○" in text and told in answer.details() and answer.caption in text
        assert page.count("opacity:.45") == 1 and told in page and answer.caption in page
        assert "| *m* |" in marked and answer.caption in marked
        assert answer.to_csv(level=0.95).splitlines()[1].split(",")[1] == repr(
            answer.column("n")[0]
        )

    def test_tables_that_add_up_are_rounded_to_their_error(self, curator):
        sql = "SELECT sex, SUM(cost) AS cost FROM visits GROUP BY CUBE (sex)"
        cube = curator.sql(sql, spend="1/100")
        ends = [row["cost"] for row in cube.interval()]
        for line, (low, high) in zip(str(cube).splitlines()[1:4], ends, strict=True):
            shown = float(line.split(" ± ")[0].split()[-1].replace(",", ""))
            assert high - low > 1_000_000 and shown % 10_000 == 0
        assert any(value % 10_000 for value in cube.to_dict()["cost"])

    def test_a_narrow_terminal_loses_no_number(self, curator):
        answer = curator.sql(
            "SELECT sex, COUNT(*) AS n, AVG(cost) AS cost FROM visits GROUP BY sex", epsilon=1
        )
        narrow = answer.to_text(40)
        assert max(map(len, narrow.splitlines())) <= 40
        assert all(
            word in narrow for word in answer.to_markdown().splitlines()[2].strip("| ").split(" | ")
        )


class TestAgain:
    """Who asks again is told so; who asks what somebody else asked is not told of it."""

    def test_words(self, curator):
        sql = "SELECT COUNT(*) AS n FROM visits WHERE age > 7"
        first, again = curator.sql(sql, spend=1), curator.sql(sql, epsilon=1)
        other = curator.named("bob").sql(sql, spend=dp.PureDP(1))
        assert first == again and first.rows == other.rows
        assert again.caption == first.caption.replace("cost", "answered before for")
        told = first.details()
        assert again.details() == f"answered before, data version 1, nothing spent; it {told}"
        entry = re.compile("entry [0-9]+")
        assert entry.sub("", other.details()) == entry.sub("", told)
        assert other.caption == first.caption

    def test_a_number_is_an_epsilon_of_a_pure_ledger_only(self):
        visits = dp.Schema("visits", dp.Rows(), COLUMNS)
        both = dp.Curator(
            dp.Memory({"visits": ROWS[:1]}),
            [visits],
            dp.open_ledger(":memory:", dp.ApproxDP(1, 1e-6)),
        )
        for words in ({"spend": 1}, {"epsilon": "1/2"}, {"spend": 1, "epsilon": 1}):
            with pytest.raises(InvalidArgument, match="spend|epsilon"):
                both.sql("SELECT COUNT(*) AS n FROM visits", **words)
        assert both.spent() == dp.ApproxDP(0, 0)


class TestPictures:
    """Every group is drawn, or the picture says how many are."""

    def test_ordered_keys_are_a_line_with_a_band(self, curator):
        axes = curator.sql("SELECT day, COUNT(*) AS n FROM visits GROUP BY day", epsilon=1).plot()
        assert (
            len(axes.lines[0].get_xdata()) == 730
            and len(axes.collections) == 1
            and not axes.patches
        )
        assert (axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()) == (
            "n by day",
            "day",
            "n",
        )

    def test_listed_keys_are_bars_and_those_left_out_are_counted(self, curator):
        few = curator.sql("SELECT sex, COUNT(*) AS n FROM visits GROUP BY sex", epsilon=1).plot()
        assert len(few.patches) == 2 and few.get_title(loc="right") == "95 % intervals"
        many = curator.sql("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=1).plot()
        assert len(many.patches) == 300 and "300 of 310 groups drawn" in many.get_title(loc="right")

    def test_two_keys_are_small_multiples(self, curator):
        axes = curator.sql(
            "SELECT sex, age, COUNT(*) AS n FROM visits GROUP BY sex, age", epsilon=1
        ).plot(title="Ages")
        figure = axes.get_figure()
        assert [one.get_title() for one in figure.axes] == ["sex = f", "sex = m"]
        assert all(len(one.lines[0].get_xdata()) == 51 for one in figure.axes)
        assert figure.get_suptitle() == "Ages (95 % intervals)"
        parts = curator.sql(
            "SELECT ward, sex, COUNT(*) AS n FROM visits GROUP BY ward, sex", spend="1/9"
        ).plot()
        assert "300 of 310 groups drawn" in parts.get_figure().get_suptitle()
