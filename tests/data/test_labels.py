"""Labels: words for people, in the schema file, in answers, and in no fingerprint or stored key."""

from __future__ import annotations

import json
import pickle

import duckdb
import pytest

import discreet as dp
from data.strategies import given, schemas
from discreet.data import schemas_from_toml
from discreet.data.columns.column import Boolean, Category
from discreet.data.columns.label import key_text
from discreet.data.files.schema_file import schemas_to_toml
from discreet.data.files.schema_json import schema_to_dict
from discreet.engines.duckdb.manifest import MARK
from discreet.query.text.question import plain_tree

SEX = dp.Category([0, 1], label="Sex", labels={0: "woman", 1: "man & <b>boy</b>"})
PLAIN = dp.Schema("people", dp.Rows(), {"sex": dp.Category([0, 1]), "in": dp.Boolean()})
LABELLED = dp.Schema(
    "people",
    dp.Rows(),
    {"sex": SEX, "in": dp.Boolean(labels={True: "married"})},
    label="People of the town",
)
SQL = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"


def labelled(schema: dp.Schema) -> dp.Schema:
    """Put a label on a table and on every column and value of it."""
    facts = json.loads(json.dumps(schema.to_dict()))
    facts["label"] = "A table"
    for name, column in schema.declared:
        facts["columns"][name]["label"] = f"The {len(name)}th"
        if isinstance(column, Category | Boolean):
            listed = column.keys()
            words = {key_text(key): f"is {n}" for n, key in enumerate(listed) if key is not None}
            facts["columns"][name]["labels"] = words
    return dp.Schema.from_dict(facts)


class TestLabelsChangeNothing:
    """A schema with labels has the equality, hash, fingerprint and stored form of the same without."""

    @given(schemas())
    def test_for_every_schema(self, schema):
        twin = labelled(schema)
        assert twin == schema and hash(twin) == hash(schema)
        assert repr(twin.declared) != repr(schema.declared)
        assert json.dumps(schema_to_dict(twin, labels=False)) == json.dumps(schema.to_dict())
        assert plain_tree(twin) == plain_tree(schema)  # what fingerprints are made of

    @given(schemas())
    def test_and_are_kept_by_files_and_pickles(self, schema):
        twin = labelled(schema)
        [read] = schemas_from_toml(schemas_to_toml([twin]), draft=True)
        again = pickle.loads(pickle.dumps(twin))
        assert read.to_dict() == again.to_dict() == twin.to_dict()

    def test_an_answer_that_was_paid_for_is_found_by_either(self, tmp_path):
        rows = {"people": [{"sex": n % 2, "in": True} for n in range(100)]}
        with dp.open_ledger(tmp_path / "ledger", dp.PureDP(1)) as ledger:
            first = dp.Curator(dp.Memory(rows), [PLAIN], ledger).sql(SQL, spend=dp.PureDP(1))
            again = dp.Curator(dp.Memory(rows), [LABELLED], ledger).sql(SQL, spend=dp.PureDP(1))
            assert again.rows == first.rows and ledger.left().epsilon == 0
            assert "woman" in str(again) and "woman" not in str(first)

    def test_a_prepared_store_serves_both(self, tmp_path):
        (tmp_path / "people.csv").write_text("sex,in\n" + "0,yes\n1,no\n" * 50)
        source = {"people": tmp_path / "people.csv"}
        with dp.prepare(source, [LABELLED], tmp_path / "a.store") as store:
            curator = dp.Curator(store, [PLAIN], dp.open_ledger(":memory:", dp.PureDP(1)))
            assert len(curator.sql(SQL, spend=dp.PureDP(1)).rows) == 2
        with duckdb.connect(str(tmp_path / "a.store"), read_only=True) as store:
            [[facts]] = store.execute(f"SELECT facts FROM {MARK}").fetchall()
        assert "sex" in facts and "woman" not in facts and "label" not in facts


def test_people_read_labels_escaped():
    rows = {"people": [{"sex": n % 2, "in": True} for n in range(100)]}
    curator = dp.Curator(dp.Memory(rows), [LABELLED], dp.open_ledger(":memory:", dp.PureDP(100)))
    answer = curator.sql(SQL, spend=dp.PureDP(100))
    assert "man & <b>boy</b>" in str(answer)
    html = answer._repr_html_()
    assert "<b>boy" not in html and "&lt;b&gt;boy" in html
    assert "<b>boy" not in LABELLED._repr_html_()
    assert [row[0] for row in answer.rows] == [0, 1]  # values stay what they are
    assert "0 (woman)" in str(LABELLED)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: dp.Integer(0, 9, label=""), "label must be a short text"),
        (lambda: dp.Integer(0, 9, label="a\nb"), "label must be a short text"),
        (lambda: dp.Real(0, 9, label="x" * 101), "label must be a short text"),
        (lambda: dp.Date("2024-01-01", "2024-02-01", label=3), "label must be a short text"),
        (lambda: dp.Category([0, 1], labels={2: "x"}), "labels speaks of 2"),
        (lambda: dp.Category([0, 1], labels={}), "labels must name values"),
        (lambda: dp.Category([0, 1], labels={0: ""}), "the label of 0 must be"),
        (lambda: dp.Category([0, 1], labels={0: "x", 1: "x"}), "two values would look the same"),
        (lambda: dp.Category([0, 1], labels={0: "1"}), "two values would look the same"),
        (lambda: dp.Boolean(labels=["no", "yes"]), "labels must name values"),
    ],
)
def test_what_is_no_label_is_refused(make, words):
    with pytest.raises(dp.InvalidArgument, match=words):
        make()
