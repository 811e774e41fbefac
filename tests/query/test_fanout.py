"""How many rows joins may make of one unit: bounded by public facts, refused above a public limit."""

from __future__ import annotations

from fractions import Fraction

import pytest

import discreet as dp
from discreet.data import Category, Integer, People, Rows, Schema, Text
from discreet.errors import UnboundedSensitivity, UnsupportedQuery
from discreet.query import parse
from discreet.query.algebra.expression import Field
from discreet.query.algebra.tally import GroupRowShare, RowShare
from discreet.query.algebra.tree import JoinPeople, JoinPublic, PerPerson, Scan, Total, Union
from discreet.query.bounds import fanout
from discreet.query.bounds.contribution_bounds import row_share
from discreet.query.bounds.fanout import MAX_JOINED_ROWS, find_cut, find_cuts
from discreet.query.bounds.relation_facts import multiplicity

COLUMNS = {"name": Text(20), "dx": Category(["hiv", "flu"]), "no": Integer(1, 9)}
SICK = Schema("sick", People("uid", max_rows=2), COLUMNS)
ONCE = Schema("once", People("uid", max_rows=1), {"age": Integer(0, 120)})
ROWS = Schema("rows", Rows(), COLUMNS)


def codes(most=None, key=()):
    columns = {"dx": Category(["hiv", "flu"]), "code": Integer(1, 50)}
    return Schema.public_table(
        "codes", columns, key=key, max_rows=None if most is None else {"dx": most}
    )


def ask(sql, *public):
    return parse(sql, {schema.name: schema for schema in (SICK, ONCE, ROWS, *public)})


def clock(times, table="sick"):
    """Ask about one person's secret; each join multiplies the rows of whom the condition finds."""
    joins = " ".join(f"JOIN codes c{i} ON p.dx = c{i}.dx" for i in range(times))
    person = "" if table == "rows" else "uid, "
    return f"SELECT COUNT(*) FROM (SELECT {person}dx FROM {table} WHERE name = 'alice' AND dx = 'hiv') p {joins}"


class TestAJoinWithAPublicTable:
    @pytest.mark.parametrize("table", ["sick", "rows"])
    def test_needs_a_stated_number_of_matches(self, table):
        with pytest.raises(UnboundedSensitivity, match="nothing says how many") as refused:
            ask(clock(1, table), codes())
        assert 'max_rows={"dx": …}' in str(refused.value) and 'key="dx"' in str(refused.value)
        ask(clock(9, table), codes(key="dx"))

    @pytest.mark.parametrize("table", ["sick", "rows"])
    def test_is_no_clock(self, table):
        ask(clock(2, table), codes(50))
        with pytest.raises(UnsupportedQuery, match="10,000 are allowed") as refused:
            ask(clock(5, table), codes(50))
        assert "JOIN with codes" in str(refused.value)

    def test_multiplies_what_one_unit_may_add(self):
        assert multiplicity(ask(clock(2, "rows"), codes(50)).rows) == 2500
        assert row_share(ask(clock(2), codes(50)).rows) == RowShare(5000)

    def test_cuts_a_person_only_where_rows_multiply(self):
        assert find_cut(ask(clock(1), codes(50)).rows) == 2
        assert find_cut(ask(clock(2), codes(50)).rows) is None  # cut below, by the first join
        assert find_cut(ask(clock(1), codes(key="dx")).rows) is None
        assert find_cut(ask(clock(1, "rows"), codes(50)).rows) is None

    def test_on_several_columns_matches_no_more_than_on_each(self):
        both = "SELECT COUNT(*) FROM rows r JOIN codes c ON r.no = c.code AND r.dx = c.dx"
        assert multiplicity(ask(both, codes(50)).rows) == 50


def test_all_joins_of_a_union_count_together():
    part = "SELECT c.code FROM rows r JOIN codes c ON r.dx = c.dx"
    assert ask(f"SELECT COUNT(*) FROM ({part} UNION ALL {part}) AS u", codes(4_000))
    with pytest.raises(UnsupportedQuery, match="UNION ALL of joins.*10,000 are allowed"):
        ask(f"SELECT COUNT(*) FROM ({part} UNION ALL {part}) AS u", codes(9_900))


