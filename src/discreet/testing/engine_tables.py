"""Tables and tallies that every engine is tried on: hostile cells, text, people, a public table."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

from ..data import Boolean, Category, Date, Integer, People, Real, Rows, Schema, Text, Timestamp
from ..data.columns.column import Column
from ..query.algebra.expression import Call, Constant, Expression, Field, Function
from ..query.algebra.tally import Free, GroupShare, RowShare, Tally, Term
from ..query.algebra.tree import JoinPeople, JoinPublic, Relation, Scan, Select, Union, Where
from .typed_rows import CELLS, TypedRows

COUNT = Term(Constant(True), 1, 0, 1)
STORED_TEXT = "zz4711zz"
"""Stored text that nothing but a total may show."""

_FIRST_DAY = "1969-01-01"
_LAST_DAY = "2024-12-31"
_FIRST_SECOND = "1969-06-01T00:00:00"
_LAST_SECOND = "2024-12-31T23:59:59"

# Rules that read a stored type, by kind of stored type.
_NUMBER_RULES: list[Column] = [
    Integer(-5, 9),
    Real(0, 500, step=0.01, default=1),
    Category([0, 1, 7, 12], other=-1),
    Boolean(),
    Real(-2, 3, step=0.25),
]
_TEXT_RULES: list[Column] = [
    Text(3),
    Integer(0, 100, null_key=True),
    Category(["N", "12", "it's"], other=True),
    Real(0, 1000),
    Boolean(default=False),
    Date(_FIRST_DAY, _LAST_DAY),
    Timestamp(_FIRST_SECOND, _LAST_SECOND),
]
_DAY_RULES: list[Column] = [
    Date(_FIRST_DAY, _LAST_DAY),
    Timestamp(_FIRST_SECOND, _LAST_SECOND, default="2024-01-01T00:00:00"),
]
_BOOLEAN_RULES: list[Column] = [Boolean(), Text(4), Integer(0, 1), Category([True], default=True)]
_RULES = {
    "bigint": _NUMBER_RULES,
    "integer": _NUMBER_RULES,
    "double": _NUMBER_RULES,
    "real": _NUMBER_RULES,
    "decimal": _NUMBER_RULES,
    "text": _TEXT_RULES,
    "boolean": _BOOLEAN_RULES,
    "date": _DAY_RULES,
    "timestamp": _DAY_RULES,
    "timestamptz": _DAY_RULES,
}


def _list_columns() -> list[tuple[str, str, Column]]:
    """Return name, stored type and rule of every hostile column."""
    columns = []
    for stored, rules in _RULES.items():
        columns += [(f"{stored}_{n}", stored, rule) for n, rule in enumerate(rules)]
    return columns


# Columns of one stored type have the same cells, read by different rules.
_COLUMNS = _list_columns()

# Texts that differ in bytes only, and characters with a meaning in SQL or a shell.
_SPELT = ["a", "A", "\u00e1", "a\u0301", "ß", "ss", "a ", " a", "a%b", "a_b", "a\\b", "it's", '"', "`", "--", "/*",
          "x\ny", "${env:PATH}", "$", "👍🏽", "👍", "İ", "i", "\\E", "a" * 60, STORED_TEXT, "", "'||'",
          "ﬀ", "ff"]  # fmt: skip
# The long pattern backtracks exponentially in a naive matcher.
_PATTERNS = ["%", "_", "a%", "%a", "%a%a%a%a%a%a%a%a%a%a%c", "_%_", "a_b", "%\\%", "%\n%", "👍%", "", "%'%", "${env%",
             "%_%"]  # fmt: skip
# Rows of each person; people over the limit, spelt alike, and NULL.
_ROWS_OF_PEOPLE = (("ann", 1), ("Ann", 2), ("bob", 7), ("cy ", 4), ("cy", 3), (None, 2))

TEXTS = Schema("words", Rows(), {"w": Text(80), "n": Integer(0, 99)})
PEOPLE = Schema(
    "people",
    People("id", max_rows=3),
    {"x": Integer(-9, 9), "g": Category(["N", "S"]), "t": Text(5)},
)
PLACES = Schema.public_table(
    "places", {"word": Text(80), "code": Integer(-9, 9)}, key="word", max_rows={"code": 9}
)


def _hostile_rows() -> TypedRows:
    """Return a row of NULL, then rows that go through the cells of every stored type."""
    types = {"i": "bigint"}
    types |= {name: stored for name, stored, _ in _COLUMNS}
    rows: list[tuple[object, ...]] = [(-1, *[None] * len(_COLUMNS))]
    longest = max(map(len, CELLS.values()))
    for i in range(longest):
        cells = []
        for _, stored, _ in _COLUMNS:
            listed = CELLS[stored]
            cells.append(listed[i % len(listed)])
        rows.append((i, *cells))
    return TypedRows(types, rows)


def _people_rows() -> TypedRows:
    """Return the rows of people, with groups and texts that go round."""
    rows = []
    for who, count in _ROWS_OF_PEOPLE:
        texts = cycle(["a", "b", None])
        for x, text in zip(range(-3, count - 3), texts, strict=False):
            rows.append((who, x, "NS?"[x % 3], text))
    return TypedRows({"id": "text", "x": "bigint", "g": "text", "t": "text"}, rows)


def _word_rows() -> TypedRows:
    """Return the texts with their index, and a NULL."""
    rows: list[tuple[str | None, int]] = [(word, n) for n, word in enumerate(_SPELT)]
    # The stored name is in upper case: schemas find columns in any case.
    return TypedRows({"W": "text", "n": "bigint"}, [*rows, (None, 98)])


def _place_rows() -> TypedRows:
    """Return the public table of the texts."""
    rows = [(word, n % 5) for n, word in enumerate(_SPELT)]
    return TypedRows({"word": "text", "code": "bigint"}, rows)


TABLES = {
    "hostile": _hostile_rows(),
    "words": _word_rows(),
    "people": _people_rows(),
    "places": _place_rows(),
}


def hostile_tally() -> tuple[Schema, Tally]:
    """Make the tally that shows every cell as each rule reads it, row by row."""
    rules: dict[str, Column] = {"i": Integer(-1, 99)}
    rules |= {name: rule for name, _, rule in _COLUMNS}
    schema = Schema("hostile", Rows(), rules)
    keys = tuple(map(Field, schema.columns))
    return schema, Tally(Scan(schema), keys, (COUNT,), Free())


def word_tallies() -> dict[str, Tally]:
    """Make the tallies of constants, of keys that only bytes tell apart, and of patterns."""
    row = Scan(TEXTS)
    word = Field("w")
    number = Field("n")
    same = [_case(Call(Function.EQUAL, (word, Constant(text))), text) for text in _SPELT]
    first_nine = Call(Function.LESS, (number, Constant(9)))
    length = Call(Function.LENGTH, (_case(first_nine, "${env:PATH}'\\"),))
    like = [Call(Function.LIKE, (word, Constant(pattern))) for pattern in _PATTERNS]
    place = JoinPublic(row, PLACES, ((word, "word"),), (("code", "code"),), keep=False)
    return {
        "constants": Tally(row, (number, *same), (Term(length, 1, 0, 80),), Free()),
        "keys": Tally(row, (word,), (COUNT,), Free()),
        "joins": Tally(place, (word, Field("code")), (COUNT,), Free()),
        "LIKE": Tally(row, (number, *like), (COUNT,), Free()),
    }


def _case(test: Expression, text: str) -> Expression:
    return Call(Function.CASE, (test, Constant(text), Constant("no")))


def people_tallies() -> Iterator[Tally]:
    """Make tallies with bounds on rows and on groups, over filters, joins and a union."""
    rows = Scan(PEOPLE)
    x = Field("x")
    filtered = Where(rows, Call(Function.AT_MOST, (Constant(-2), x)))
    renamed = Select(rows, (("y", x), ("h", Field("g"))))
    with_itself = JoinPeople(filtered, renamed, ((x, Field("y")),))
    with_places = JoinPublic(rows, PLACES, ((x, "code"),), (("word", "word"),), keep=True)
    cases: list[tuple[Relation, str, RowShare | GroupShare | Free, bool]] = [
        (filtered, "g", RowShare(2), False),
        (with_itself, "h", GroupShare(1, 2), False),
        (Union((rows, filtered)), "g", RowShare(1), True),
        (with_places, "word", GroupShare(2, 1), True),
    ]
    total = Term(x, 1, -9, 9)
    for relation, key, share, people in cases:
        yield Tally(relation, (Field(key),), (total, COUNT), share, people=people)
