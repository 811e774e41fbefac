"""Whole questions: any curator will do, and a store is asked once."""

import pytest

from discreet.audit import audit, remembered, sql_run, verify
from discreet.errors import ClaimRefuted, InvalidArgument
from discreet.mechanisms.additive.discrete_laplace import Geometric
from discreet.privacy.measures import PureDP

SQL = "SELECT COUNT(*) AS n FROM people"


class Counting:
    """A curator as small as can be: it counts, with noise or with less of it, and keeps a book."""

    def __init__(self, rows, scale=1, store=None):
        self.rows, self.noise, self.book = (
            rows,
            Geometric(scale=scale, sensitivity=1),
            store if store is not None else {},
        )

    def sql(self, text, *, spend):
        if text not in self.book:
            self.book[text] = spend, self.noise.release(len(self.rows))
        return [{"n": self.book[text][1]}]

    def spent(self):
        return tuple(spend for spend, _ in self.book.values())


@pytest.mark.statistical
class TestSql:
    """False-alarm rate 1e-11; the broken one is missed with probability below 1e-9."""

    def test_a_curator_that_keeps_its_promise(self):
        run = sql_run(Counting, SQL, spend=PureDP(1))
        report = verify(
            run, PureDP(1), inputs=([1] * 5, [1] * 6), samples=500, confidence=1 - 1e-11
        )
        assert report.verdict == "not refuted"

    def test_one_with_half_the_noise(self):
        run = sql_run(lambda rows: Counting(rows, scale="1/4"), SQL, spend=PureDP(1))
        with pytest.raises(ClaimRefuted, match="REFUTED"):
            verify(run, PureDP(1), inputs=([1] * 5, [1] * 6), samples=1000)


def test_an_answer_given_again_is_no_run():
    """A ledger that is kept repeats its answer: that would look like a mechanism without noise."""
    books = {}

    def make(rows):
        return Counting(rows, store=books.setdefault(len(rows), {}))

    with pytest.raises(InvalidArgument, match="make_curator must open a new ledger"):
        audit(sql_run(make, SQL, spend=PureDP(1)), PureDP(1), inputs=([1], [1, 2]), samples=200)


def test_a_refusal_is_an_output():
    def make(rows):
        raise InvalidArgument("no such table")

    report = audit(
        sql_run(make, SQL, spend=PureDP(1)), PureDP(1), inputs=([1], [1, 2]), samples=200
    )
    assert report.verdict == "not tested"
    assert "raised InvalidArgument: no such table" in report.reason


def test_a_remembered_store_passes_everything_on():
    class Store:
        def explain(self, tally):
            return f"explain {tally}"

        def check(self, schema):
            return f"check {schema}"

        def public_values(self, table, column):
            return (table, column)

    store = remembered(Store())
    assert store.explain("t") == "explain t"
    assert store.check("s") == "check s"
    assert store.public_values("wards", "city") == ("wards", "city")
