"""The laws of the books: exact sums in a plain model, parts in parallel, windows, allowances; no store, no clock."""

from __future__ import annotations

import secrets
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.ledger import account, open_ledger
from discreet.ledger.account import fresh_account, read_account
from discreet.ledger.charge_order import ChargeOrder
from discreet.ledger.entry import read_line
from discreet.ledger.stores.store import Newest
from discreet.ledger.terms import make_charter, read_charter
from discreet.privacy.events import GaussianNoise, LaplaceNoise, Promise
from support.profile import examples

MONTHS = dp.Parts("visits", "month", ["apr", "may", "jun"])
PEOPLE = ["ann", "bob", "cid"]


def noise(share, neighbours="add-remove"):
    """Give an event that costs exactly this share of ε."""
    return Promise(dp.PureDP(share), neighbours=neighbours)


class Model:
    """The ledger of the lectures: plain sums of fractions, and nothing else."""

    def __init__(self, budget, shares, twice):
        self.budget, self.shares, self.twice = budget, shares, twice
        self.begin()

    def begin(self):
        self.sums = {}

    def spent(self, who, part):
        """Add up what counts for a part: its own (twice under replace) and what was asked about all."""
        own = sum(
            (e for w, p, e in self.sums.get("all", []) if who in (None, w) and p == part),
            Fraction(),
        )
        common = sum(
            (e for w, p, e in self.sums.get("all", []) if who in (None, w) and p is None),
            Fraction(),
        )
        return common + own * (2 if self.twice else 1) if part is not None else common

    def charge(self, who, part, share):
        """Grant or refuse; a grant must leave every part within the budget and the allowance."""
        share_of_who = self.shares.get(who, self.shares.get("*"))
        before = list(self.sums.get("all", []))
        self.sums["all"] = [*before, (who, part, share)]
        places = [None, *MONTHS.values]
        fits = all(self.spent(None, p) <= self.budget for p in places)
        if share_of_who is not None:
            fits = fits and all(self.spent(who, p) <= share_of_who for p in places)
        if not fits:
            self.sums["all"] = before
        return fits


requests = st.lists(
    st.tuples(
        st.sampled_from(PEOPLE),
        st.sampled_from([None, None, *MONTHS.values]),
        st.fractions(min_value=Fraction(1, 50), max_value=Fraction(1, 2), max_denominator=50),
        st.sampled_from([0, 0, 0, 0, 20, 45]),
    ),
    min_size=1,
    max_size=16,
)


class TestTheLedgerIsThePlainModel:
    """Whatever is asked, by whom, about which part and when: granted are exactly the requests the model grants."""

    @settings(
        max_examples=examples(12),
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture],
    )
    @given(
        asked=requests, neighbours=st.sampled_from(["add-remove", "replace"]), windows=st.booleans()
    )
    def test_on_every_store(  # noqa: PLR0917
        self, asked, neighbours, windows, postgres_dsn, tmp_path, stopped_clock
    ):
        stopped_clock.set(datetime(2026, 1, 1, tzinfo=UTC))
        shares = {"ann": Fraction(1, 2), "*": Fraction(3, 4)}
        terms = {
            "allowances": {who: dp.PureDP(share) for who, share in shares.items()},
            "parts": MONTHS,
            "neighbours": neighbours,
            "window": "month" if windows else None,
        }
        model = Model(Fraction(1), shares, neighbours == "replace")
        name = secrets.token_hex(8)
        places = [":memory:", tmp_path / name, postgres_dsn]
        ledgers = [open_ledger(place, dp.PureDP(1), name=name, **terms) for place in places]
        try:
            for who, part, share, days in asked:
                self._step(
                    model, ledgers, stopped_clock, windows, (who, part, share, days), neighbours
                )
            states = [ledger._store.read(None) for ledger in ledgers]
            assert states[0].texts == states[1].texts == states[2].texts
            lines = [[found.line for found in ledger._store.lines(1, 1000)] for ledger in ledgers]
            assert lines[0] == lines[1] == lines[2]
            assert len({ledger.verify() for ledger in ledgers}) == 1 and ledgers[0].verify().exact
        finally:
            for ledger in ledgers:
                ledger.close()

    @staticmethod
    def _step(model, ledgers, clock, windows, request, neighbours):  # noqa: PLR0917
        who, part, share, days = request
        before = clock.time
        clock.move(days=days)
        if windows and (before.year, before.month) != (clock.time.year, clock.time.month):
            model.begin()
        granted = model.charge(who, part, share)
        event = noise(share, neighbours)
        for ledger in ledgers:
            assert ledger.admits(event, who=who, part=part) == granted
            if granted:
                ledger.charge(event, who=who, part=part)
            else:
                with pytest.raises(dp.BudgetExceeded):
                    ledger.charge(event, who=who, part=part)
        for place in MONTHS.values:  # the texts of the other stores are compared at the end
            assert ledgers[0].spent(part=place) == dp.PureDP(model.spent(None, place))
            assert ledgers[0].spent(who, part=place) == dp.PureDP(model.spent(who, place))
        worst = max(model.spent(None, place) for place in [None, *MONTHS.values])
        assert ledgers[0].spent() == dp.PureDP(worst) and ledgers[0].left() == dp.PureDP(1 - worst)


