"""One question, one meaning: the same SQL counts the same rows alone, in a release, and as one of GROUPING SETS.

Tables are random, with NULL, unlisted and unreadable cells in every key column. What is expected is worked out here in
plain Python, without a word of discreet: a row counts in a table if it passes WHERE and has a public value of each of
its keys; of a person with n rows that pass WHERE, whatever their keys, each counts min(1, k/n). With `max_rows_per_group`
r declared, a row of n_j in its group of a table weighs min(1, r/n_j), and K/T of that if these add up to T > K.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from support.profile import examples

SPEND = dp.PureDP(10**6)
COLUMNS = {
    "a": dp.Category(["x", "y"]),
    "b": dp.Integer(0, 2),
    "c": dp.Boolean(),
    "d": dp.Category(["p", "q"], default="p"),
    "e": dp.Category(["u", "v"], other=True),
    "t": dp.Date("2024-01-01", "2024-01-03"),
}
CELLS = {
    "a": ["x", "y", "zz", None],
    "b": ["0", "1", " 2", "9", "two", None],
    "c": ["yes", "no", "perhaps", None],
    "d": ["p", "q", "zz", None],
    "e": ["u", "v", "zz", None],
    "t": ["2024-01-01", "2024-01-02", "2030-01-01", "soon", None],
}
DAYS = {"2024-01-01": 0, "2024-01-02": 1, "2030-01-01": 2}


def read_b(cell):
    return None if cell in ("two", None) else min(2, int(cell))


READ = {
    "a": lambda row: row["a"] if row["a"] in ("x", "y") else None,
    "b": lambda row: read_b(row["b"]),
    "c": lambda row: {"yes": True, "no": False}.get(row["c"]),
    "d": lambda row: row["d"] if row["d"] in ("p", "q") else "p",
    "e": lambda row: None if row["e"] is None else row["e"] if row["e"] in ("u", "v") else "other",
    "t": lambda row: DAYS.get(row["t"]),
}
KEYS = {
    "a": ("a", READ["a"]),
    "b": ("b", READ["b"]),
    "c": ("c", READ["c"]),
    "d": ("d", READ["d"]),
    "e": ("e", READ["e"]),
    "some_a": ("COALESCE(a, 'none')", lambda row: READ["a"](row) or "none"),
    "either": ("COALESCE(a, e)", lambda row: READ["a"](row) or READ["e"](row)),
    "some_e": ("COALESCE(e, 'none')", lambda row: READ["e"](row) or "none"),
    "half": ("FLOOR(b / 2)", lambda row: None if READ["b"](row) is None else READ["b"](row) // 2),
    "high": (
        "CASE WHEN b >= 1 THEN 'high' ELSE 'low' END",
        lambda row: "high" if (READ["b"](row) or 0) >= 1 else "low",
    ),
    "weekday": (
        "EXTRACT(DAY FROM t)",
        lambda row: None if READ["t"](row) is None else READ["t"](row) + 1,
    ),
}
WHERE = {"": lambda _: True, " WHERE b >= 1": lambda row: (READ["b"](row) or 0) >= 1,
         " WHERE c IS NOT NULL": lambda row: READ["c"](row) is not None}  # fmt: skip
UNITS = {"rows": dp.Rows(), "people": dp.People("id", max_rows=2),
         "groups": dp.People("id", max_rows=5, max_groups=3, max_rows_per_group=1)}  # fmt: skip

BINS = ({"half", "high"}, {"b", "half"}, {"b", "high"})
"""Bins of one column that overlap, or that say the same as the column beside them: refused, or no set of their own."""


def allowed(sets):
    names = {name for one in sets for name in one}
    return (
        any(sets)
        and not BINS[0] <= names
        and not any(both <= set(one) for both in BINS for one in sets)
    )


possible_sets = [one for size in range(3) for one in combinations(KEYS, size)]
sets_of_keys = st.lists(st.sampled_from(possible_sets), min_size=2, max_size=4, unique=True).filter(
    allowed
)
ways = st.tuples(*map(st.sampled_from, (list(WHERE), list(UNITS), ["add-remove", "replace"])))
tables = st.lists(
    st.fixed_dictionaries(
        {"id": st.integers(0, 3)} | {name: st.sampled_from(cells) for name, cells in CELLS.items()}
    ),
    min_size=1,
    max_size=24,
)


def engine(kind, rows):
    if kind == "memory":
        return dp.Memory({"v": rows})
    columns = {"id": pl.Int64} | dict.fromkeys(CELLS, pl.Utf8)
    return dp.DuckDB({"v": pl.DataFrame(rows, schema=columns)})


def curator_of(kind, rows, unit, neighbours):
    schema = dp.Schema("v", UNITS[unit], COLUMNS, neighbours=neighbours)
    return dp.Curator(
        engine(kind, rows),
        [schema],
        dp.open_ledger(":memory:", dp.PureDP(10**9), neighbours=neighbours),
    )


def expected(rows, names, where, unit):
    """Count rows by some keys in plain Python, people's rows in parts."""
    kept = [row for row in rows if WHERE[where](row)]
    keyed = [(row["id"], tuple(KEYS[name][1](row) for name in names)) for row in kept]
    weigh = weights_in_groups if unit == "groups" and names else weights
    totals = Counter()
    for (_, key), weight in zip(keyed, weigh(keyed, unit), strict=True):
        if None not in key:
            totals[key] += weight
    return totals