class TestAJoinOfPeople:
    def test_is_no_clock(self):
        union = " UNION ALL ".join(["SELECT uid, dx FROM sick"] * 8)
        views = ", ".join(f"t{i} AS ({union})" for i in range(10))
        joins = " ".join(
            f"JOIN t{i} ON t0.uid = t{i}.uid AND t0.dx = t{i}.dx" for i in range(1, 10)
        )
        with pytest.raises(UnsupportedQuery, match=r"10,000 are allowed|too large"):
            ask(f"WITH {views} SELECT COUNT(*) FROM t0 {joins}")
        with pytest.raises(UnsupportedQuery, match="10,000 are allowed"):
            ask(
                f"WITH t AS ({union}) SELECT COUNT(*) FROM t a JOIN t b USING (uid) JOIN t c USING (uid) JOIN t d USING (uid)"
            )

    def test_multiplies_also_where_more_must_match(self):
        """Shares expect few pairs then, but time must not rest on what is expected."""
        many = " ".join(f"JOIN sick s{i} ON s.uid = s{i}.uid AND s.no = s{i}.no" for i in range(13))
        with pytest.raises(UnsupportedQuery, match="rows of one unit"):
            ask(f"SELECT COUNT(*) FROM sick s {many}")
        pair = ask("SELECT COUNT(*) FROM sick s JOIN sick t ON s.uid = t.uid AND s.no = t.no").rows
        assert row_share(pair) == RowShare(2)
        assert find_cuts(pair) == (2, 2)

    def test_with_one_row_a_person_adds_none(self):
        many = Schema("many", People("uid", max_rows=10 * MAX_JOINED_ROWS), {"x": Integer(0, 1)})
        rows = ask("SELECT COUNT(*) FROM many m JOIN once o ON o.uid = m.uid", many).rows
        assert find_cuts(rows) == (None, 1)
        grouped = "(SELECT uid, COUNT(*) AS n FROM many GROUP BY uid) o"
        assert find_cuts(
            ask(f"SELECT COUNT(*) FROM {grouped} JOIN many m ON o.uid = m.uid", many).rows
        ) == (None, None)
        assert find_cuts(ask("SELECT COUNT(*) FROM once a JOIN once b ON a.uid = b.uid").rows) == (
            None,
            1,
        )


VISITS = dp.Schema("visits", dp.People("id", max_rows=4), {"paid": dp.Real(0, 90, step=1)})
BILLS = dp.Schema("bills", dp.People("id", max_rows=3), {"due": dp.Integer(0, 9)})
HOMES = dp.Schema("homes", dp.People("id", max_rows=1), {"town": dp.Integer(0, 9)})


@pytest.mark.parametrize(
    ("rows", "bounded"),
    [
        ("visits", False),
        ("visits JOIN bills USING (id)", True),
        ("visits JOIN homes USING (id)", False),
        ("homes JOIN bills USING (id)", False),
        ("(SELECT id, COUNT(*) AS n FROM visits GROUP BY id) AS p", True),
        ("(SELECT due AS x FROM bills UNION ALL SELECT town AS x FROM homes) AS u", False),
    ],
)
def test_rows_that_a_join_of_people_has_truncated_are_bounded(rows, bounded):
    """A declared `max_rows` is a wish; a join of several rows of both sides truncates them first."""
    schemas = {schema.name: schema for schema in (VISITS, BILLS, HOMES)}
    asked = dp.parse_sql(f"SELECT COUNT(*) AS n FROM {rows}", schemas)
    assert fanout._is_bounded(asked.rows) is bounded


def test_caps_by_group_combine_as_rows_do_and_never_exceed_them():
    """A table that declares none has `max_rows` in a group; K = min(max_rows, max_groups·r) of what is combined."""
    capped = People("uid", max_rows=6, max_groups=2, max_rows_per_group=2)
    seen, sick = Scan(Schema("seen", capped, COLUMNS)), Scan(SICK)
    coded = JoinPublic(seen, codes(3), ((Field("dx"), "dx"),), (("code", "code"),))
    pairs = ((Field("no"), Field("no")),)
    for rows, k, r, total in (
        (seen, 6, 2, 4),
        (Union((seen, seen)), 12, 4, 12),
        (Union((seen, sick)), 8, 4, 8),
        (JoinPeople(seen, sick), 12, 4, 12),
        (JoinPeople(seen, sick, pairs), 6, 2, 4),
        (coded, 18, 6, 18),
        (PerPerson(seen, (), (("n", Total("count", None, Fraction(1), 1, 6)),)), 1, 1, 1),
    ):
        assert (fanout.person_rows(rows), fanout.person_group_rows(rows)) == (k, r)
        assert row_share(rows, keys=1) == GroupRowShare(total, r, 1)
        assert row_share(rows) == RowShare(k)
    assert fanout.person_group_rows(sick) is None
