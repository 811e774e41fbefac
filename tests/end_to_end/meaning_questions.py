"""Two hundred questions and more, the same each time, as SQL and as plain data of `oracles.meaning`.

There are twenty worlds of ten questions each, and of further ones that came later. A world has a unit
with its caps, a neighbour relation and random tables, whose columns hold NULL, unlisted, unreadable
and extreme cells. The questions of a world are also one release.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from random import Random

import discreet as dp
from end_to_end.meaning_writers import sql_of
from engines.tables import Table

SEED = 40
UNITS = [
    {},
    {"max_rows": 2},
    {"max_rows": 3},
    {"max_rows": 4, "max_groups": 2},
    {"max_rows": 6, "max_groups": 3},
    {"max_rows": 2, "window": ("day", "week")},
    {},
    {"max_rows": 5, "max_rows_per_group": 2},
    {"max_rows": 1},
    {"max_rows": 4, "max_groups": 2, "max_rows_per_group": 1},
]
"""Caps of one person, {} where a row is the unit; each of them with both neighbour relations."""

VISITS = {
    "shop": {"type": "category", "values": ["a", "b", "c"]},
    "kind": {"type": "category", "values": ["p", "q"], "default": "p"},
    "mood": {"type": "category", "values": ["u", "v"], "other": "other"},
    "tone": {"type": "category", "values": ["x", "y"], "null_key": True},
    "grade": {"type": "category", "values": [1, 2, 3]},
    "paid": {"type": "boolean"},
    "ward": {"type": "integer", "low": 0, "high": 4},
    "minutes": {"type": "integer", "low": -3, "high": 9, "default": 0},
    "spent": {"type": "real", "low": -4, "high": 10, "step": "0.5"},
    "day": {"type": "date", "low": "2024-01-01", "high": "2024-01-21"},
}
STAYS = {
    "place": {"type": "integer", "low": 0, "high": 4},
    "nights": {"type": "integer", "low": 0, "high": 6},
}
USERS = {
    "region": {"type": "category", "values": ["N", "S"]},
    "age": {"type": "integer", "low": 0, "high": 9},
}
MEMBERS = {
    "level": {"type": "category", "values": ["basic", "gold"]},
}
WARDS = {
    "code": {"type": "integer", "low": 0, "high": 9},
    "city": {"type": "category", "values": ["Oslo", "Rome"]},
    "size": {"type": "integer", "low": 0, "high": 5},
}
PRICES = {
    "sold": {"type": "category", "values": ["a", "b", "c"]},
    "price": {"type": "integer", "low": 0, "high": 8},
}
CELLS = {
    "shop": ["a", "b", "c", "a", "b", "zz", "A", None],
    "kind": ["p", "q", "q", "zz", None],
    "mood": ["u", "v", "u", "zz", None],
    "tone": ["x", "y", "zz", None],
    "grade": ["1", "2", " 3", "2.0", "7", "2.5", "one", None],
    "paid": ["yes", "no", "TRUE", "0", "perhaps", None],
    "ward": ["0", "1", "2", "3", "4", "99", "-7", "two", None],
    "minutes": ["-3", "0", "4", "9", "2.5", "1e9", "-1e9", "inf", None],
    "spent": ["0", "1.5", "-2", "7.3", "1e30", "-1e30", "nan", "much", None],
    "day": ["2024-01-01", "2024-01-03", "2024-01-09", "2024-01-16", "1999-01-01", "2030-01-01", "soon", None],
    "place": ["0", "1", "3", "4", "88", "x", None],
    "nights": ["0", "2", "6", "99", "-1", "few", None],
    "region": ["N", "S", "N", "Q", None],
    "age": ["0", "3", "9", "200", "old", None],
    "level": ["basic", "gold", "gold", "silver", None],
}  # fmt: skip
PUBLIC_ROWS = {
    "wards": [
        {"code": str(code), "city": ["Oslo", "Rome"][code % 2], "size": str(code)}
        for code in (0, 1, 2, 3)
    ],
    "prices": [
        {"sold": "a", "price": "3"},
        {"sold": "a", "price": "8"},
        {"sold": "b", "price": "1"},
    ],
}


def column(name):
    return ("column", name)


def value(constant):
    return ("value", constant)


KEYS = {
    "shop": column("shop"),
    "kind": column("kind"),
    "mood": column("mood"),
    "tone": column("tone"),
    "grade": column("grade"),
    "paid": column("paid"),
    "ward": column("ward"),
    "week": ("week", column("day")),
    "bin": ("bin", column("minutes"), value(4)),
    "level": ("case", [((">=", column("spent"), value(2)), value("high"))], value("low")),
    "side": (
        "case",
        [
            ((">=", column("spent"), value(5)), value("much")),
            (("<", column("spent"), value(0)), value("debt")),
        ],
        None,
    ),
    "some_shop": ("coalesce", column("shop"), value("none")),
    "either": ("coalesce", column("shop"), column("mood")),
}
CONDITIONS = [
    (">=", column("ward"), value(2)),
    ("not", (">=", column("ward"), value(3))),
    ("or", ("is null", column("shop")), (">=", column("ward"), value(1))),
    ("not", ("is null", column("paid"))),
    ("or", ("=", column("shop"), value("a")), (">=", column("minutes"), value(4))),
    ("and", ("<>", column("grade"), value(2)), ("<", column("spent"), value(6))),
    ("in", column("shop"), ["a", "c"]),
    ("not", ("in", column("mood"), ["u"])),
    ("or", ("is null", column("day")), ("=", column("kind"), value("q"))),
]
NUMBERS = {"minutes": VISITS["minutes"], "spent": VISITS["spent"], "ward": VISITS["ward"]}


@dataclass(frozen=True)
class Asked:
    """A question as plain data, and as SQL."""

    name: str
    plain: dict

    @property
    def sql(self):
        return sql_of(self.plain)


@dataclass(frozen=True)
class World:
    """Schemas and tables, and the questions about them; `facts` are the schemas as plain data."""

    name: str
    facts: dict
    neighbours: str
    rows: dict
    questions: list = field(default_factory=list)

    @property
    def schemas(self):
        return {name: schema_of(name, facts, self.neighbours) for name, facts in self.facts.items()}

    @property
    def tables(self):
        return {name: stored(self.facts[name], rows) for name, rows in self.rows.items()}


def schema_of(name, facts, neighbours):
    """Declare what the plain facts of a table say."""
    columns = {column_name: column_of(**each) for column_name, each in facts["columns"].items()}
    if facts.get("public"):
        declared = {name: facts[name] for name in ("key", "max_rows") if name in facts}
        return dp.Schema.public_table(name, columns, **declared)
    unit = facts["unit"]
    declared = dp.Rows() if unit is None else dp.People(unit["id"], **_caps(unit))
    return dp.Schema(name, declared, columns, neighbours=neighbours)


def _caps(unit):
    return {name: cap for name, cap in unit.items() if name != "id"}


def column_of(type, **facts):  # noqa: A002
    kinds = {
        "category": dp.Category,
        "boolean": dp.Boolean,
        "integer": dp.Integer,
        "real": dp.Real,
        "date": dp.Date,
    }
    return kinds[type](**facts)


def stored(facts, rows):
    """Return a table whose cells are all text, as files have them, but for the person's id."""
    types = dict.fromkeys(facts["columns"], "text")
    if facts.get("unit"):
        types = {facts["unit"]["id"]: "bigint"} | types
    return Table(types, [tuple(row[name] for name in types) for row in rows])


