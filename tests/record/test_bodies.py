"""Bodies of new answers keep how they were made; older ones are read, and said to be not recorded."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import discreet as dp
from discreet.answer.body import read_body, write_body
from discreet.errors import LedgerCorrupt
from discreet.frozen import replace
from discreet.ledger import import_ledger
from record.conftest import PEOPLE, SQL, WORDS, ask, made_rows

STORED = Path(__file__).parents[1] / "fixtures" / "record_0_2_0"


def test_bodies_of_0_2_0_are_read_for_ever(tmp_path):
    """Release, store and covariance of a table of means, a cube and a line, as 0.2.0 stored them."""
    expected = json.loads((STORED / "expected.json").read_text(encoding="utf-8"))
    import_ledger(STORED / "answers.jsonl", tmp_path / "people.ledger")
    with dp.open_ledger(tmp_path / "people.ledger") as ledger:
        bodies = [read_body(ledger.body(one)) for one in ledger.history(kinds=["charge"])]
        schema = dp.Schema.from_dict(expected["schema"])
        files = dp.record(ledger, schema, {}, questions=expected["shown"]).files
    kept = [body.made for body in bodies]
    assert [(one["release"], one["store"]) for one in kept] == [("0.2.0", "Memory")] * 3
    # A table of means has no strategy, so none of its covariance need be kept.
    assert ["covariance" in one for one in kept] == [False, True, True]
    assert json.loads(files["data/measurements.json"])["tables"] == expected["tables"]
    assert "Releases of discreet that answered: 0.2.0." in files["registry.yaml"]


def _body(ledger):
    [charge] = ledger.history(kinds=["charge"])
    return read_body(ledger.body(charge))


@pytest.mark.parametrize("name", ["cube", "line"])
def test_a_body_keeps_the_covariance_of_a_workload(name):
    ledger = dp.open_ledger(":memory:", dp.PureDP(3))
    [answer] = ask(ledger, SQL[name])
    body = _body(ledger)
    assert body.made.keys() == {"release", "store", "covariance"}
    assert (body.made["release"], body.made["store"]) == (dp.__version__, "Memory")
    # As the record reads it from the body alone, and as the plan gives it.
    files = dp.record(ledger, PEOPLE, WORDS, questions=[2]).files
    [stored] = json.loads(files["data/measurements.json"])["tables"]["entry-2"].values()
    [live] = [one for one in answer.measurements().values() if isinstance(one, dict)]
    if name == "cube":
        assert stored["covariance"] == live["covariance"]
        assert stored["sizes"] == live["sizes"]
        theirs = {tuple(sorted(one["keys"])): one["variance"] for one in live["components"]}
        ours = {tuple(sorted(one["keys"])): one["variance"] for one in stored["components"]}
        assert ours == theirs
    else:
        assert [row[0] for row in stored["rows"]] == [row[0] for row in live["rows"]]
        np.testing.assert_allclose(stored["covariance"], live["covariance"])


def test_many_counts_keep_the_variance_of_each():
    """Nested conditions: the noise of a count is that of all cells within it."""
    counts = ", ".join(f"COUNT(*) FILTER (WHERE age < {at}) AS n{at}" for at in (3, 5, 7, 8))
    ledger = dp.open_ledger(":memory:", dp.PureDP(3))
    [answer] = ask(ledger, f"SELECT {counts} FROM people")
    files = dp.record(ledger, PEOPLE, WORDS, questions=[2]).files
    stored = json.loads(files["data/measurements.json"])["tables"]["entry-2"]
    live = [one for one in answer.measurements().values() if isinstance(one, dict)]
    variances = [one["covariance"][0][0] for one in stored.values()]
    np.testing.assert_allclose(variances, variances[0] * np.arange(1, 5))
    for one, told in zip(live, stored.values(), strict=True):
        assert one["covariance"] == told["covariance"]
        assert list(one["covariance_with"].values()) == list(told["covariance_with"].values())
    # A body of the first releases had one variance for all: it is not taken for that of each.
    body = _body(ledger)
    for facts in body.made["covariance"][""].values():
        del facts["with"]
    again = dp.open_ledger(":memory:", dp.PureDP(3))
    [charge] = ledger.history(kinds=["charge"])
    event = dp.privacy.events.json.from_json(charge.event)
    new = again.charge(event, who="ann", key=charge.key, question=charge.question)
    again.finish(new, write_body(body))
    files = dp.record(again, PEOPLE, WORDS, questions=[2]).files
    older = json.loads(files["data/measurements.json"])["tables"]["entry-2"]
    assert {one["covariance"] for one in older.values()} == {"not recorded"}


def test_the_covariance_is_the_same_for_every_spelling():
    told = set()
    for sql in (
        SQL["cube"],
        "SELECT age AS a, region AS r, COUNT(*) AS c FROM people GROUP BY CUBE (age, region)",
    ):
        ledger = dp.open_ledger(":memory:", dp.PureDP(3))
        ask(ledger, sql)
        told.add(json.dumps(_body(ledger).made))
    assert len(told) == 1


def test_one_table_has_no_covariance_and_other_verbs_say_how_too():
    ledger = dp.open_ledger(":memory:", dp.ZCDP(3))
    curator = dp.Curator(dp.Memory({"people": made_rows(50)}), PEOPLE, ledger, who="ann")
    curator.sql("SELECT AVG(income) AS m FROM people", spend=dp.ZCDP(1))
    curator.synthesize("people", columns=["region", "age"], size=20, spend=dp.ZCDP(1))
    bodies = [read_body(ledger.body(charge)) for charge in ledger.history(kinds=["charge"])]
    assert [body.made for body in bodies] == [{"release": dp.__version__, "store": "Memory"}] * 2


def test_a_body_without_it_is_read_and_written_as_it_was():
    ledger = dp.open_ledger(":memory:", dp.PureDP(3))
    ask(ledger, SQL["cube"])
    older = write_body(replace(_body(ledger), made=None))
    assert "made" not in json.loads(older)
    assert write_body(read_body(older)) == older
    with pytest.raises(LedgerCorrupt):
        read_body(json.dumps(json.loads(older) | {"made": "yesterday"}))


def test_an_older_body_is_not_recorded_and_never_guessed():
    ledger = dp.open_ledger(":memory:", dp.PureDP(3))
    ask(ledger, SQL["cube"])
    older = write_body(replace(_body(ledger), made=None))
    again = dp.open_ledger(":memory:", dp.PureDP(3))
    [charge] = ledger.history(kinds=["charge"])
    event = dp.privacy.events.json.from_json(charge.event)
    new = again.charge(event, who="ann", key=charge.key, question=charge.question)
    again.finish(new, older)
    files = dp.record(again, PEOPLE, WORDS, questions=[2]).files
    assert "Releases of discreet that answered: not recorded." in files["registry.yaml"]
    [stored] = json.loads(files["data/measurements.json"])["tables"]["entry-2"].values()
    assert stored["covariance"] == "not recorded"
