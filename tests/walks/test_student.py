"""Walk of a student: the bundled people, first questions, and what is typed wrongly on the first day.

| step | before | now |
|---|---|---|
| `CUNT(*)` | "shows rows of people" | no such function, COUNT? |
| `MEAN(x)`, `x // y`, `sex = "1"` | refused | read as meant |
| `sex = 'man'`, a label | 0 ± 15 for ε = 0.2 | explained as a condition that no row meets, with the value to write |
| `.plot()` of a mode | "there are none" | no numbers to draw; print it |
"""

from __future__ import annotations

import pytest

import discreet as dp

SEX = dp.Category(["0", "1"], label="Sex", labels={"0": "man", "1": "woman"})
PEOPLE = dp.Schema(
    "people",
    dp.Rows(),
    {"age": dp.Integer(0, 120), "sex": SEX, "income": dp.Real(0, 250_000)},
    size=1_000,
)
TENTH = dp.PureDP("1/10")


@pytest.fixture
def people():
    engine = dp.DuckDB({"people": dp.example("pums.csv")})
    return dp.Curator(engine, [PEOPLE], dp.open_ledger(":memory:", dp.PureDP(3)))


def test_the_first_day(people):
    by_sex = "SELECT sex, COUNT(*) AS n, AVG(income) AS income FROM people GROUP BY sex"
    told = people.explain(by_sex, spend=TENTH)
    assert "sex: Sex; 0 = man, 1 = woman" in str(told) and "Nothing was touched" in str(told)
    answer = people.sql(by_sex, spend=TENTH)
    assert str(answer).splitlines()[0].split() == ["Sex", "n", "income"]
    assert "| man |" in answer.to_markdown() and "<th>Sex</th>" in answer._repr_html_()
    # Files keep the values, so that they join with other files.
    assert [line.split(",")[0] for line in answer.to_csv().splitlines()] == ["sex", "0", "1"]
    left = people.left()
    assert people.sql(by_sex, spend=TENTH).rows == answer.rows and people.left() == left
    with pytest.raises(dp.BudgetExceeded, match="is left of ε = 3"):
        people.sql("SELECT COUNT(*) FROM people", spend=5)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("SELECT CUNT(*) FROM people", "no such function; did you mean COUNT"),
        ("SELECT COUNT(*) FROM poeple", "did you mean people"),
        ("SELECT AVG(agee) FROM people", "did you mean age"),
        ("SELECT * FROM people", "shows rows of people; ask for aggregates"),
        ("SELECT age FROM people", "ask for COUNT"),
    ],
)
def test_what_is_misspelled_is_refused_with_what_would_work(people, typed, said):
    with pytest.raises(dp.DiscreetError, match=said):
        people.sql(typed, spend=TENTH)
    assert people.left() == dp.PureDP(3)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("SELECT MEAN(age) AS m FROM people", "SELECT AVG(age) AS m FROM people"),
        (
            "SELECT age // 10 AS tens, COUNT(*) AS n FROM people GROUP BY tens",
            "SELECT FLOOR(age / 10) AS tens, COUNT(*) AS n FROM people GROUP BY tens",
        ),
        (
            'SELECT COUNT(*) AS n FROM people WHERE sex = "1"',
            "SELECT COUNT(*) AS n FROM people WHERE sex = '1'",
        ),
    ],
)
def test_other_spellings_are_one_question(people, typed, meant):
    first = people.sql(typed, spend=TENTH)
    left = people.left()
    assert people.sql(meant, spend=TENTH).rows == first.rows and people.left() == left


def test_a_label_in_a_condition_is_explained(people):
    told = people.explain("SELECT COUNT(*) AS n FROM people WHERE sex = 'man'", spend=TENTH)
    assert "no row can meet sex = 'man'" in str(told) and "write '0', whose label it is" in str(
        told
    )


def test_pictures(people):
    pytest.importorskip("matplotlib").use("Agg")
    by_sex = people.sql("SELECT sex, COUNT(*) AS n FROM people GROUP BY sex", spend=TENTH)
    axes = by_sex.plot()
    assert [one.get_text() for one in axes.get_xticklabels()] == ["man", "woman"]
    assert axes.get_xlabel() == "Sex"
    with pytest.raises(dp.InvalidArgument, match="no noisy numbers to draw"):
        people.sql("SELECT MODE(sex) AS most FROM people", spend=TENTH).plot()


def test_labels_are_words_and_never_markup():
    nasty = dp.Category(["0"], label="Sex | <b>", labels={"0": "one | <i>"})
    rows = [{"sex": "0"}] * 9
    schema = dp.Schema("people", dp.Rows(), {"sex": nasty})
    ledger = dp.open_ledger(":memory:", dp.PureDP(1))
    curator = dp.Curator(dp.Memory({"people": rows}), [schema], ledger)
    asked = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
    answer = curator.sql(asked, spend=TENTH)
    head, _, row = answer.to_markdown().splitlines()[:3]
    assert head.count("|") - head.count("\\|") == row.count("|") - row.count("\\|") == 3
    for page in (answer.to_html(), curator.explain(asked, spend=TENTH)._repr_html_()):
        assert "<b>" not in page.replace("<b>Before paying", "") and "<i>" not in page
        assert "Sex | &lt;b&gt;" in page
