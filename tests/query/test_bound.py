from discreet.data import Boolean, Integer, People, Rows, Schema
from discreet.query import parse
from discreet.query.algebra.tally import SHARE_FINENESS, Free, GroupShare, RowShare
from discreet.query.algebra.tree import Scan
from discreet.query.bounds.contribution_bounds import (
    MAX_ROWS,
    max_groups_of,
    people_share,
    row_share,
    weight_of,
)


def scan(unit):
    return Scan(Schema("visits", unit, {"paid": Boolean()}))


def test_the_share_of_rows_follows_from_the_declared_unit():
    """`max_groups` bounds no rows: all of them may lie in one key."""
    assert row_share(scan(Rows())) == Free()
    assert row_share(scan(People("id", max_rows=7))) == RowShare(7)
    for groups in range(1, 8):
        assert row_share(scan(People("id", max_rows=7, max_groups=groups))) == RowShare(7)


def test_people_count_once_per_key():
    assert people_share(scan(Rows()), keyed=True) == Free()
    assert people_share(scan(People("id", max_rows=7)), keyed=True) == GroupShare(7, 1)
    assert people_share(scan(People("id", max_rows=7, max_groups=2)), keyed=True) == GroupShare(
        2, 1
    )
    assert people_share(scan(People("id", max_rows=7, max_groups=2)), keyed=False) == GroupShare(
        1, 1
    )
    assert max_groups_of(scan(Rows())) == 1


def test_weights_are_the_least_powers_of_two_that_are_fine():
    for reach in (1, 2, 3, 1000, SHARE_FINENESS - 1, SHARE_FINENESS, 1 << 40):
        weight = weight_of(reach, RowShare(3))
        assert weight & (weight - 1) == 0
        assert weight * reach >= SHARE_FINENESS
        assert weight == 1 or weight * reach < 2 * SHARE_FINENESS
    assert weight_of(1, Free()) == 1


def test_one_row_is_left_of_a_person_after_group_by_the_person():
    visits = Schema("visits", People("id", max_rows=6, max_groups=3), {"minutes": Integer(0, 60)})
    question = parse(
        "SELECT AVG(t) FROM (SELECT id, SUM(minutes) AS t FROM visits GROUP BY id) x",
        {"visits": visits},
    )
    assert row_share(question.rows) == RowShare(1)
    assert max_groups_of(question.rows) == 1


def test_bounds_of_joined_tables_multiply_and_of_united_ones_add_up():
    visits = Schema("visits", People("id", max_rows=6, max_groups=2), {"minutes": Integer(0, 60)})
    users = Schema("users", People("id", max_rows=1), {"age": Integer(0, 120)})
    schemas = {"visits": visits, "users": users}

    def shares(rows):
        asked = parse(f"SELECT COUNT(*) FROM {rows}", schemas).rows
        return row_share(asked), people_share(asked, keyed=True)

    assert shares("visits v JOIN users u ON u.id = v.id") == (RowShare(6), GroupShare(2, 1))
    assert shares("visits a JOIN visits b ON a.id = b.id") == (RowShare(36), GroupShare(4, 1))
    assert shares("visits a JOIN visits b ON a.id = b.id AND a.minutes = b.minutes") == (
        RowShare(6),
        GroupShare(2, 1),
    )
    united = "SELECT id, minutes AS x FROM visits UNION ALL SELECT id, age AS x FROM users"
    assert shares(f"({united}) t") == (RowShare(7), GroupShare(3, 1))
    assert row_share(scan(People("id", max_rows=2 * MAX_ROWS))) == RowShare(MAX_ROWS)
