"""Questions that no Table and no SQL would build: a tree is the analyst's own, and nothing in it is believed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

import discreet as dp
from curator.cases import PEOPLE, VISITS
from curator.test_refusals import deaf
from discreet.query.algebra.expression import Constant, Field
from discreet.query.algebra.statistic import Sum
from discreet.query.algebra.tree import Finish, Key, PerPerson, Question, Scan, Total, Union

ONE = dp.PureDP(1)


def by(values, expression=None):
    """A count with listed keys."""
    asked = deaf().table("people").count(by="region")
    return replace(asked, keys=(Key("region", expression or Field("region"), values),))


def of_totals(**changed):
    """A sum over people of a total whose bounds the question states."""
    facts = {
        "what": "sum",
        "expression": Field("minutes"),
        "step": Fraction(1),
        "low": 0,
        "high": 9,
    }
    rows = PerPerson(Scan(VISITS), (), (("s", Total(**facts | changed)),))
    return Question(rows, (), (("n", Sum(Field("s"))),), Finish((("n", Field("n")),)))


COUNT = by(("N", "S"))
FOREIGN = {
    # each copy of a key would have noise of its own, so that their mean tells more than was paid for
    "a key twice": by(("N", "N")),
    "one, true and a fraction are one key": by((1, True, Fraction(1)), Field("age")),
    "text among numbers": by((1, "1"), Field("age")),
    "a truth among numbers": by((1, False), Field("age")),
    "a number among text": by(("N", 1)),
    "no keys at all": by(()),
    "bounds the wrong way round": of_totals(low=50, high=1),
    "no step": of_totals(step=Fraction(0)),
    "a step below nothing": of_totals(step=Fraction(-1)),
    "a step that does not divide": of_totals(step=Fraction(2)),
    "an unknown total": of_totals(what="median"),
    "a sum of nothing": of_totals(expression=None),
    "a count of something": of_totals(what="count"),
    "bad totals below a join of tables": replace(
        of_totals(), rows=Union((of_totals(low=5, high=1).rows,) * 2)
    ),
    "no parts": replace(COUNT, rows=Union(())),
    "no rows": replace(COUNT, rows=None),
    "a number for a statistic": replace(COUNT, statistics=(("n", 3),)),
    "text for a statistic's column": replace(COUNT, statistics=(("count", Sum("age")),)),
    "a limit that is text": replace(COUNT, finish=replace(COUNT.finish, limit="9")),
    "text that no store holds": by(("N", "S"), Constant("\0")),
    "text that no terminal shows": replace(COUNT, finish=Finish((("z", Constant("\ud800")),))),
}


class TestForeign:
    """Every refusal comes before the charge: it follows from schema, question and ledger alone."""

    @pytest.mark.parametrize("name", FOREIGN)
    def test_refused_before_anything_is_charged(self, name):
        guard = deaf()
        with pytest.raises((dp.InvalidArgument, dp.UnsupportedQuery)):
            guard.ask(FOREIGN[name], ONE)
        assert len(guard.ledger.history()) == 1

    def test_a_sound_tree_is_asked(self):
        curator = dp.Curator(dp.Memory({"people": []}), [PEOPLE], dp.open_ledger(":memory:", ONE))
        assert curator.ask(replace(COUNT, rows=Scan(PEOPLE)), ONE).column("region") == ["N", "S"]

    @pytest.mark.parametrize(
        "text",
        [
            "SELECT region, COUNT(*) FROM people WHERE region = 'X' GROUP BY region",
            "SELECT MODE(ward) FROM people WHERE ward > 9",
        ],
    )
    def test_conditions_that_no_public_value_meets_are_named(self, text):
        with pytest.raises(dp.UnsupportedQuery, match="meets the conditions"):
            deaf().sql(text, ONE)