def weights(keyed, unit):
    """Weigh each row by all rows of its person; where a row is the unit it weighs 1."""
    most = {"rows": None, "people": 2, "groups": 5}[unit]
    own = Counter(who for who, _ in keyed)
    return [1 if most is None else min(1, most / own[who]) for who, _ in keyed]


def weights_in_groups(keyed, _unit):
    """Weigh each row by the rows of its person in its group, 1 of which counts, and in all groups: 3 groups of 1."""
    grouped = [(who, None if None in key else key) for who, key in keyed]
    in_group = Counter(grouped)
    groups = Counter(who for who, _ in in_group)
    return [min(1, 3 / groups[who]) / in_group[who, key] for who, key in grouped]


def asked(names, where, groups=None):
    shown = "".join(f"{KEYS[name][0]} AS {name}, " for name in names)
    by = f" GROUP BY {groups or ', '.join(names)}" if names else ""
    return f"SELECT {shown}COUNT(*) AS n FROM v{where}{by}"


def compare(answer, names, wanted):
    """Compare every cell of an answer, also those that nobody has."""
    found = {key: row["n"].value for key, row in zip(answer.keys, answer.estimates, strict=True)}
    assert set(wanted) <= set(found), names
    for key, n in found.items():
        assert n == pytest.approx(wanted[key], abs=0.02), (names, key)


@pytest.mark.parametrize("kind", ["memory", "duckdb"])
@given(tables, sets_of_keys, ways)
@settings(max_examples=examples(12), deadline=None)
def test_alone_in_a_release_and_in_grouping_sets(kind, rows, sets, way):
    where, unit, neighbours = way
    curator = curator_of(kind, rows, unit, neighbours)
    wanted = {names: expected(rows, names, where, unit) for names in sets}
    questions = {f"q{at}": asked(names, where) for at, names in enumerate(sets)}
    together = curator.release(questions, spend=SPEND)
    for names, (name, sql) in zip(sets, questions.items(), strict=True):
        compare(curator.sql(sql, spend=SPEND), names, wanted[names])
        compare(together[name], names, wanted[names])
    keys = list(dict.fromkeys(name for names in sets for name in names))
    groups = f"GROUPING SETS ({', '.join('(' + ', '.join(names) + ')' for names in sets)})"
    cube = curator.sql(asked(keys, where, groups), spend=SPEND)
    for names in sets:
        table = cube.table(*names)
        places = [keys.index(name) for name in names]
        cut = [tuple(key[place] for place in places) for key in table.keys]
        found = dict(zip(cut, (row["n"].value for row in table.estimates), strict=True))
        assert set(wanted[names]) <= set(found)
        for key, n in found.items():
            assert n == pytest.approx(wanted[names][key], abs=0.02), (names, key)


