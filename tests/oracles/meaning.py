"""The rules of docs/explanation/meaning.md in plain Python, which imports nothing of discreet.

Everything is plain data. A schema is what its TOML file says, as dictionaries:

    {"visits": {"unit": {"id": "user", "max_rows": 3}, "columns": {"shop": {"type": "category", …}}}}

A unit is None where a row is its own unit; a public table has "public": True. An expression is a
tuple whose first entry says what it is, as ("column", "shop") or (">=", ("column", "x"), ("value", 3)).
A relation is one too: ("table", "visits"), ("where", relation, condition) and so on. A question has
"from", "keys", "statistics" and, for GROUPING SETS, "sets". A hierarchy that is listed has "places":
its levels, as positions of keys from the widest on, and the rows of its values.

`targets` returns the exact number that each cell of a question stands for, before any noise.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from datetime import date, timedelta
from fractions import Fraction
from functools import cache

FULL = 2**20
"""A row that counts in full; shares of a row are whole parts of it, rounded down."""
NUMERAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,2})?")
WORDS = dict.fromkeys(("true", "t", "yes", "y", "1"), True) | dict.fromkeys(
    ("false", "f", "no", "n", "0"), False
)


# Cells as the schema reads them: clipped, defaults filled in, the unlisted NULL or `other`.
def read_cell(column, cell):
    """Read one stored cell, text or NULL, by its column."""
    value = None if cell is None else READERS[column["type"]](column, cell)
    if value is None and cell is not None and column.get("other") is not None:
        return column["other"]
    return column.get("default") if value is None else value


@cache
def read_number(cell):
    text = cell.strip(" ")
    if len(text) > 40 or not NUMERAL.fullmatch(text):
        return None
    return Fraction(text) if text.lstrip("+-").isdigit() else Fraction(float(text))


def read_integer(column, cell):
    number = read_number(cell)
    return None if number is None else min(max(round(number), column["low"]), column["high"])


def read_real(column, cell):
    number = read_number(cell)
    if number is None:
        return None
    step = Fraction(column["step"])
    nearest = round(number / step) * step
    return min(max(nearest, Fraction(column["low"])), Fraction(column["high"]))


def read_category(column, cell):
    value = cell
    if isinstance(column["values"][0], int):
        value = read_number(cell)
    return next((listed for listed in column["values"] if listed == value), None)


def read_boolean(_column, cell):
    return WORDS.get(cell.strip(" ").lower())


def read_date(column, cell):
    try:
        day = date.fromisoformat(cell)
    except ValueError:
        return None
    return min(max(day, date.fromisoformat(column["low"])), date.fromisoformat(column["high"]))


READERS = {
    "integer": read_integer,
    "real": read_real,
    "category": read_category,
    "boolean": read_boolean,
    "date": read_date,
}


# Expressions as SQL evaluates them: NULL is None, and a comparison with NULL is NULL.
def value_of(expression, row):
    """Evaluate an expression on one row."""
    kind, *parts = expression
    match kind:
        case "column":
            return row[parts[0]]
        case "value":
            return parts[0]
        case "level":
            return None if row["place"] is None else row["place"][parts[0]]
        case "is null":
            return value_of(parts[0], row) is None
        case "and" | "or":
            return both_or_either(kind, [value_of(part, row) for part in parts])
        case "coalesce":
            values = (value_of(part, row) for part in parts)
            return next((value for value in values if value is not None), None)
        case "case":
            branches, otherwise = parts
            for condition, value in branches:
                if value_of(condition, row) is True:
                    return value_of(value, row)
            return None if otherwise is None else value_of(otherwise, row)
        case "in":
            value = value_of(parts[0], row)
            return None if value is None else value in parts[1]
    values = [value_of(part, row) for part in parts]
    return None if None in values else PLAIN[kind](*values)


def both_or_either(kind, values):
    """AND is false where a part is false, OR is true where a part is true, whatever is NULL."""
    decides = kind == "or"
    if decides in values:
        return decides
    return None if None in values else not decides


PLAIN = {
    "not": lambda a: not a,
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    ">=": lambda a, b: a >= b,
    "<": lambda a, b: a < b,
    "bin": lambda a, width: math.floor(Fraction(a) / width),
    "week": lambda day: day - timedelta(days=day.weekday()),
}


# M1: the relation. Every row belongs to one unit, its owner.
def rows_of(relation, schemas, tables):
    """Return (owner, row) pairs as SQL makes them."""
    kind, *parts = relation
    if kind == "table":
        return stored_rows(schemas[parts[0]], tables[parts[0]])
    if kind == "union":
        made = (rows_of(part, schemas, tables) for part in parts)
        return [pair for part in made for pair in part]
    inner = rows_of(parts[0], schemas, tables)
    match kind:
        case "where":
            return [(owner, row) for owner, row in inner if value_of(parts[1], row) is True]
        case "select":
            chosen = parts[1].items()
            return [(owner, {name: value_of(e, row) for name, e in chosen}) for owner, row in inner]
        case (
            "listed"
        ):  # a JOIN with a list of keys: rows that match nothing are not in the relation
            expressions, listed = parts[1:]
            return [pair for pair in inner if key_of(expressions, pair[1]) in listed]
        case "public":
            return join_public(relation, inner, schemas, tables)
        case "people":
            return join_people(relation, inner, schemas, tables)
        case "per person":
            return per_person(relation, inner, schemas)
    raise ValueError(kind)


def stored_rows(schema, rows):
    found = []
    for place, stored in enumerate(rows):
        columns = schema["columns"].items()
        row = {name: read_cell(column, stored[name]) for name, column in columns}
        owner = owner_of(schema.get("unit"), place, stored, row)
        if owner is not None:
            found.append((owner, row))
    return found


def owner_of(unit, place, stored, row):
    """Return the row itself, or the person (and window); None for a row that counts nowhere."""
    if unit is None:
        return place
    person = stored[unit["id"]]
    if unit.get("window") is None or person is None:
        return person
    column, _week = unit["window"]
    return None if row[column] is None else (person, PLAIN["week"](row[column]))


def join_public(relation, inner, schemas, tables):
    """Pair each row with the public rows that match; LEFT JOIN keeps a row without a match."""
    _, rows, name, expression, column, keep = relation
    public = [row for _, row in stored_rows(schemas[name], tables[name])]
    if matches_of(schemas[name], column) > 1:
        inner = truncated(inner, max_rows(rows, schemas), names_in(rows, schemas))
    joined = []
    for owner, row in inner:
        value = value_of(expression, row)
        found = [other for other in public if value is not None and other[column] == value]
        if keep and not found:
            found = [dict.fromkeys(schemas[name]["columns"])]
        joined += [(owner, row | other) for other in found]
    return joined


def join_people(relation, left, schemas, tables):
    """Pair the rows of one person; a side that could multiply the other is truncated first."""
    _, left_rows, right_rows = relation
    right = rows_of(right_rows, schemas, tables)
    left_max, right_max = max_rows(left_rows, schemas), max_rows(right_rows, schemas)
    if right_max is not None:
        right = truncated(right, right_max, names_in(right_rows, schemas))
        if right_max > 1:
            left = truncated(left, left_max, names_in(left_rows, schemas))
    return [(owner, row | other) for owner, row in left for who, other in right if owner == who]


def truncated(pairs, most, order):
    """Keep k of a person's n rows, evenly spread in the order of the table's columns.

    In that order (NULL first) row number i, from 1, is kept if (i·k + ⌊n/2⌋) mod n < k.
    """
    if most is None:
        return pairs
    people = defaultdict(list)
    for owner, row in pairs:
        people[owner].append(row)
    kept = []
    for owner, rows in people.items():
        n = len(rows)
        rows.sort(key=lambda row: [(row[name] is not None, row[name] or 0) for name in order])
        for i, row in enumerate(rows, start=1):
            if n <= most or (i * most + n // 2) % n < most:
                kept.append((owner, row))
    return kept


def per_person(relation, inner, schemas):
    """Make one row of each person: totals over that person's rows, clipped to what k rows can have."""
    _, rows, totals = relation
    most = max_rows(rows, schemas)
    people = defaultdict(list)
    for owner, row in inner:
        people[owner].append(row)
    made = []
    for owner, own in people.items():
        row = {}
        for name, (what, expression, low, high) in totals.items():
            values = [value_of(expression, each) for each in own]
            present = [value for value in values if value is not None]
            row[name] = total_of(what, present, most, low, high)
        made.append((owner, row))
    return made


