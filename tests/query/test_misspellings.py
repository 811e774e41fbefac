"""Two hundred misspellings, made by a script: the word that was meant is suggested, and no other is made up."""

from __future__ import annotations

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import discreet as dp
from discreet.cli.app import COMMANDS, app
from discreet.query import parse
from discreet.query.algebra.statistic import FUNCTIONS as STATISTIC_FUNCTIONS
from discreet.query.sql.syntax import KNOWN_FUNCTIONS
from discreet.show.nearest import edit_distance, nearest
from query.samples import TABLES

FUNCTIONS = ["COUNT", "SUM", "AVG", "MEDIAN", "VARIANCE", "STDDEV", "QUANTILE", "COVAR_POP", "MODE"]
SCALARS = [
    "FLOOR",
    "LOWER",
    "SUBSTRING",
    "COALESCE",
    "GREATEST",
    "ROUND",
    "LENGTH",
    "QUARTER",
    "NULLIF",
]
COLUMNS = ["age", "income", "region", "party", "ward", "active", "joined", "seen"]
TABLE_NAMES = ["people", "visits", "users", "monthly", "swaps"]
KEYWORDS = ["SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "AND", "JOIN"]
FOREIGN = {
    "AVERAGE(age)": "AVG", "NUNIQUE(ward)": "COUNT(DISTINCT x)", "COUNTD(ward)": "COUNT(DISTINCT x)",
    "STDDEVP(age)": "STDDEV_POP", "SUMIF(age)": "SUM", "SUM(SQR(age))": "POWER", "MAX(SQUARE(age))": "POWER",
    "SUM(INT(income))": "FLOOR", "MIN(MID(name, 1, 2))": "SUBSTRING", "AVG(TOLOWER(name))": "LOWER",
}  # fmt: skip
QUERY = "SELECT COUNT(*) AS n, AVG(age) AS a FROM people WHERE age > 3 AND ward = 2"


def misspelt(word, random):
    """Swap two neighbours, drop a letter or double one."""
    place = random.randrange(len(word) - 1)
    swapped = word[:place] + word[place + 1] + word[place] + word[place + 2 :]
    dropped = word[:place] + word[place + 1 :]
    doubled = word[:place] + word[place] + word[place:]
    return random.choice([swapped, dropped, doubled])


def asked(kind, word):
    """Write a question in which a word stands where such a word may stand."""
    match kind:
        case "function":
            return (
                f"SELECT {word}(age, 0.5) AS x FROM people"
                if word[0] == "Q"
                else f"SELECT {word}(age) AS x FROM people"
            )
        case "scalar":
            return f"SELECT COUNT(*) FROM people WHERE {word}(age, 1) > 3"
        case "column":
            return f"SELECT COUNT(*) FROM people WHERE {word} IS NULL"
        case "table":
            return f"SELECT COUNT(*) FROM {word}"
    return ""


def in_query(word, wrong):
    """Put a wrong keyword into a query that has the right one."""
    query = f"{QUERY} GROUP BY region HAVING COUNT(*) > 9 ORDER BY n LIMIT 3"
    if word == "JOIN":
        query = "SELECT COUNT(*) FROM people p JOIN wards w ON p.ward = w.ward"
    return re.sub(rf"\b{word}\b", wrong, query, count=1)


def make():
    """List 200 misspellings: the text and the word that was meant."""
    random = Random(38)
    kinds = {"function": FUNCTIONS, "scalar": SCALARS, "column": COLUMNS, "table": TABLE_NAMES}
    made = {}
    for _ in range(10_000):
        if len(made) == 150:
            break
        kind = random.choice(list(kinds))
        word = random.choice(kinds[kind])
        wrong = misspelt(word, random)
        known = {name.casefold() for names in kinds.values() for name in names}
        if wrong.casefold() not in known:
            made[asked(kind, wrong)] = word
    for _ in range(10_000):
        if len(made) == 190:
            break
        word = random.choice(KEYWORDS)
        wrong = misspelt(word, random)
        if wrong not in KEYWORDS:
            made[in_query(word, wrong)] = word
    for call, word in FOREIGN.items():
        made[f"SELECT {call} AS x FROM people"] = word
    return made


MADE = make()


@pytest.mark.parametrize("name", [*KNOWN_FUNCTIONS, *STATISTIC_FUNCTIONS])
def test_what_is_suggested_is_no_unknown_function(name):
    """Whatever arguments it lacks here, a suggested function is not called unknown in turn."""
    for arguments in ("age", "age, 2", "'month', joined", "age, 1, 2"):
        assert "no such function" not in refusal_of(f"SELECT {name}({arguments}) AS x FROM people")


def refusal_of(sql):
    """Return the text of a refusal; empty if the text is read as it stands."""
    try:
        parse(sql, TABLES)
    except dp.DiscreetError as refused:
        return str(refused)
    return ""


def test_the_word_that_was_meant_is_among_the_first_two():
    missed = {sql: word for sql, word in MADE.items() if not suggests(refusal_of(sql), word)}
    assert len(MADE) == 200
    assert len(missed) <= 20, missed


def suggests(text, word):
    found = re.search(r"did you mean (.*)\?", text)
    return found is not None and word.casefold() in found[1].casefold()


@pytest.mark.parametrize("word", ["zzyzx", "qqqqqq", "xylophone_of", "frobnicate", "kwjibo"])
def test_nothing_is_suggested_where_nothing_is_near(word):
    for kind in ("function", "scalar", "column", "table"):
        text = refusal_of(asked(kind, word))
        assert text and "did you mean" not in text
    assert "did you mean" not in refusal_of(f"{word} COUNT(*) FROM people")


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        ("SELECT CUNT(*) FROM people", "CUNT(*): there is no such function; did you mean COUNT?"),
        ("SELECT COUNT(*) FROM people WHERE 'age' > 30", "write the column without quotes: age"),
        ("SELECT COUNT(*) FROM people WHERE region = ‘N’", "straight quotes"),
        (
            "SELECT COUNT(*) FROM people p WHERE q.age > 3",
            "there is no table 'q' in FROM; there are p; did you mean p?",
        ),
        ("SELECT COUNT(*) FROM people WHERE `regoin` = 'N'", "did you mean region?"),
        (
            "SELECT COUNT(*) FROM users u JOIN visits v ON u.user_id = v.usr_id",
            "did you mean user_id?",
        ),
        (
            "SELECT COUNT(*) FROM users u JOIN visits v ON u.age = v.ward",
            "rows of different people could meet",
        ),
        ("SELECT COUNT(*) FROM peple", "did you mean people?"),
        ("SELCT COUNT(*) FROM people", "SELCT: only SELECT asks a question; did you mean SELECT?"),
        ("SELECT COUNT(*) FORM people", "near line 1, column 27; did you mean FROM?"),
        ("SELECT COUNT(*), (3 FROM people", "check its commas, quotes and brackets"),
        ("SELECT name, ward FROM people", "it shows rows of people"),
    ],
)
def test_texts(sql, says):
    assert says in refusal_of(sql)


