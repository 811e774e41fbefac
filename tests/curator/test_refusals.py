"""What a curator refuses: with a word, before anything is charged, read or drawn."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

import discreet as dp
from curator.cases import COUNT, MEAN, PEOPLE, ROWS, VISITS, WARDS, curator, opened
from discreet.curator.explanation import after
from discreet.query import count


class Deaf:
    """A store that must not be asked."""

    def __init__(self):
        self.store = dp.Memory(ROWS)
        self.check, self.explain, self.public_values = (
            self.store.check,
            self.store.explain,
            self.store.public_values,
        )

    def tally(self, tally):
        raise AssertionError("the store was asked")


def deaf(ledger=None, schemas=(PEOPLE, VISITS, WARDS)):
    return dp.Curator(Deaf(), schemas, opened() if ledger is None else ledger)


ONE = dp.PureDP(1)
GARBAGE = {
    "neither spend nor error": ((COUNT,), {}),
    "both spend and error": ((COUNT, ONE), {"error": 3}),
    "a negative number as spend": ((COUNT, -1), {}),
    "a flag as spend": ((COUNT, True), {}),
    "a spend and an epsilon": ((COUNT, ONE), {"epsilon": 1}),
    "text as spend": ((COUNT, "PureDP(1)"), {}),
    "a spend of nothing": ((COUNT, dp.PureDP(0)), {}),
    "an error of nothing": ((COUNT,), {"error": 0}),
    "an error below nothing": ((COUNT,), {"error": -1}),
    "an error that is no number": ((COUNT,), {"error": math.nan}),
    "an infinite error": ((COUNT,), {"error": math.inf}),
    "an error of no statistic": ((COUNT,), {"error": {"m": 3}}),
    "an error that is text": ((COUNT,), {"error": "small"}),
    "weights of no statistic": ((COUNT, ONE), {"weights": {"m": 1}}),
    "weights below nothing": ((COUNT, ONE), {"weights": {"n": -1}}),
    "a size below one": ((MEAN, ONE), {"size": 0}),
    "a level of one": ((COUNT, ONE), {"level": 1}),
    "a level that is text": ((COUNT, ONE), {"level": "95 %"}),
    "a truth that is text": ((COUNT, ONE), {"nonnegative": "no"}),
    "a number as reason": ((COUNT, ONE), {"why": 3}),
    "a reason without end": ((COUNT, ONE), {"why": "x" * 10**5}),
    "a number as question": ((3, ONE), {}),
    "no question": ((None, ONE), {}),
    "bytes": ((COUNT.encode(), ONE), {}),
    "no SQL": (("How many people?", ONE), {}),
    "an unknown table": (("SELECT COUNT(*) FROM nobody", ONE), {}),
    "an unknown column": (("SELECT AVG(height) FROM people", ONE), {}),
    "rows of people": (("SELECT * FROM people", ONE), {}),
    "two statements": ((f"{COUNT}; {COUNT}", ONE), {}),
    "a write": (("DROP TABLE people", ONE), {}),
    "unknown keys without a δ": (("SELECT town, COUNT(*) FROM people GROUP BY town", ONE), {}),
    "a δ in a pure ledger": ((COUNT, dp.ZCDP(1)), {}),
}


class TestGarbage:
    @pytest.mark.parametrize("name", GARBAGE)
    def test_is_refused_before_anything(self, name):
        asked = deaf()
        words, more = GARBAGE[name]
        with pytest.raises(dp.DiscreetError) as refused:
            asked.sql(*words, **more)
        assert not isinstance(refused.value, dp.EngineFailure) and str(refused.value)
        assert len(asked.ledger.history()) == 1 and asked.left() == dp.PureDP(10)

    @pytest.mark.parametrize("verb", ["explain", "rehearse", "plan", "ask"])
    @pytest.mark.parametrize("question", [3, None, "DROP TABLE people", "SELECT * FROM people"])
    def test_is_refused_by_every_verb(self, verb, question):
        asked = deaf()
        with pytest.raises(dp.DiscreetError):
            getattr(asked, verb)(question, ONE)
        assert len(asked.ledger.history()) == 1

    def test_a_table_is_no_question(self):
        asked = deaf()
        with pytest.raises(dp.InvalidArgument, match="no question yet"):
            asked.ask(asked.table("people"), ONE)

    def test_a_question_with_something_foreign_in_it(self):
        asked = deaf()
        question = asked.table("people").count(by="region")
        foreign = replace(question, keys=(replace(question.keys[0], values=("N", object())),))
        with pytest.raises(dp.InvalidArgument, match="only what a Table or SQL puts there"):
            asked.ask(foreign, ONE)

    @pytest.mark.parametrize("who", ["", " ana", "*", None, 3, "x" * 300])
    def test_a_name_that_is_none(self, who):
        with pytest.raises(dp.InvalidArgument, match="who must be"):
            curator(who=who)
        with pytest.raises(dp.InvalidArgument, match="who must be"):
            curator().named(who)

    @pytest.mark.parametrize("name", ["nobody", None, 3])
    def test_a_table_that_is_none(self, name):
        with pytest.raises(dp.InvalidArgument, match="there is no table"):
            curator().table(name)

    def test_a_public_table_needs_no_curator(self):
        with pytest.raises(dp.UnsupportedQuery, match="public"):
            curator().table("wards")


class TestAnotherSchema:
    @pytest.mark.parametrize(
        "unit",
        [
            dp.Rows(),
            dp.People("id", max_rows=30),
            dp.People("paid", max_rows=3),
            dp.People("id", max_rows=1),
        ],
    )
    def test_of_the_same_table_is_refused(self, unit):
        """Whoever could name the unit could ask about one person's hundred visits as if they were strangers."""
        forged = dp.Schema("visits", unit, VISITS.columns)
        with pytest.raises(dp.SchemaMismatch, match="not the curator's"):
            deaf().ask(dp.Table(forged).aggregate(n=count()), ONE)

    def test_of_a_public_table_too(self):
        forged = dp.Schema.public_table(
            "wards", {"ward": dp.Integer(1, 4), "city": dp.Text(99)}, key="ward"
        )
        asked = deaf()
        question = asked.table("people").join(forged, on="ward").aggregate(n=count())
        with pytest.raises(dp.SchemaMismatch, match="not the curator's"):
            asked.ask(question, ONE)

    def test_anywhere_in_the_question(self):
        own, forged = (
            dp.Table(VISITS),
            dp.Table(dp.Schema("visits", VISITS.unit, VISITS.columns, version="7")),
        )
        renamed = forged.select(more=dp.col("minutes"))
        tables = (
            own.union(forged),
            forged.where(dp.col("paid")),
            own.join_person(renamed),
            forged.per_person(k=count()),
        )
        for table in tables:
            with pytest.raises(dp.SchemaMismatch, match="not the curator's"):
                deaf().ask(table.aggregate(n=count()), ONE)

    def test_of_the_curator_itself_is_taken_in_every_shape(self):
        asked = curator()
        people, visits = asked.table("people"), asked.table("visits")
        tables = (
            people.join(WARDS, on="ward"),
            visits.union(visits),
            visits.join_person(visits.per_person(k=count())),
        )
        for table in tables:
            assert len(asked.ask(table.aggregate(n=count()), ONE)) == 1
        assert asked.spent() == dp.PureDP(3)