def total_of(what, values, most, low, high):
    if what == "count":
        return min(len(values), most)
    if not values:
        return None
    if what == "sum":
        return min(max(sum(values), min(low, most * low)), max(high, most * high))
    return min(values) if what == "min" else max(values)


# Caps of a relation: max_rows and max_groups of its tables, combined.
def max_rows(relation, schemas, cap="max_rows"):
    """Return k (or another cap) of one person over a relation; None where a row is its own unit."""
    kind, *parts = relation
    if kind == "table":
        unit = schemas[parts[0]].get("unit")
        return None if unit is None else unit.get(cap) or unit["max_rows"]
    if kind == "per person":
        return 1
    caps = [max_rows(part, schemas, cap) for part in parts if is_relation(part)]
    if None in caps:
        return None
    if kind == "union":
        return sum(caps)
    if kind == "public":
        return caps[0] * matches_of(schemas[parts[1]], parts[3])
    return math.prod(caps)


def is_relation(part):
    kinds = ("table", "union", "where", "select", "listed", "public", "people", "per person")
    return isinstance(part, tuple) and part[0] in kinds


def matches_of(public, column):
    """Return how many public rows one row can match, as the schema states."""
    return 1 if public.get("key") == column else public["max_rows"][column]


def names_in(relation, schemas):
    """List the columns of a relation of tables, in the order of the schema."""
    kind, *parts = relation
    if kind == "table":
        return list(schemas[parts[0]]["columns"])
    return [name for part in parts if is_relation(part) for name in names_in(part, schemas)]


