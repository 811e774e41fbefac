"""Labels of shown columns: those of the declared column that a key is, through selections and joins."""

from __future__ import annotations

import discreet as dp
from discreet.query.text.labels import column_behind, column_labels, value_labels

SEX = dp.Category([0, 1], labels={0: "woman", 1: "man"}, label="Sex")
TRIPS = dp.Schema(
    "trips",
    dp.People("id", max_rows=3),
    {"sex": SEX, "ward": dp.Category(["A", "B"]), "km": dp.Integer(0, 90, label="Distance")},
)
PEOPLE = dp.Schema(
    "people", dp.People("id", max_rows=1), {"old": dp.Boolean(labels={True: "65 or more"})}
)
WARDS = dp.Schema.public_table(
    "wards", {"ward": dp.Category(["A", "B"]), "town": dp.Category(["x", "y"], label="Town")}, key="ward"
)  # fmt: skip
TABLES = {one.name: one for one in (TRIPS, PEOPLE, WARDS)}


def heads(sql):
    question = dp.parse_sql(sql, TABLES)
    return column_labels(question), value_labels(question)


def test_of_a_key_under_a_condition_and_another_name():
    found = heads("SELECT sex AS s, COUNT(*) AS n FROM trips WHERE km > 3 GROUP BY sex")
    assert found == ({"s": "Sex"}, {"s": {0: "woman", 1: "man"}})


def test_of_a_chosen_column_and_none_of_a_made_one():
    inner = "(SELECT sex AS who, km * 2 AS twice FROM trips) AS t"
    assert heads(f"SELECT who, COUNT(*) AS n FROM {inner} GROUP BY who")[0] == {"who": "Sex"}
    made = dp.parse_sql(f"SELECT COUNT(*) AS n FROM {inner} WHERE twice > 3", TABLES)
    assert column_behind(made.rows, "twice") is None


def test_of_a_public_table_and_of_the_other_table_of_people():
    joined = "trips JOIN wards ON trips.ward = wards.ward"
    assert heads(f"SELECT town, COUNT(*) AS n FROM {joined} GROUP BY town")[0] == {"town": "Town"}
    people = "trips JOIN people ON trips.id = people.id"
    sql = f"SELECT sex, old, COUNT(*) AS n FROM {people} GROUP BY sex, old"
    assert heads(sql)[1] == {"sex": {0: "woman", 1: "man"}, "old": {True: "65 or more"}}


def test_bins_are_named_by_where_they_begin():
    bins = dp.Table(TRIPS).histogram("km", width=10)
    assert column_labels(bins) == {"km": "Distance, from"} and value_labels(bins) == {}


def test_rows_of_people_put_together_have_no_declared_column():
    inner = "(SELECT id, SUM(km) AS km FROM trips GROUP BY id) AS t"
    question = dp.parse_sql(f"SELECT COUNT(*) AS n FROM {inner} WHERE km > 3", TABLES)
    assert column_behind(question.rows, "km") is None