class TestWhatDoesNotFitTogether:
    DRAFT = dp.Schema("people", dp.Rows(), PEOPLE.columns, needs_word=["columns.age"])

    @pytest.mark.parametrize(
        "schemas",
        [[], None, 3, "people", [3], [WARDS], [DRAFT], [PEOPLE, PEOPLE], {"people": 3}],
        ids=range(9),
    )
    def test_schemas(self, schemas):
        with pytest.raises(dp.InvalidArgument):
            curator(schemas=schemas)

    def test_schemas_by_name_or_alone_will_do(self):
        assert (
            repr(curator(schemas={"people": PEOPLE}))
            == repr(curator(schemas=PEOPLE))
            == "<Curator of people for analyst>"
        )

    @pytest.mark.parametrize("engine", [None, "people.csv", object(), {"people": []}], ids=range(4))
    def test_engines(self, engine):
        with pytest.raises(dp.InvalidArgument, match="needs an engine"):
            dp.Curator(engine, [PEOPLE], opened())

    @pytest.mark.parametrize("ledger", [None, "people.ledger", dp.PureDP(1)], ids=range(3))
    def test_ledgers(self, ledger):
        with pytest.raises(dp.InvalidArgument, match="needs a ledger"):
            dp.Curator(dp.Memory(ROWS), [PEOPLE], ledger)

    def test_a_table_that_the_store_does_not_have(self):
        with pytest.raises(dp.SchemaMismatch):
            curator(schemas=[dp.Schema("folk", dp.Rows(), PEOPLE.columns)])
        with pytest.raises(dp.SchemaMismatch):
            curator(schemas=[dp.Schema("people", dp.Rows(), {"height": dp.Integer(0, 3)})])

    def test_neighbours(self):
        exchanged = dp.Schema("people", dp.Rows(), PEOPLE.columns, neighbours="replace")
        with pytest.raises(dp.SchemaMismatch, match="under 'add-remove' neighbours"):
            curator(opened(neighbours="add-remove"), schemas=[exchanged])
        with pytest.raises(dp.SchemaMismatch, match="different neighbour relations"):
            curator(schemas=[exchanged, VISITS])
        ledger = opened()
        curator(ledger, schemas=[exchanged]).sql(COUNT, ONE)
        with pytest.raises(dp.InvalidArgument, match="neighbours"):
            curator(ledger).sql(COUNT, ONE)
        assert ledger.spent() == ONE

    @pytest.mark.parametrize("parts", [("folk", "region"), ("wards", "city"), ("people", "height")])
    def test_parts(self, parts):
        ledger = opened(neighbours="add-remove", parts=dp.Parts(*parts, ["N"]))
        with pytest.raises(dp.SchemaMismatch):
            curator(ledger)

    def test_a_ledger_whose_file_is_gone(self, tmp_path):
        ledger = opened(where=tmp_path / "a.ledger")
        asked = deaf(ledger)
        ledger.close()
        for file in tmp_path.iterdir():
            file.unlink()
        with pytest.raises((dp.LedgerCorrupt, dp.LedgerConflict)):
            asked.sql(COUNT, ONE)

    def test_a_closed_ledger_opens_itself_again(self, tmp_path):
        ledger = opened(where=tmp_path / "a.ledger")
        asked = curator(ledger)
        ledger.close()
        asked.sql(COUNT, ONE)
        ledger.close()
        assert dp.open_ledger(tmp_path / "a.ledger").spent() == ONE


