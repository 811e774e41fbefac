"""The sentence of an answer: it claims no more than the intervals do; labels are escaped."""

from __future__ import annotations

import re
from types import SimpleNamespace

import pytest

import discreet as dp
from discreet.service.pages.answer_view import answer_view
from discreet.service.pages.render import html

LABELS = {0: "woman", 1: "<b>man</b>"}
PEOPLE = dp.Schema(
    "people",
    dp.People("id", max_rows=1),
    {
        "sex": dp.Category([0, 1, 2], label="Sex <i>", labels=LABELS),
        "age": dp.Integer(0, 99),
        "income": dp.Real(0, 9000, label="Income"),
    },
)
BY_SEX = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def seen(sql, rows, *, faint=()):
    """Lay out a reply: rows of values, the last of each with its error."""
    asked = dp.parse_sql(sql, {"people": PEOPLE})
    names = [name for name, _ in asked.finish.columns]
    noisy = {name for name, _ in asked.statistics}
    reply = {
        "columns": [{"name": name, "noisy": name in noisy, "ordered": name == "age"} for name in names],
        "rows": [list(row[:-1]) for row in rows],
        "intervals": [
            [[value - row[-1], value + row[-1]] if name in noisy else None
             for name, value in zip(names, row[:-1], strict=True)]
            for row in rows
        ],
        "faint": list(faint),
        "level": 0.95,
        "caption": "cost ε = 1",
    }  # fmt: skip
    return answer_view(reply, sql, (PEOPLE,))


@pytest.mark.parametrize(
    ("sql", "rows", "sentence"),
    [
        ("SELECT COUNT(*) AS n FROM people", [(5000.0, 5)], "About 5\u202f000 of them, give or take 5."),
        ("SELECT COUNT(DISTINCT id) AS n FROM people", [(50.0, 5)], "About 50 people, give or take 5."),
        ("SELECT AVG(income) AS m FROM people", [(1200.0, 20)],
         "Income: about 1\u202f200 on average, give or take 20."),
        ("SELECT MEDIAN(age) AS m FROM people", [(40.0, 2)], "Age: about 40 in the middle, give or take 2."),
        ("SELECT COUNT(DISTINCT CASE WHEN age < 9 THEN id END) AS young, COUNT(*) AS all FROM people",
         [(50.0, 900.0, 5)],
         "Young: about 50 people, give or take 5; all: about 900 of them, give or take 5."),
        (BY_SEX + " ORDER BY n LIMIT 2", [(0, 90.0, 5), (1, 60.0, 5)],
         "Of these rows, most: woman, about 90, give or take 5. Least: <b>man</b>, about 60, give or take 5."),
        (BY_SEX + " HAVING COUNT(*) < 95", [(0, 90.0, 5)],
         "Of these rows, most: woman, about 90, give or take 5."),
        ("SELECT sex, SUM(age) AS s FROM people GROUP BY sex", [(0, 90.0, 5), (1, 60.0, 5)],
         "Age, most: woman, about 90 in all, give or take 5. "
         "Least: <b>man</b>, about 60 in all, give or take 5."),
        (BY_SEX, [(0, 90.0, 5), (1, 60.0, 5), (2, 30.0, 5)],
         "Most: woman, about 90, give or take 5. Least: Sex <i> 2, about 30, give or take 5."),
        (BY_SEX, [(0, 90.0, 5), (1, 80.0, 5), (2, 30.0, 5)],
         "Most: woman, about 90, give or take 5; too close to <b>man</b> to be sure. "
         "Least: Sex <i> 2, about 30, give or take 5."),
        ("SELECT FLOOR(age / 10) * 10 AS age, COUNT(*) AS n FROM people GROUP BY 1",
         [(10, 90.0, 5), (20, 60.0, 5)],
         "Most: age from 10, about 90, give or take 5. Least: age from 20, about 60, give or take 5."),
        ("SELECT sex, COUNT(*) AS n FROM people GROUP BY CUBE (sex)", [(0, 9.0, 1)], ""),
        ("SELECT STDDEV(age) AS d FROM people", [(4.0, 2)], ""),
        ("SELECT 2 * COUNT(*) AS n FROM people", [], ""),
    ],
)  # fmt: skip
def test_sentences(sql, rows, sentence):
    if rows:
        assert seen(sql, rows).sentence == sentence


def test_columns_of_the_form_have_the_labels_of_their_columns():
    sql = "SELECT AVG(income) AS mean_income, AVG(age) AS old, COUNT(*) AS n FROM people"
    heads = [column.name for column in seen(sql, [(1.0, 2.0, 3.0, 1)]).tables[0].columns]
    assert heads == ["Income on average", "old", "n"]


def test_rows_that_noise_hides_are_neither_most_nor_least():
    rows = [(0, 9.0, 50), (1, 60.0, 5), (2, 30.0, 5)]
    assert seen(BY_SEX, rows, faint=[0]).sentence == "Most: <b>man</b>, about 60, give or take 5."
    every = seen(BY_SEX, rows, faint=[0, 1, 2]).sentence
    assert every == "Noise hides every row: spend more, or ask for fewer groups."


def test_a_table_that_is_cut_has_no_most():
    many = [(age, float(age), 1) for age in range(100)] * 3
    view = seen("SELECT age, COUNT(*) AS n FROM people GROUP BY age", many)
    assert view.more == 100 and view.sentence == ""
    assert [len(part) for part in view.tables[0].folds] == [20, 180]


def test_a_line_breaks_where_noise_hides_a_value():
    ages = [(age, 50.0, 5) for age in range(8)]
    sql = "SELECT age, COUNT(*) AS n FROM people GROUP BY age"
    whole, broken = seen(sql, ages).charts[0], seen(sql, ages, faint=[2, 4]).charts[0]
    line = re.search(r'class="line" d="([^"]*)"', broken.picture)[1]
    # 0 to 1, the dot of 3, and 5 to 7; neither 2 nor 4 is drawn.
    assert [len(part.split("L")) for part in line.split("M")[1:]] == [2, 1, 3]
    assert broken.picture.count('class="dot"') == 1 and whole.picture.count('class="dot"') == 0
    assert broken.note == "Gaps: noise hides 2 of 8 values" and whole.note == ""


def test_labels_are_shown_escaped_everywhere():
    view = seen(BY_SEX, [(0, 90.0, 5), (1, 80.0, 5), (2, 30.0, 5)])
    page = html("piece_answer.html", answer=view, job=SimpleNamespace(id="1"), mark="")
    assert "woman" in page and "<b>man" not in page and "Sex <i>" not in page
    assert page.count("&lt;b&gt;man&lt;/b&gt;") == 3  # in sentence, chart and table