# M6: cells. A row is in a cell if each of its keys has a public value.
def key_of(expressions, row):
    return tuple(value_of(expression, row) for expression in expressions)


def cell_of(keys, row):
    """Return the cell of a row; None if one of its keys is NULL or not listed."""
    cell = key_of([key["expression"] for key in keys], row)
    return cell if all(map(is_public, keys, cell)) else None


def is_public(key, value):
    if value is None:
        return key.get("null_key", False)
    return "listed" not in key or value in key["listed"]


# M2, M3, M4: the weight of a row, in parts of FULL, rounded down.
def weights(question, keys, pairs, schemas):
    """Return the weight of every row of the relation."""
    relation = question["from"]
    k = max_rows(relation, schemas)
    if k is None:
        return [FULL] * len(pairs)  # M2: the unit is a row
    r = rows_per_group(relation, schemas) if keys else None
    if r is not None:
        return weights_by_group(keys, pairs, k, max_groups(relation, schemas), r)
    n = Counter(owner for owner, _ in pairs)  # M3: whatever their keys and terms
    return [share(k, n[owner]) for owner, _ in pairs]


def share(most, count):
    """Return min(1, most/count) in parts of FULL, rounded down."""
    return FULL * min(most, count) // count


def weights_by_group(keys, pairs, k, g, r):
    """M4: at most r rows in a key; the rows in no public key are together one more key."""
    places = [(owner, cell_of(keys, row)) for owner, row in pairs]
    n = Counter(places)
    total = Counter()
    for (owner, _), count in n.items():
        total[owner] += min(count, r)
    most = k if g is None else min(k, g * r)
    return [share(r, n[place]) * share(most, total[place[0]]) // FULL for place in places]


def rows_per_group(relation, schemas):
    units = [schemas[name]["unit"] for name in tables_in(relation)]
    if not any(unit.get("max_rows_per_group") for unit in units):
        return None
    return min(
        max_rows(relation, schemas),
        max_rows(relation, schemas, "max_rows_per_group"),
    )


def max_groups(relation, schemas):
    units = [schemas[name]["unit"] for name in tables_in(relation)]
    declared = any(unit.get("max_groups") for unit in units)
    return max_rows(relation, schemas, "max_groups") if declared else None


def tables_in(relation):
    kind, *parts = relation
    if kind == "table":
        return [parts[0]]
    return [name for part in parts if is_relation(part) for name in tables_in(part)]


# Statistics: whole steps, each contribution shrunk by its row's weight towards 0.
def targets(question, schemas, tables):
    """Return {set of keys: {cell: {name of a statistic: exact number}}}.

    M8: each set of GROUPING SETS means what GROUP BY of that set means alone. M10: nothing else is
    given to this function, so nothing else can change a target.
    """
    every = tuple(range(len(question["keys"])))
    pairs = rows_of(question["from"], schemas, tables)
    if question.get("places"):
        question, pairs = by_places(question, pairs)
    made = {}
    for places in question.get("sets") or [every]:
        keys = [question["keys"][place] for place in places]
        made[tuple(places)] = table_of(question, keys, pairs, schemas)
    return made


def by_places(question, pairs):
    """M6: a row has the levels of its listed place, or none of them, also where one is asked alone.

    The narrowest level says which place a row has, if it tells them apart; else all levels do.
    """
    levels, places = question["places"]
    keys = list(question["keys"])
    expressions = [keys[at]["expression"] for at in levels]
    narrowest = [place[-1] for place in places]
    apart = len(set(narrowest)) == len(places)
    placed = []
    for owner, row in pairs:
        own = key_of(expressions, row)
        found = [place for place in places if (place[-1] == own[-1] if apart else place == own)]
        placed.append((owner, row | {"place": found[0] if found else None}))
    for depth, at in enumerate(levels):
        keys[at] = keys[at] | {"expression": ("level", depth)}
    return question | {"keys": keys}, placed


def table_of(question, keys, pairs, schemas):
    own = weights(question, keys, pairs, schemas)
    capped = max_rows(question["from"], schemas) is not None
    cells = [cell_of(keys, row) for _, row in pairs]
    table = defaultdict(dict)
    if not keys:
        table[()] = {}
    for name, statistic in question["statistics"].items():
        if statistic["what"] == "overall":
            continue
        if statistic["what"] == "quantile":
            numbers = rows_by_value(statistic, pairs, cells, own)
        elif statistic["what"] == "people":
            numbers = people_by_cell(question, statistic, pairs, cells, schemas)
        else:
            numbers = totals_by_cell(statistic, pairs, cells, own, capped)
        for cell, number in numbers.items():
            table[cell][name] = number
    return dict(table)


def overall_target(statistic, schemas, tables):
    """M11: a scalar sub-query is the one number that it is alone, beside every key."""
    alone = {"from": statistic["from"], "keys": [], "statistics": {"all": statistic["statistic"]}}
    return targets(alone, schemas, tables)[()][()].get("all", 0)


def totals_by_cell(statistic, pairs, cells, own, capped):
    """COUNT(*), COUNT(x), SUM(x), AVG(x); M7: FILTER leaves the weights of the rows as they are."""
    counts, sums = Counter(), Counter()
    finest = finest_step(statistic, capped)
    for (_, row), cell, weight in zip(pairs, cells, own, strict=True):
        value = value_of(statistic.get("of", ("value", 1)), row)
        holds = value_of(statistic.get("filter", ("value", True)), row) is True
        if cell is None or value is None or not holds:
            continue
        counts[cell] += Fraction(weight, FULL)
        if statistic["what"] != "count":
            steps = Fraction(value) / finest
            shrunk = abs(steps) * weight // FULL
            sums[cell] += (shrunk if steps >= 0 else -shrunk) * finest
    if statistic["what"] == "count":
        return counts
    if statistic["what"] == "sum":
        return sums
    return {cell: sums[cell] / count for cell, count in counts.items() if count}


def rows_by_value(statistic, pairs, cells, own):
    """MEDIAN, QUANTILE, MIN, MAX: the weight, in parts of FULL, of the rows at each value of a cell.

    A row whose value is NULL is at none; it is still one of its person's rows (M3).
    """
    found = defaultdict(Counter)
    for (_, row), cell, weight in zip(pairs, cells, own, strict=True):
        value = value_of(statistic["of"], row)
        if cell is not None and value is not None:
            found[cell][value] += weight
    return {cell: dict(weights) for cell, weights in found.items()}


def finest_step(statistic, capped):
    """Return the step in which a sum is counted.

    Where rows may weigh less than 1 it is the column's own, divided by the least power of two that
    makes the largest contribution at least FULL steps.
    """
    if statistic["what"] == "count":
        return Fraction(1)
    low, high, step = (Fraction(statistic[name]) for name in ("low", "high", "step"))
    largest = max(1, -low / step, high / step)
    parts = 1
    while capped and parts * largest < FULL:
        parts *= 2
    return step / parts


def people_by_cell(question, statistic, pairs, cells, schemas):
    """M5: a person counts once in each cell with a row that meets the FILTER; in m > g cells g/m.

    M7: m counts the cells of all rows of the person, whether they meet the FILTER or not.
    """
    relation = question["from"]
    most = min(max_rows(relation, schemas), max_rows(relation, schemas, "max_groups"))
    present = {
        (owner, cell) for (owner, _), cell in zip(pairs, cells, strict=True) if cell is not None
    }
    m = Counter(owner for owner, _ in present)
    condition = statistic.get("filter", ("value", True))
    counted = {
        (owner, cell)
        for (owner, row), cell in zip(pairs, cells, strict=True)
        if cell is not None and value_of(condition, row) is True
    }
    numbers = Counter()
    for owner, cell in counted:
        # Without keys all rows are in one cell.
        numbers[cell] += Fraction(share(most if cell else 1, m[owner]), FULL)
    return numbers