class TestPartsAreChargedAsTheirMaximum:
    @pytest.mark.parametrize("kind", ["residue", "gdp", "zcdp", "renyi"])
    def test_each_part_has_the_whole_budget_under_add_remove(self, kind):
        event = LaplaceNoise(10, 1)
        ledger = open_ledger(
            ":memory:", dp.ApproxDP(1, 1e-6), kind=kind, parts=MONTHS, neighbours="add-remove"
        )
        bare, count = dp.open_filter(dp.ApproxDP(1, 1e-6), kind), 0
        while bare.admits(event):
            bare, count = bare.after(event), count + 1
        for part in MONTHS.values:
            for _ in range(count):
                ledger.charge(event, who="ann", part=part)
            with pytest.raises(dp.BudgetExceeded, match=f"on part '{part}' has no room"):
                ledger.charge(event, who="ann", part=part)
        assert ledger.filter(part="may").used == bare.used and not ledger.admits(event, who="ann")
        assert ledger.verify().charges == 3 * count

    @pytest.mark.parametrize("kind", ["gdp", "zcdp", "renyi", "advanced", "approximate"])
    def test_a_part_counts_twice_under_replace(self, kind):
        event = Promise(dp.PureDP("1/10"), neighbours="replace")
        ledger = open_ledger(
            ":memory:", dp.ApproxDP(1, 1e-6), kind=kind, parts=MONTHS, neighbours="replace"
        )
        bare = dp.open_filter(dp.ApproxDP(1, 1e-6), kind)
        ledger.charge(event, who="ann", part="may")
        assert ledger.filter(part="may").used == bare.after(event).after(event).used
        assert ledger.price(event, part="may") == bare.after(event).after(event).spent()
        assert ledger.filter(part="jun").used == bare.used
        ledger.charge(event, who="ann")
        assert ledger.filter(part="jun").used == bare.after(event).used

    def test_any_two_parts_and_the_common_events_stay_within_the_budget_under_replace(self):
        """The mean of C + 2P and C + 2Q is C + P + Q: a unit that moves from one part to another is covered."""
        ledger = open_ledger(":memory:", dp.PureDP(1), parts=MONTHS, neighbours="replace")
        spent = dict.fromkeys([None, *MONTHS.values], Fraction())
        for part, share in [
            ("may", "2/5"),
            (None, "1/5"),
            ("jun", "2/5"),
            ("apr", "3/10"),
            ("may", "1/10"),
        ]:
            event = noise(share, "replace")
            if ledger.admits(event, who="ann", part=part):
                ledger.charge(event, who="ann", part=part)
                spent[part] += Fraction(share)
        pairs = [(p, q) for p in MONTHS.values for q in MONTHS.values if p != q]
        assert (
            all(spent[None] + spent[p] + spent[q] <= 1 for p, q in pairs)
            and sum(spent.values()) > 1
        )

    def test_the_residue_does_not_add_under_replace(self):
        with pytest.raises(dp.InvalidArgument, match="cannot count by residue"):
            make_charter(dp.ApproxDP(1, 1e-6), parts=MONTHS, neighbours="replace")

    def test_parts_must_be_listed(self):
        ledger = open_ledger(":memory:", dp.PureDP(1), parts=MONTHS, neighbours="add-remove")
        many = dp.Parts("t", "c", range(9))
        with pytest.raises(
            dp.InvalidArgument,
            match="'jul' is no part of visits by month; the parts are 'apr', 'may'",
        ):
            ledger.charge(noise("1/2"), who="ann", part="jul")
        with pytest.raises(dp.InvalidArgument, match="True is no part.*7, …"):
            many.check(True)
        with pytest.raises(dp.InvalidArgument, match="this ledger has no parts"):
            open_ledger(":memory:", dp.PureDP(1)).charge(noise("1/2"), who="ann", part="may")
        assert len(ledger.history()) == 1