def test_an_unknown_command_is_refused_with_the_nearest():
    for command in COMMANDS:
        wrong = command[0] + command[2] + command[1] + command[3:]
        done = CliRunner().invoke(app, [wrong])
        assert done.exit_code == 2
        assert f"did you mean {command}" in " ".join(done.output.replace("│", " ").split())
    done = CliRunner().invoke(app, ["frobnicate"])
    assert done.exit_code == 2 and "there are schema, prepare," in done.output


class TestEditDistance:
    """A metric: 0 for equal texts alone, symmetric, and 1 for one edit."""

    @given(st.text("abc", max_size=6), st.text("abc", max_size=6))
    def test_zero_and_symmetry(self, one, other):
        assert (edit_distance(one, other) == 0) == (one == other)
        assert edit_distance(one, other) == edit_distance(other, one)
        assert abs(len(one) - len(other)) <= edit_distance(one, other) <= max(len(one), len(other))

    @given(st.text("abcdef", min_size=2, max_size=8), st.integers(0, 7), st.sampled_from("abcdef"))
    def test_one_edit_is_one(self, word, place, letter):
        place %= len(word) - 1
        edits = {
            word[:place] + letter + word[place:],
            word[:place] + word[place + 1 :],
            word[:place] + letter + word[place + 1 :],
            word[:place] + word[place + 1] + word[place] + word[place + 2 :],
        }
        assert all(edit_distance(word, edited) == 1 for edited in edits - {word})

    def test_nearest_names_come_first(self):
        assert nearest("shoops", ["shoe", "shops", "shop"]) == ["shops", "shop"]
        assert nearest("age", ["age", "wage", "AGE"]) == ["wage"]
