"""Which rows a quantile counts: the exact weight of every value, before any choice, against `oracles.meaning`.

The questions are those of the law of meaning, with a quantile in place of their statistics.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

import discreet as dp
from discreet.answer.ask import gather
from discreet.mechanisms.selection.ranks import CellCounts
from discreet.plan import plan_question
from end_to_end.meaning_questions import column, worlds
from end_to_end.meaning_writers import sql_of
from end_to_end.test_meaning_law import days, flat, public_values
from engines.tables import in_duckdb, in_memory, in_postgres, in_spark
from oracles.meaning import FULL, targets
from support.profile import DEEP

STORES = {"memory": in_memory, "duckdb": in_duckdb}
SOON = ((1, "memory"), (9, "duckdb"))
NUMBERS = ("minutes", "spent", "ward")
ATS = ("0.5", "0.99", "0.25", "0", "1")
SPENDS = (dp.PureDP("1/100"), dp.PureDP(1), dp.ZCDP(1), dp.ApproxDP(1, "1e-6"))


def cases():
    """Try all worlds in Memory and DuckDB in `make deep`, two of them in `make test`."""
    every = product(range(20), STORES)
    params = [pytest.param(*case, marks=() if case in SOON else pytest.mark.slow) for case in every]
    return pytest.mark.parametrize(("place", "kind"), params)


def quantiles_of(world):
    """Yield the questions of a world as quantiles of a column of visits."""
    for number, asked in enumerate(world.questions):
        of = NUMBERS[number % 3]
        if of not in columns_of(asked.plain["from"], world.facts):
            continue
        statistic = {"what": "quantile", "of": column(of), "at": ATS[number % 5]}
        plain = asked.plain | {"statistics": {"q": statistic}, "sets": None}
        if not plain.get("places"):
            yield plain


def columns_of(relation, facts):
    """List the columns of a relation."""
    kind, *parts = relation
    if kind == "table":
        return list(facts[parts[0]]["columns"])
    if kind in {"select", "per person"}:
        return list(parts[1])
    named = columns_of(parts[0], facts)
    return named if kind != "union" else [n for n in named if n in columns_of(parts[1], facts)]


def weights_of(plan, store):
    """Return what the store counts: by key, the weight of each value of the column."""
    [release] = plan.releases
    [found] = gather([release.need], plan.keys, store)
    ladder = release.need.ladder
    made = {}
    for key, counts in release.need.counts(found).items():
        pairs = counts.items()
        if isinstance(counts, CellCounts):
            pairs = zip(counts.cells.tolist(), counts.weights.tolist(), strict=True)
        own = {}
        for cell, weight in pairs:
            low, high = ladder.ends(cell)
            assert low == high, "a cell of these columns is one value"
            # Rows as units weigh 1, those of people parts of 2^20.
            own[ladder.value(low)] = Fraction(weight, release.need.weight)
        made[tuple(map(days, key))] = {value: weight for value, weight in own.items() if weight}
    return {key: own for key, own in made.items() if own}


@cases()
def test_the_weight_of_every_value(place, kind):
    """Rows and People, caps, NULL values and keys, unlisted ones, joins; the same under every budget and measure."""
    compare(place, STORES[kind](worlds()[place].tables))


@pytest.mark.slow
@pytest.mark.parametrize("place", [1, 7])
def test_postgres(place, postgres_dsn):
    store = in_postgres(worlds()[place].tables, postgres_dsn)
    compare(place, store)
    store.close()


@pytest.mark.slow
@pytest.mark.parametrize("place", [1, 7])
def test_spark(place, spark_session):
    compare(place, in_spark(worlds()[place].tables, spark_session))


def compare(place, store):
    """Compare what a store counts for every quantile of a world with the rules."""
    world = worlds()[place]
    schemas, known = world.schemas, public_values(world, store)
    asked = 0
    for plain in quantiles_of(world):
        question = dp.parse_sql(sql_of(plain), schemas, known)
        wanted = {}
        for cell, numbers in flat(plain, targets(plain, world.facts, world.rows)).items():
            own = {value: Fraction(w, FULL) for value, w in numbers.get("q", {}).items() if w}
            if own:
                wanted[cell] = own
        for spend in SPENDS if DEEP else SPENDS[::3]:
            plan = plan_question(question, spend, public_values=known)
            assert weights_of(plan, store) == wanted, sql_of(plain)
        asked += 1
    assert asked >= 5


def test_rows_without_a_value_matter():
    """Of people with a cap, NULL values change the weights of the others: such questions are among those above."""
    matter = 0
    for place in (1, 7, 9, 15):
        world = worlds()[place]
        for plain in quantiles_of(world):
            without = ("where", plain["from"], ("not", ("is null", plain["statistics"]["q"]["of"])))
            own = targets(plain, world.facts, world.rows)
            matter += own != targets(plain | {"from": without}, world.facts, world.rows)
    assert matter >= 5