@cache
def worlds():
    """Return the twenty worlds."""
    random = Random(SEED)
    made = []
    for neighbours in ("add-remove", "replace"):
        for place, unit in enumerate(UNITS):
            made.append(_world(f"{neighbours} {place}", unit, neighbours, random))
    return made


def _world(name, caps, neighbours, random):
    unit = {"id": "id"} | caps if caps else None
    facts = {"visits": {"unit": unit, "columns": VISITS}, "stays": {"unit": unit, "columns": STAYS}}
    windowed = bool(caps.get("window"))
    if windowed:
        del facts["stays"]
    if caps and not windowed:
        facts["users"] = {"unit": {"id": "id", "max_rows": 1}, "columns": USERS}
    facts["wards"] = {"public": True, "columns": WARDS, "key": "code"}
    facts["prices"] = {"public": True, "columns": PRICES, "max_rows": {"sold": 2}}
    sizes = {"visits": 34, "stays": 14, "users": 9}
    rows = {
        table: [row_of(facts[table], random) for _ in range(size)]
        for table, size in sizes.items()
        if table in facts
    }
    world = World(name, facts, neighbours, rows | PUBLIC_ROWS)
    for place, form in enumerate(_forms(caps, windowed)):
        world.questions.append(form(f"q{place}", world, random))
    _add_later_forms(world, caps, windowed)
    return world


def _add_later_forms(world, caps, windowed):
    """Add a table and forms that came later; draws of their own leave all others as they were."""
    random = Random(f"{SEED} {world.name}")
    if caps and not windowed:
        # The same people under another name of their id.
        unit = {"id": "member", "who": "id", "max_rows": 1}
        world.facts["members"] = {"unit": unit, "columns": MEMBERS}
        world.rows["members"] = [row_of(world.facts["members"], random) for _ in range(9)]
        for place, form in enumerate([funnel, cohort, other_name]):
            world.questions.append(form(f"later{place}", world, random))
    world.questions.append(share("share", world, random))


