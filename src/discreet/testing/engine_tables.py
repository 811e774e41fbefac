"""The tables and tallies that every engine is tried on: hostile cells, words, people and a public table."""

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
TOLD = "zz4711zz"
"""A stored word that nothing but a total may show."""

_NUMBERS: list[Column] = [
    Integer(-5, 9), Real(0, 500, step=0.01, default=1), Category([0, 1, 7, 12], other=-1), Boolean(),
    Real(-2, 3, step=0.25),
]  # fmt: skip
_WORDS: list[Column] = [
    Text(3), Integer(0, 100, null_key=True), Category(["N", "12", "it's"], other=True), Real(0, 1000),
    Boolean(default=False), Date("1969-01-01", "2024-12-31"), Timestamp("1969-06-01T00:00:00", "2024-12-31T23:59:59"),
]  # fmt: skip
_DAYS: list[Column] = [
    Date("1969-01-01", "2024-12-31"),
    Timestamp("1969-06-01T00:00:00", "2024-12-31T23:59:59", default="2024-01-01T00:00:00"),
]  # fmt: skip
_TRUTHS: list[Column] = [Boolean(), Text(4), Integer(0, 1), Category([True], default=True)]
_RULES = {
    **dict.fromkeys(("bigint", "integer", "double", "real", "decimal"), _NUMBERS),
    "text": _WORDS,
    "boolean": _TRUTHS,
    **dict.fromkeys(("date", "timestamp", "timestamptz"), _DAYS),
}
_READ = [
    (f"{stored}_{n}", stored, rule)
    for stored, rules in _RULES.items()
    for n, rule in enumerate(rules)
]
"""Columns by name: the stored type, whose cells are the same in each, and the rule that reads them."""
_LONGEST = max(map(len, CELLS.values()))

_SPELT = ["a", "A", "\u00e1", "a\u0301", "ß", "ss", "a ", " a", "a%b", "a_b", "a\\b", "it's", '"', "`", "--", "/*",
          "x\ny", "${env:PATH}", "$", "👍🏽", "👍", "İ", "i", "\\E", "a" * 60, TOLD, "", "'||'", "ﬀ", "ff"]  # fmt: skip
_PATTERNS = ["%", "_", "a%", "%a", "%a%a%a%a%a%a%a%a%a%a%c", "_%_", "a_b", "%\\%", "%\n%", "👍%", "", "%'%", "${env%",
             "%_%"]  # fmt: skip
WORDS = Schema("words", Rows(), {"w": Text(80), "n": Integer(0, 99)})
PEOPLE = Schema(
    "people",
    People("id", max_rows=3),
    {"x": Integer(-9, 9), "g": Category(["N", "S"]), "t": Text(5)},
)
PLACES = Schema.public_table(
    "places", {"word": Text(80), "code": Integer(-9, 9)}, key="word", max_rows={"code": 9}
)
TABLES = {
    "hostile": TypedRows(
        {"i": "bigint", **{name: stored for name, stored, _ in _READ}},
        [(-1, *[None] * len(_READ)), *((i, *(CELLS[stored][i % len(CELLS[stored])] for _, stored, _ in _READ))
                                       for i in range(_LONGEST))],
    ),
    "words": TypedRows({"W": "text", "n": "bigint"}, [(word, n) for n, word in enumerate(_SPELT)] + [(None, 98)]),
    "people": TypedRows(
        {"id": "text", "x": "bigint", "g": "text", "t": "text"},
        [(who, x, "NS?"[x % 3], t) for who, n in (("ann", 1), ("Ann", 2), ("bob", 7), ("cy ", 4), ("cy", 3), (None, 2))
         for x, t in zip(range(-3, n - 3), cycle(["a", "b", None]), strict=False)],
    ),
    "places": TypedRows({"word": "text", "code": "bigint"}, [(word, n % 5) for n, word in enumerate(_SPELT)]),
}  # fmt: skip


def hostile_tally() -> tuple[Schema, Tally]:
    """Make the tally that shows every cell as each rule reads it, row by row."""
    schema = Schema(
        "hostile", Rows(), {"i": Integer(-1, 99), **{name: rule for name, _, rule in _READ}}
    )
    return schema, Tally(Scan(schema), tuple(map(Field, schema.columns)), (COUNT,), Free())


def word_tallies() -> dict[str, Tally]:
    """Make the tallies of constants, of keys that only bytes tell apart, and of patterns."""
    row, word = Scan(WORDS), Field("w")
    same = [_case(Call(Function.EQUAL, (word, Constant(text))), text) for text in _SPELT]
    length = Call(
        Function.LENGTH, (_case(Call(Function.LESS, (Field("n"), Constant(9))), "${env:PATH}'\\"),)
    )
    like = [Call(Function.LIKE, (word, Constant(pattern))) for pattern in _PATTERNS]
    place = JoinPublic(row, PLACES, ((word, "word"),), (("code", "code"),), keep=False)
    return {
        "constants": Tally(row, (Field("n"), *same), (Term(length, 1, 0, 80),), Free()),
        "keys": Tally(row, (word,), (COUNT,), Free()),
        "joins": Tally(place, (word, Field("code")), (COUNT,), Free()),
        "LIKE": Tally(row, (Field("n"), *like), (COUNT,), Free()),
    }


def _case(test: Expression, text: str) -> Expression:
    return Call(Function.CASE, (test, Constant(text), Constant("no")))


def people_tallies() -> Iterator[Tally]:
    """Make tallies of all shares and relations."""
    rows = Scan(PEOPLE)
    grown = Where(rows, Call(Function.AT_MOST, (Constant(-2), Field("x"))))
    other = Select(rows, (("y", Field("x")), ("h", Field("g"))))
    place = JoinPublic(rows, PLACES, ((Field("x"), "code"),), (("word", "word"),), keep=True)
    shapes: list[tuple[Relation, str, RowShare | GroupShare | Free, bool]] = [
        (grown, "g", RowShare(2), False),
        (JoinPeople(grown, other, ((Field("x"), Field("y")),)), "h", GroupShare(1, 2), False),
        (Union((rows, grown)), "g", RowShare(1), True),
        (place, "word", GroupShare(2, 1), True),
    ]
    for relation, key, share, people in shapes:
        yield Tally(
            relation, (Field(key),), (Term(Field("x"), 1, -9, 9), COUNT), share, people=people
        )