class TestAnExplanation:
    def test_touches_nothing_and_tells_all(self):
        asked = deaf()
        told = asked.explain(MEAN, spend=dp.PureDP(4))
        assert (told.price, told.left, told.after, told.fits, told.stored) == (
            dp.PureDP(4), dp.PureDP(10), dp.PureDP(6), True, False,
        )  # fmt: skip
        assert (
            "SELECT region" in str(told)
            and "ε = 6 would be left" in str(told)
            and "Nothing was touched" in str(told)
        )
        assert "DiscreteLaplace" in str(told) and "<details>" in told._repr_html_() and told.texts
        assert len(asked.ledger.history()) == 1

    def test_says_what_does_not_fit(self):
        told = deaf().explain(COUNT, spend=dp.PureDP(11))
        assert not told.fits and told.after is None and "more than ε = 10 left" in str(told)

    def test_says_what_is_free(self):
        asked = curator()
        asked.sql(COUNT, ONE)
        told = asked.explain(COUNT, ONE)
        assert told.stored and told.after == told.left == dp.PureDP(9) and "free" in str(told)
        assert not asked.explain(COUNT, ONE, nonnegative=True).stored

    def test_shows_the_sql_of_the_store(self):
        import pyarrow as pa

        store = dp.DuckDB({"people": pa.Table.from_pylist(ROWS["people"])})
        asked = dp.Curator(store, [PEOPLE], opened(dp.ApproxDP(5, 1e-4), kind="approximate"))
        assert "SELECT" in asked.explain(MEAN, ONE).texts[0]
        told = asked.explain(
            "SELECT town, COUNT(*) AS n, MEDIAN(age) AS m FROM people GROUP BY town",
            dp.ApproxDP(1, 1e-6),
        )
        assert len(told.texts) >= 2 and told.after == dp.ApproxDP(4, "99e-6")
        names = ", ".join(f"'a town with the long name {place}'" for place in range(200))
        long = asked.explain(f"SELECT COUNT(*) AS n FROM people WHERE town IN ({names})", ONE)
        assert any(len(text) > 4_000 for text in long.texts) and "more characters" in long.to_text(
            store=True
        )

    @pytest.mark.parametrize(
        ("left", "price", "rest"),
        [
            (dp.PureDP(1), dp.PureDP("1/4"), dp.PureDP("3/4")),
            (dp.ApproxDP(1, "1/10"), dp.ApproxDP("1/2", "1/20"), dp.ApproxDP("1/2", "1/20")),
            (dp.ZCDP(1), dp.ZCDP("1/4"), dp.ZCDP("3/4")),
            (
                dp.GaussianDP.of_square(1),
                dp.GaussianDP.of_square("1/4"),
                dp.GaussianDP.of_square("3/4"),
            ),
            (dp.PureDP(1), dp.PureDP(2), None),
            (dp.RenyiDP({2: 1}), dp.RenyiDP({2: "1/2"}), None),
        ],
        ids=range(6),
    )
    def test_takes_the_price_off(self, left, price, rest):
        assert after(left, price) == rest
