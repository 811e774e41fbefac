"""Whole question as a target: a curator's answer, and a store that computes each tally once.

Nothing of the curator is imported: anything with `sql` and `spent` will do, also a client of a
service.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .runs import NotARun


def sql_run(
    make_curator: Callable[[Any], Any], sql: str, **how: object
) -> Callable[[object], object]:
    """Make a runnable of a curator's whole answer to SQL.

    `make_curator(data)` opens a curator on a data set *with a new ledger*; it is called for every
    run. `how` is passed on, such as spend=PureDP(1). The output is all that an analyst sees: the
    answer, and the amount that the ledger says was spent.

        run = sql_run(make_curator, "SELECT COUNT(*) FROM people", spend=PureDP(1))
        verify(run, PureDP(1), (rows, rows[1:]))

    >>> from discreet.audit import sql_run
    >>> class Fresh:
    ...     def __init__(self, rows):
    ...         self.rows, self.cost = rows, 0
    ...     def sql(self, text, spend):
    ...         self.cost += spend
    ...         return [{"n": len(self.rows)}]
    ...     def spent(self):
    ...         return self.cost
    >>> sql_run(Fresh, "SELECT COUNT(*) AS n FROM people", spend=1)(["ada"])
    {'answer': [{'n': 1}], 'spent': '1'}

    Refuses: `NotARun` for a curator that has answered before: it gives the same answer again,
    which is no second run.
    Law: `tests/audit/test_asked.py::test_an_answer_given_again_is_no_run`
    """

    def run(data: object) -> object:
        curator = make_curator(data)
        before = str(curator.spent())
        answer = curator.sql(sql, **how)
        after = str(curator.spent())
        # A repeated answer is free; fresh noise always costs.
        if after == before:
            raise NotARun(
                "the answer cost nothing, so it is no new run: make_curator must open a new ledger "
                'each time, such as open_ledger(":memory:", budget=…)'
            )
        return {"answer": answer, "spent": after}

    return run


class Remembered:
    """Store with a cache: each tally is computed once; see `remembered`."""

    def __init__(self, store: Any) -> None:  # noqa: ANN401 - any engine
        self._store = store
        self._known: dict[object, object] = {}

    def tally(self, tally: object) -> object:
        """Return the exact totals, from the cache if they were asked for before."""
        if tally not in self._known:
            self._known[tally] = self._store.tally(tally)
        return self._known[tally]

    def explain(self, tally: object) -> object:
        """Return the query that the store would run."""
        return self._store.explain(tally)

    def check(self, schema: object) -> object:
        """Refuse a schema that does not fit the store."""
        return self._store.check(schema)

    def public_values(self, table: object, *columns: str) -> object:
        """List the distinct values of a column of a public table."""
        return self._store.public_values(table, *columns)


def remembered(store: Any) -> Any:  # noqa: ANN401 - any engine
    """Cache the exact totals of a store: between runs only the noise changes.

    It makes thousands of runs of one question affordable. Not for data that changes.

    >>> from discreet.audit import remembered
    >>> class Slow:
    ...     asked = 0
    ...     def tally(self, tally):
    ...         self.asked += 1
    ...         return {(): (7,)}
    >>> slow = Slow()
    >>> quick = remembered(slow)
    >>> [quick.tally("n") for _ in range(3)], slow.asked
    ([{(): (7,)}, {(): (7,)}, {(): (7,)}], 1)

    Law: `tests/audit/test_asked.py::test_a_remembered_store_passes_everything_on`
    """
    return Remembered(store)