class TestAccounts:
    def test_one_that_no_allowance_limits_is_filled_at_most(self):
        """Without allowances the budget alone decides; a person's account is only book-keeping."""
        filter_ = dp.open_filter(dp.PureDP(1))
        full = (
            fresh_account(filter_, "")
            .noted(filter_, noise("1/2"), "may")
            .noted(filter_, noise(2), None)
        )
        assert full.common.amounts == (1,) and dict(full.parts)["may"].amounts == (1,)

    @pytest.mark.parametrize("text", ["", "null", "[]", "{}", '{"since":"","near":"x","common":[["1"],"0"],"parts":{}}',
                                      '{"since":"","near":null,"common":["1","0"],"parts":{}}'])  # fmt: skip
    def test_what_is_none_is_refused(self, text):
        with pytest.raises(dp.LedgerCorrupt, match="an account of this ledger cannot be read"):
            read_account(text)

    def test_a_window_that_is_over_is_over_for_good(self):
        filter_ = dp.open_filter(dp.PureDP(1))
        may = (
            fresh_account(filter_, "")
            .at("2026-05-14T00:00:00.000000Z", "month")
            .after(filter_, noise("1/2"), None)
        )
        june = may.at("2026-06-01T00:00:00.000000Z", "month")
        assert june.common.amounts == (0,) and june.near == "add-remove"
        assert june.at("2026-05-31T00:00:00.000000Z", "month") is june
        assert (
            account.window_of("2026-06-03T00:00:00.000000Z", "week")
            == "2026-06-01T00:00:00.000000Z"
        )


class TestTerms:
    @pytest.mark.parametrize(
        "change",
        [
            lambda text: text.replace('"window":"month"', '"window":"hour"'),
            lambda text: text[:-1] + ',"x":1}',
            lambda text: text.replace('"column"', '"colour"'),
            lambda text: "null",
            lambda text: text.replace('"capacity":["1"]', '"capacity":["2"]'),
        ],
        ids=["window", "field", "parts", "nothing", "capacity"],
    )
    def test_what_was_changed_by_hand_is_refused(self, change):
        terms = make_charter(dp.PureDP(1), window="month", parts=MONTHS, neighbours="replace")
        assert read_charter(terms.text()) == terms
        with pytest.raises(dp.LedgerCorrupt, match="the terms of this ledger"):
            read_charter(change(terms.text()))

    def test_an_opened_filter_outlives_a_tighter_conversion(self, monkeypatch):
        from discreet.privacy.filters import zcdp as filter_zcdp

        terms = make_charter(dp.ApproxDP(1, 1e-6), kind="zcdp")
        monkeypatch.setattr(filter_zcdp, "fraction_down", lambda x: Fraction(2 * x))
        read_charter.cache_clear()
        assert read_charter(terms.text()).filter.capacity == terms.filter.capacity