@pytest.mark.parametrize("kind", ["memory", "duckdb"])
@given(tables, st.sampled_from(list(WHERE)), st.sampled_from(list(UNITS)))
@settings(max_examples=examples(8), deadline=None)
def test_counts_under_filter_and_running_totals(kind, rows, where, unit):
    """A condition that is NULL does not hold, and the row is still one of its person's; a running total is of cells."""
    curator = curator_of(kind, rows, unit, "add-remove")
    kept = [row for row in rows if WHERE[where](row)]
    own = weights([(row["id"], ()) for row in kept], unit)
    conditions = {"b >= 1": lambda row: (READ["b"](row) or 0) >= 1, "b >= 2": lambda row: READ["b"](row) == 2,
                  "a = 'x'": lambda row: READ["a"](row) == "x", "c": lambda row: READ["c"](row) is True,
                  "d = 'q'": lambda row: READ["d"](row) == "q"}  # fmt: skip
    counts = ", ".join(
        f"COUNT(*) FILTER (WHERE {one}) AS n{at}" for at, one in enumerate(conditions)
    )
    found = curator.sql(f"SELECT {counts} FROM v{where}", spend=SPEND)
    for n, rule in zip(found.rows[0], conditions.values(), strict=True):
        held = [weight for row, weight in zip(kept, own, strict=True) if rule(row)]
        assert n == pytest.approx(sum(held), abs=0.02)
    running = curator.sql(
        f"SELECT b, SUM(COUNT(*)) OVER (ORDER BY b) AS n FROM v{where} GROUP BY b", spend=SPEND
    )
    cells = expected(rows, ["b"], where, unit)
    values = running.column("b")
    for value, n in zip(values, running.column("n"), strict=True):
        assert n == pytest.approx(sum(m for (b,), m in cells.items() if b <= value), abs=0.02)


def test_a_list_that_is_shorter_than_the_column_leaves_rows_out_of_its_own_table_only():
    """No row is without a `d`, but only 'q' is listed: the total and the table by `e` count all rows."""
    rows = [{"d": "pq"[at % 2], "e": "u"} for at in range(40)]
    columns = {"d": COLUMNS["d"], "e": dp.Category(["u"], default="u")}
    table = dp.Table(dp.Schema("v", dp.Rows(), columns))
    curator = dp.Curator(
        dp.Memory({"v": rows}), [table.rows.schema], dp.open_ledger(":memory:", dp.PureDP(10**8))
    )
    short = table.count(by="d", keys={"d": ["q"]})
    found = curator.release(
        {"short": short, "all": table.count(), "e": table.count(by="e")}, spend=SPEND
    )
    assert [round(found[name].column("count")[0]) for name in ("short", "all", "e")] == [20, 40, 40]
    cube = curator.ask(table.marginals(["d", "e"], keys={"d": ["q"]}), spend=SPEND)
    assert [
        round(cube.table(*names).column("count")[0]) for names in (("d", "e"), ("d",), ("e",), ())
    ] == [
        20,
        20,
        40,
        40,
    ]


def test_rows_without_a_key_count_where_it_is_not_asked():
    """A fifth of the rows have no `out`: departments had 4,000 rows instead of 5,000, and the total was 8,000."""
    rows = [{"dep": "AB"[at % 2], "out": "h" if at % 5 else None} for at in range(10_000)]
    schema = dp.Schema(
        "v", dp.Rows(), {"dep": dp.Category(["A", "B"]), "out": dp.Category(["h", "w"])}
    )
    curator = dp.Curator(
        dp.Memory({"v": rows}), [schema], dp.open_ledger(":memory:", dp.PureDP(1000))
    )
    a = "SELECT dep, COUNT(*) AS n FROM v GROUP BY dep"
    b = "SELECT dep, out, COUNT(*) AS n FROM v GROUP BY dep, out"
    cube = b.replace("GROUP BY dep, out", "GROUP BY CUBE (dep, out)")
    assert curator.sql(a, spend=10).column("n") == pytest.approx([5000, 5000], abs=20)
    assert curator.release({"a": a, "b": b}, spend=10)["a"].column("n") == pytest.approx(
        [5000, 5000], abs=20
    )
    found = curator.sql(cube, spend=10)
    assert found.table().column("n")[0] == pytest.approx(10_000, abs=30)
    assert found.table("dep").column("n") == pytest.approx([5000, 5000], abs=30)
    assert found.table("out").column("n") == pytest.approx([8000, 0], abs=30)
    whole = curator.sql(cube, spend=10, whole=True)
    total = whole.table().column("n")[0]
    # Rows without `out` are in the total and in no cell of `out`, whole as everything else.
    assert sum(whole.table("dep").column("n")) == pytest.approx(total, abs=30)
    assert total - sum(whole.table("out").column("n")) == pytest.approx(2000, abs=40)
    assert all(n == int(n) and n >= 0 for n in whole.column("n"))
    named = "SELECT COALESCE(dep, '-') AS d, COALESCE(out, '-') AS o, COUNT(*) AS n FROM v GROUP BY CUBE (d, o)"
    whole = curator.sql(named, spend=10, whole=True)
    assert (
        sum(whole.table("d").column("n"))
        == sum(whole.table("o").column("n"))
        == whole.table().column("n")[0]
    )