def row_of(facts, random):
    """Draw a row; a few people have most of the rows, and a few rows have no person."""
    row = {name: random.choice(CELLS[name]) for name in facts["columns"]}
    if facts["unit"] is not None:
        row[facts["unit"]["id"]] = random.choice([1, 1, 1, 2, 2, 3, 4, 5, 6, None])
    return row


def _forms(caps, windowed):
    """List the forms of questions that a unit allows, ten of them."""
    forms = [grouped, sets, filtered, public_join, from_subquery, key_list]
    if windowed:
        return [*forms, grouped, grouped, sets, filtered]
    if not caps:
        return [*forms, union, grouped, sets, filtered]
    return [*forms, union, people, person_join, per_person]


# Forms of questions.
def grouped(name, world, random):
    """Statistics by none to three keys."""
    return _asked(name, _where(("table", "visits"), random), _keys(random, 0, 3), _terms(random))


def filtered(name, _world, random):
    """Counts and sums of the rows that meet a condition."""
    terms = {"n": {"what": "count"}}
    for place, condition in enumerate(random.sample(CONDITIONS, random.choice([1, 2, 4]))):
        terms[f"f{place}"] = {"what": "count", "filter": condition}
    return _asked(name, _where(("table", "visits"), random), _keys(random, 0, 1), terms)


def sets(name, _world, random):
    """GROUPING SETS, CUBE or ROLLUP of two or three keys."""
    keys = _keys(random, 2, 3)
    keys.pop("tone", None)  # a NULL that is a key is refused in sets
    every = tuple(range(len(keys)))
    cube = [tuple(p for p in every if mask >> p & 1) for mask in range(2 ** len(keys))]
    rollup = [every[:size] for size in range(len(keys), -1, -1)]
    some = random.sample(cube[:-1], min(2, len(cube) - 1))
    chosen = random.choice([cube, rollup, [every, *some]])
    terms = {"n": {"what": "count"}}
    if random.random() < 0.4:
        terms["s"] = _number("sum", random)
    return _asked(name, _where(("table", "visits"), random), keys, terms, chosen)


def union(name, _world, random):
    """UNION ALL of two tables."""
    first = {"where_at": column("ward"), "many": column("minutes")}
    second = {"where_at": column("place"), "many": column("nights")}
    relation = (
        "union",
        ("select", _where(("table", "visits"), random), first),
        ("select", ("table", "stays"), second),
    )
    keys = {"where_at": column("where_at")} if random.random() < 0.7 else {}
    many = {"what": "sum", "of": column("many"), "low": -3, "high": 9, "step": 1}
    terms = {"n": {"what": "count"}, "s": many}
    return _asked(name, relation, keys, terms)


def public_join(name, _world, random):
    """A join with a public table, by its key or by a column that repeats."""
    visits = ("table", "visits")
    if random.random() < 0.5:
        relation = ("public", visits, "wards", column("ward"), "code", random.random() < 0.5)
        keys = random.choice([{}, {"city": column("city")}, {"shop": column("shop")}])
        of, facts = column("size"), WARDS["size"]
    else:
        relation = ("public", visits, "prices", column("shop"), "sold", False)
        keys = random.choice([{}, {"paid": column("paid")}, {"shop": column("shop")}])
        of, facts = column("price"), PRICES["price"]
    total = {"what": "sum", "of": of, "low": facts["low"], "high": facts["high"], "step": 1}
    return _asked(name, _where(relation, random), keys, {"n": {"what": "count"}, "s": total})


def from_subquery(name, _world, random):
    """A sub-query of rows, with a condition inside and one outside."""
    chosen = {"store": column("shop"), "long": column("minutes"), "ward": column("ward")}
    inner = ("select", _where(("table", "visits"), random), chosen)
    relation = inner
    if random.random() < 0.5:
        relation = ("where", inner, (">=", column("ward"), value(1)))
    keys = random.choice(
        [{}, {"store": column("store")}, {"store": column("store"), "ward": column("ward")}]
    )
    terms = {"n": {"what": "count"}, "c": {"what": "count", "of": column("ward")}}
    return _asked(name, relation, keys, terms)


def key_list(name, world, random):
    """A list of keys that is shorter than the column, joined."""
    listed = random.choice([[("a",), ("c",)], [("b",)], [("a",), ("none such",)]])
    relation = ("listed", _where(("table", "visits"), random), [column("shop")], listed)
    return _asked(name, relation, {"shop": column("shop")}, {"n": {"what": "count"}})


def people(name, _world, random):
    """COUNT(DISTINCT id) beside a count of rows."""
    terms = {"p": {"what": "people"}}
    if random.random() < 0.5:
        terms["n"] = {"what": "count"}
    return _asked(name, _where(("table", "visits"), random), _keys(random, 0, 2), terms)