class TestTheTableOfEntries:
    def test_it_is_a_sequence_that_shows_itself(self, stopped_clock):
        ledger = open_ledger(
            ":memory:", dp.ApproxDP(1, 1e-6), kind="zcdp", parts=MONTHS, neighbours="add-remove"
        )
        one = ledger.charge(GaussianNoise.of(20, 1), who="ann", why="a <first>\nlook")
        ledger.finish(one, "1")
        batch = dp.events.Batch(
            [LaplaceNoise(100, 1), LaplaceNoise(200, 1), GaussianNoise.of(50, 1)]
        )
        ledger.charge(batch, who="bob", part="may")
        table = ledger.history()
        assert (
            len(table) == 4 and table[1] == one and table[1:3] == tuple(table)[1:3] and one in table
        )
        shown = str(table).splitlines()
        assert shown[0].split() == ["number", "time", "kind", "who", "why", "event", "part"]
        assert (
            shown[2] == "2       2026-05-14 09:30:00  charge  ann  a <first> look  gaussian-noise"
        )
        assert shown[3].endswith("of 2")
        assert shown[4].endswith("2 × laplace-noise, 1 × gaussian-noise  may")
        assert shown[5].startswith("spent (ε, δ) = (") and "█" in shown[5]
        assert (
            "a &lt;first&gt; look" in table._repr_html_() and table._repr_html_().count("<tr>") == 6
        )

    def test_it_can_be_of_one_person_or_the_last_few(self):
        ledger = open_ledger(":memory:", dp.PureDP(10))
        for number in range(6):
            ledger.charge(noise("1/10"), who=PEOPLE[number % 2])
        assert [entry.number for entry in ledger.history("bob")] == [3, 5, 7]
        assert [entry.number for entry in ledger.history("bob", last=2)] == [5, 7]
        assert [entry.number for entry in ledger.history(last=2)] == [6, 7]
        assert len(ledger.history("eve")) == 0 and "number" in str(ledger.history("eve"))
        with pytest.raises(dp.InvalidArgument, match="last must be"):
            ledger.history(last=0)
        with pytest.raises(dp.InvalidArgument, match="who is a name"):
            ledger.history(7)

    def test_of_one_person_no_line_of_others_and_no_answer_s_body_is_fetched(
        self, place, monkeypatch
    ):
        """A history is free: it may not cost what others have asked, or how long the answers were."""
        monkeypatch.setattr("discreet.ledger.review.history._CHUNK", 2)
        odd, ledger = 'a","why":"ε', place.open(dp.PureDP(10))
        for number, who in enumerate(["ann", odd, "bob", odd, odd, "ann", odd]):
            found = ledger.settle(
                ChargeOrder(
                    who,
                    "",
                    f"q{number}",
                    f"2:k{number}",
                    noise("1/10"),
                    text=f"S{number}",
                    apart=False,
                )
            )
            ledger.finish(found.charge, "long" * 100)
        seen = [*ledger._store.lines(1, 15, Newest(4, odd))]
        assert [(one.number, one.body is None) for one in seen] == [
            (10, False),
            (11, True),
            (14, False),
            (15, True),
        ]
        assert [one.number for one in ledger._store.lines(2, 13, Newest(2))] == [12, 13]
        history = ledger.history(odd, kinds=("charge",))
        assert [entry.number for entry in history] == [4, 8, 10, 14] and history.asked == {
            4: "S1",
            8: "S3",
            10: "S4",
            14: "S6",
        }
        assert [entry.number for entry in ledger.history(odd, 3, kinds=("charge",))] == [8, 10, 14]
        assert [entry.number for entry in ledger.history()] == [*range(1, 16)]


FIRST_LINE = (
    r'{"body_hash":null,"books":"0000000000000000000000000000000000000000000000000000000000000000","event"'
    r':{"event":"laplace-noise","neighbours":"add-remove","scale":"20","sensitivity":"1","step":"0","versi'
    r'on":1},"format":1,"hash":"0c50c8e2fc489326237549aad5545d24f6b0f2d2098ce6140d2aa2461c4d3d81","key":"k'
    r'","kind":"charge","number":2,"part":"may","previous":"1111111111111111111111111111111111111111111111'
    r'111111111111111111","question":"q","refers":null,"terms":null,"time":"2026-05-14T09:30:00.000000Z","'
    r'who":"ann","why":"\u03b5 first"}'
)


def test_a_line_of_the_first_format_is_read_for_ever():
    """Ledgers are kept for decades: this line was written by the first release, and must be read by every later one."""
    assert (
        read_line(FIRST_LINE).why == "ε first"
        and read_line(FIRST_LINE).event["event"] == "laplace-noise"
    )