@pytest.mark.parametrize(
    "key", ["CASE WHEN x < 10 THEN 'low' WHEN x < 20 THEN 'mid' END", "NULLIF(x, 29)"]
)
@pytest.mark.parametrize("form", ["GROUPING SETS ((x), ({}))", "ROLLUP (x, {})", "CUBE (x, {})"])
def test_a_key_that_some_values_make_null_takes_no_row_from_the_other_table(key, form):
    """Such keys form no hierarchy: x = 29 is in a cell of x and in none of the other key."""
    schema = dp.Schema("t", dp.Rows(), {"x": dp.Integer(0, 29, default=0)})
    store = dp.Memory({"t": [{"x": value} for value in (5, 15, 29, 29)]})
    curator = dp.Curator(store, [schema], dp.open_ledger(":memory:", dp.PureDP(10**9)))
    sql = f"SELECT x AS x, {key} AS k, COUNT(*) AS n FROM t GROUP BY {form.format(key)}"
    table = curator.sql(sql, spend=dp.PureDP(10**6)).table("x")
    counts = dict(zip(table.column("x"), table.column("n"), strict=True))
    assert {value: count for value, count in counts.items() if count} == {5: 1, 15: 1, 29: 2}
    assert len(counts) == 30


@pytest.mark.parametrize("kind", ["memory", "duckdb"])
def test_a_key_beside_whether_it_is_null_reads_the_same_cells(kind):
    """'zz' is no listed value, so it is NULL; a store that reads the key late must not see its text."""
    rows = [{"id": at, "a": cell} for at, cell in enumerate(("x", "zz", None, "x", "y"))]
    curator = curator_of(kind, [dict.fromkeys(CELLS) | row for row in rows], "rows", "add-remove")
    sql = "SELECT a, a IS NULL AS h, COUNT(*) AS n FROM v GROUP BY CUBE (a, a IS NULL)"
    found = curator.sql(sql, spend=SPEND).table("h")
    counts = dict(zip(found.column("h"), map(round, found.column("n")), strict=True))
    assert counts == {False: 3, True: 2}


@pytest.mark.parametrize("kind", ["memory", "duckdb"])
def test_a_further_key_beside_a_joined_list_is_no_join(kind):
    """All four rows match the list, so that each weighs a half, also that with a value of `b`."""
    rows = [{"id": 1, "a": "x", "b": "1"}] + [{"id": 1, "a": "x"}] * 3
    curator = curator_of(kind, [dict.fromkeys(CELLS) | row for row in rows], "people", "add-remove")
    joined = "FROM v JOIN (VALUES ('x')) AS k(s) ON v.a = k.s"
    for keys in ("k.s, v.b", "v.b, k.s"):
        sql = f"SELECT {keys}, COUNT(*) AS n {joined} GROUP BY {keys}"
        assert sum(curator.sql(sql, spend=SPEND).column("n")) == pytest.approx(0.5, abs=0.01)
    alone = curator.sql(f"SELECT k.s, COUNT(*) AS n {joined} GROUP BY k.s", spend=SPEND)
    assert alone.column("n") == pytest.approx([2], abs=0.01)