def person_join(name, _world, random):
    """A join of private tables on the person."""
    other = random.choice(["users", "stays"])
    relation = ("people", ("table", "visits"), ("table", other))
    keys = {"region": column("region")} if other == "users" else {"place": column("place")}
    if random.random() < 0.4:
        keys = {"shop": column("shop")}
    facts = USERS["age"] if other == "users" else STAYS["nights"]
    of = column("age" if other == "users" else "nights")
    total = {"what": "sum", "of": of, "low": facts["low"], "high": facts["high"], "step": 1}
    return _asked(name, _where(relation, random), keys, {"n": {"what": "count"}, "s": total})


def per_person(name, world, random):
    """Statistics of one row for each person."""
    most = world.facts["visits"]["unit"]["max_rows"]
    low, high = -3, 9
    totals = {
        "c": ("count", value(1), 0, 1),
        "t": ("sum", column("minutes"), low, high),
        "w": (random.choice(["min", "max"]), column("ward"), 0, 4),
    }
    relation = ("per person", _where(("table", "visits"), random), totals)
    if random.random() < 0.4:
        relation = ("where", relation, (">=", column("t"), value(2)))
    keys = {"w": column("w")} if random.random() < 0.6 else {}
    total = {"what": "sum", "of": column("t"), "low": low * most, "high": high * most, "step": 1}
    rows = {"what": "sum", "of": column("c"), "low": 0, "high": most, "step": 1}
    return _asked(name, relation, keys, {"n": {"what": "count"}, "s": total, "rows": rows})


def funnel(name, _world, random):
    """People with a row that meets a condition, as CASE and as FILTER, beside all people."""
    first, second = random.sample(CONDITIONS, 2)
    terms = {
        "p": {"what": "people"},
        "f": {"what": "people", "filter": first},
        "g": {"what": "people", "filter": second, "case": True},
    }
    return _asked(name, _where(("table", "visits"), random), _keys(random, 0, 2), terms)


def cohort(name, _world, random):
    """People by the week of their first or last day, also of those days that meet a condition."""
    day = column("day")
    if random.random() < 0.5:
        day = ("case", [(random.choice(CONDITIONS), day)], None)
    totals = {"d": (random.choice(["min", "max"]), day, None, None), "c": ("count", value(1), 0, 1)}
    relation = ("per person", _where(("table", "visits"), random), totals)
    keys = {"week": ("week", column("d"))}
    return _asked(name, relation, keys, {"n": {"what": "count"}})


def share(name, world, random):
    """A count of all rows, or of others, by a scalar sub-query beside counts by keys."""
    terms = {"n": {"what": "count"}, "s": _number("sum", random)}
    inner = random.choice([{"what": "count"}, _number("sum", random)])
    if world.facts["visits"]["unit"] and random.random() < 0.3:
        inner = {"what": "people"}
    if "window" in (world.facts["visits"]["unit"] or {}):
        inner = {"what": "count"}
    rows = _where(("table", "visits"), random)
    terms["all_rows"] = {"what": "overall", "from": rows, "statistic": inner}
    return _asked(name, _where(("table", "visits"), random), _keys(random, 0, 2), terms)


def other_name(name, _world, random):
    """A join on the person of tables that have two names for the id."""
    relation = ("people", ("table", "visits"), ("table", "members"))
    keys = {"level": column("level")}
    terms = {"n": {"what": "count"}, "p": {"what": "people"}, "s": _number("sum", random)}
    return _asked(name, _where(relation, random), keys, terms)


def _where(relation, random):
    if random.random() < 0.5:
        return relation
    return ("where", relation, random.choice(CONDITIONS))


def _keys(random, least, most):
    names = random.sample(list(KEYS), random.randint(least, most))
    # Bins of one column that overlap are refused in sets.
    if {"level", "side"} <= set(names):
        names.remove("side")
        names.append(next(name for name in KEYS if name not in names and name != "side"))
    return {name: KEYS[name] for name in names}


def _terms(random):
    terms = {"n": {"what": "count"}}
    for name in random.sample(["c", "s", "m"], random.choice([0, 0, 1, 1, 2, 3])):
        what = {"c": "count", "s": "sum", "m": "mean"}[name]
        terms[name] = _number(what, random)
        if name == "c":
            terms[name] = {"what": "count", "of": column(random.choice(["shop", "spent", "paid"]))}
    return terms


def _number(what, random):
    name = random.choice(list(NUMBERS))
    facts = NUMBERS[name]
    step = facts.get("step", 1)
    return {
        "what": what,
        "of": column(name),
        "low": facts["low"],
        "high": facts["high"],
        "step": step,
    }


def _asked(name, relation, keys, terms, sets=None):
    listed = [
        {"name": key, "expression": expression, "null_key": expression == column("tone")}
        for key, expression in keys.items()
    ]
    return Asked(name, {"from": relation, "keys": listed, "statistics": terms, "sets": sets})
