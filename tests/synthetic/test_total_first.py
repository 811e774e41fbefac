"""The total first: everything after it costs the same whatever it says, and a crash draws nothing anew."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import discreet as dp
from discreet.curator import pay as paying
from discreet.privacy.events import Promise, Sequence
from discreet.privacy.pricing.gdp import price_gdp
from discreet.query.algebra.tree import Scan
from discreet.synthetic.expected import LOSS
from discreet.synthetic.plan import TOTAL, plan_synthetic
from discreet.synthetic.request import read_request

from .cases import COLUMNS, SPEND, people

NAMES = ["age", "income", "sex", "works", "grade"]
TOTALS = (-(10**6), 0, 1, 37, 10**3, 10**5, 10**8, 10**15, 10**25)


def schema(neighbours="add-remove", size=None, columns=COLUMNS):
    return dp.Schema("people", dp.Rows(), columns, neighbours=neighbours, size=size)


class TestThePriceIsFixedBeforeTheTotal:
    @pytest.mark.parametrize("neighbours", ["add-remove", "replace"])
    @pytest.mark.parametrize("spend", [SPEND, dp.GaussianDP("1/3"), dp.ApproxDP(20, "1e-6")])
    def test_what_follows_costs_at_most_the_rest(self, neighbours, spend):
        plan = plan_synthetic(read_request(Scan(schema(neighbours)), NAMES), spend)
        assert plan.first
        rest = plan.budget.squared * (1 - TOTAL)
        event = plan.event
        assert isinstance(event, Sequence)
        assert event.events[1] == Promise(dp.GaussianDP.of_square(rest), neighbours=neighbours)
        assert price_gdp(event.events[0]) <= plan.budget.squared * TOTAL
        for total in TOTALS:
            after = plan.after(total)
            assert after.event == event
            assert price_gdp([one.event for one in after.measured]) <= rest

    def test_of_rho_too(self):
        plan = plan_synthetic(read_request(Scan(schema()), NAMES), dp.ZCDP("1/10"))
        ledger = dp.open_ledger(":memory:", dp.ZCDP("1/10"))
        for total in TOTALS:
            events = [one.event for one in plan.after(total).measured]
            prices = [ledger.price(event).rho for event in events]
            assert sum(prices) <= dp.ZCDP("1/10").rho * (1 - TOTAL)

    def test_a_total_decides_what_is_measured(self):
        plan = plan_synthetic(read_request(Scan(schema()), NAMES), SPEND)
        few, many = plan.after(10**4), plan.after(10**9)
        assert few.chosen.cells[0] < many.chosen.cells[0]
        assert few.expected > many.expected

    def test_a_declared_size_needs_no_such_step(self):
        plan = plan_synthetic(read_request(Scan(schema(size=300)), NAMES), SPEND)
        assert not plan.first
        assert len(plan.event.events) == 1 + len(plan.measured)


class TestAPublicTotal:
    def test_under_replace_it_is_exact_and_free(self):
        rows = people(700)
        asker = dp.Curator(
            dp.Memory({"people": rows}),
            [schema("replace")],
            dp.open_ledger(":memory:", dp.ApproxDP(3, "1e-5")),
        )
        plan = asker.plan_synthesis("people", SPEND, columns=NAMES)
        assert plan.total is None
        made = asker.synthesize("people", SPEND, columns=NAMES)
        assert made.rows == 700
        assert made.table().interval() is None or made.table().deviation == 0

    @pytest.mark.parametrize(
        ("neighbours", "table"),
        [
            ("add-remove", "people"),
            ("replace", "SELECT age, sex, works FROM people WHERE age >= 18"),
        ],
    )
    def test_elsewhere_it_is_paid_for(self, neighbours, table):
        asker = dp.Curator(
            dp.Memory({"people": people(50)}),
            [schema(neighbours)],
            dp.open_ledger(":memory:", dp.ApproxDP(3, "1e-5")),
        )
        words = {} if " " in table else {"columns": NAMES}
        assert asker.plan_synthesis(table, SPEND, **words).total is not None


class Store:
    """A store that can die at a tally, and in which each row can stand several times."""

    rows_public = True

    def __init__(self, rows, *, times=1):
        self.inner = dp.Memory({"people": rows})
        self.times = times
        self.tallies_left = 10**9

    def __getattr__(self, name):
        return getattr(self.inner, name)

    def tally(self, tally):
        if not self.tallies_left:
            raise KeyboardInterrupt
        self.tallies_left -= 1
        found = self.inner.tally(tally)
        return {key: tuple(number * self.times for number in row) for key, row in found.items()}


class TestACrash:
    def test_the_total_is_read_again_and_paid_for_once(self, monkeypatch):
        monkeypatch.setattr(paying, "PATIENCE", 0.0)
        store = Store(people(300), times=20)
        ledger = dp.open_ledger(":memory:", dp.ApproxDP(3, "1e-5"))
        asker = dp.Curator(store, [schema()], ledger)
        store.tallies_left = 1
        with pytest.raises(KeyboardInterrupt):
            asker.synthesize("people", SPEND, columns=NAMES)
        left = asker.left()
        before = [entry.number for entry in ledger.history() if entry.kind == "charge"]
        totals = [entry for entry in ledger.history() if (entry.key or "").endswith(":total")]
        assert totals
        store.tallies_left = 10**9
        made = asker.synthesize("people", SPEND, columns=NAMES)
        assert asker.left() == left
        after = [entry for entry in ledger.history() if entry.kind == "charge"]
        # The one new charge keeps the noisy columns, at the price 0.
        assert len(after) == len(before) + 1
        assert [
            entry for entry in ledger.history() if (entry.key or "").endswith(":total")
        ] == totals
        again = asker.synthesize("people", SPEND, columns=NAMES)
        assert again.measured.noisy[0] == made.measured.noisy[0]


class TestNoWrapAtAnySize:
    @pytest.mark.parametrize("times", [10**10, 10**18, 10**30])
    def test_totals_beyond_64_bits(self, times):
        rows = [{"sex": "fm"[i % 2], "works": i % 3 == 0} for i in range(300)]
        store = Store(rows, times=times)
        facts = {"sex": dp.Category(["f", "m"]), "works": dp.Boolean()}
        asker = dp.Curator(
            store,
            [schema(columns=facts)],
            dp.open_ledger(":memory:", dp.ApproxDP(3, "1e-5")),
        )
        made = asker.synthesize("people", SPEND)
        assert made.rows == pytest.approx(300 * times, rel=1e-6)
        counts = made.table("sex", "works").noisy
        assert counts[0, 0] == pytest.approx(100 * times, rel=1e-6)
        assert len(made.records(5)["sex"]) == 5


def six(count=20_000):
    rng = np.random.default_rng(0)
    age = rng.integers(18, 91, count)
    hours = rng.integers(0, 81, count)
    income = np.clip(200 * age + 300 * hours + rng.normal(0, 9_700, count), 0, 60_000)
    facts = {
        "age": dp.Integer(18, 90),
        "hours": dp.Integer(0, 80),
        "income": dp.Real(0, 60_000),
        "sex": dp.Category([0, 1]),
        "region": dp.Category([0, 1, 2, 3]),
        "school": dp.Integer(1, 16),
    }
    columns = {"age": age, "hours": hours, "income": income}
    columns |= {"sex": rng.integers(0, 2, count), "region": rng.integers(0, 4, count)}
    columns["school"] = rng.integers(1, 17, count)
    return facts, pa.table(columns)


class TestRelationsAreKept:
    @pytest.mark.statistical
    def test_a_correlation_and_no_null_that_is_not_there(self):
        """False alarms: below 1e-9. It is .49 ± .01 of .548; below .411 would be 8 deviations."""
        facts, table = six()
        maker = dp.synthetic.Synthesizer(schema(columns=facts), dp.ApproxDP(2, "1e-6"))
        with pytest.warns(UserWarning, match="nothing is recorded"):
            made = maker.fit(table, ledger=None).synthetic_
        records = made.records()
        assert all(None not in values for values in records.values())
        kept = np.corrcoef(records["hours"], records["income"])[0, 1]
        assert 0.75 * 0.548 < kept < 0.6
        quality = made.quality()
        assert not quality.not_measured
        assert max(quality.pairs, key=lambda pair: pair.relation).columns == ("hours", "income")


class TestTarget:
    def test_its_pairs_come_first_and_have_less_noise(self):
        request = read_request(Scan(schema(size=20_000)), target="income")
        plan = plan_synthetic(request, dp.ApproxDP(1, "1e-6"))
        plain = plan_synthetic(read_request(Scan(schema(size=20_000))), dp.ApproxDP(1, "1e-6"))
        place = list(COLUMNS).index("income")
        pairs = [pair for pair in plan.sets if len(pair) == 2]
        own = [pair for pair in pairs if place in pair]
        assert pairs[: len(own)] == own
        assert len(own) == len(COLUMNS) - 1
        noise, plain_noise = plan.deviations, plain.deviations
        both = [pair for pair in own if pair in plain_noise]
        assert all(noise[pair] < plain_noise[pair] for pair in both)

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            ({"target": "nope"}, "target is one of the columns"),
            ({"target": "sex", "workload": "ones"}, "needs workload"),
        ],
    )
    def test_refusals(self, words, said):
        with pytest.raises(dp.InvalidArgument, match=said):
            read_request(Scan(schema()), **words)


class TestQuality:
    def test_it_names_what_was_not_measured_and_draws_it(self):
        rows = people(400)
        words = {"columns": ["age", "sex", "works"], "workload": [("sex", "works")], "size": 400}
        asker = dp.Curator(
            dp.Memory({"people": rows}),
            [schema()],
            dp.open_ledger(":memory:", dp.ApproxDP(3, "1e-5")),
        )
        quality = asker.synthesize("people", SPEND, **words).quality()
        assert quality.not_measured == ("age × sex", "age × works")
        assert "1 of 3 pairs were measured; as if independent: age × sex" in str(quality)
        drawing = quality.to_svg()
        assert drawing.count("<rect") == 3
        assert drawing.count("<line") == 2
        assert drawing in quality._repr_html_()

    def test_what_was_not_measured_loses_no_less_than_plans_suppose(self):
        """Pairs that are measured have few cells, hence less to lose than those that are not."""
        rows = people(20_000)
        words = {"columns": ["day", "sex", "works"], "workload": [("sex", "works")], "size": 20_000}
        asker = dp.Curator(
            dp.Memory({"people": rows}),
            [schema()],
            dp.open_ledger(":memory:", dp.ApproxDP(9, "1e-5")),
        )
        quality = asker.synthesize("people", dp.ApproxDP(8, "1e-6"), **words).quality()
        measured = [pair.expected for pair in quality.pairs if pair.measured]
        others = [pair.expected for pair in quality.pairs if not pair.measured]
        assert max(measured) < LOSS <= min(others)
