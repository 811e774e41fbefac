"""Ledgers with blocks: T8 against brute force, data that react, five years of reports, races, deaths."""

from __future__ import annotations

import json
import random
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from itertools import combinations
from math import inf
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.ledger import failpoints as steps
from discreet.ledger.account import fresh_account, write_interval
from discreet.ledger.block_sums import largest_sum
from discreet.ledger.terms import make_charter, read_charter
from discreet.privacy.events import LaplaceNoise, Promise
from ledger.crowd import die, forked, heard
from support.profile import DEEP, examples

WEEKS = dp.Blocks("visits", "day", "week", stays=2)
TENTH = LaplaceNoise(scale=10, sensitivity=1)
BLOCKS = range(6)
ENDS = st.sampled_from(BLOCKS)
FIXTURE = Path(__file__).parents[1] / "fixtures" / "blocks_0_2_0"


@st.composite
def intervals(draw):
    """Draw an interval of blocks; an end may be open."""
    first, last = sorted([draw(ENDS), draw(ENDS)])
    return draw(st.sampled_from([first, first, first, -inf])), draw(
        st.sampled_from([last, last, last, inf])
    )


CHARGED = st.lists(
    st.tuples(intervals(), st.fractions(0, 2, max_denominator=12)), min_size=0, max_size=7
)


WIDE = range(-5, 11)
"""Blocks that people of the brute force may count in: some before and after all charged ones."""


def mask(interval):
    """Write the blocks of an interval as bits."""
    return sum(1 << n for n, block in enumerate(WIDE) if interval[0] <= block <= interval[1])


@cache
def allowed_sets(reach):
    """List the blocks of every person there can be, as bits."""
    how, count = reach
    if how == "stays":
        starts = range(WIDE.start, WIDE.stop - count + 1)
        return [mask((start, start + count - 1)) for start in starts]
    # One block before and one after all charged ones stand for all others.
    near = range(BLOCKS.start - 1, BLOCKS.stop + 1)
    return [sum(mask((block, block)) for block in chosen) for chosen in combinations(near, count)]


def by_brute_force(charged, reach, within):
    """Try every person who counts in some block of `within`."""
    masks = [(mask(interval), amount) for interval, amount in charged]
    largest, wanted = Fraction(), mask(within)
    for blocks in allowed_sets(reach):
        if blocks & wanted:
            largest = max(largest, sum((a for met, a in masks if met & blocks), Fraction()))
    return largest


REACH = st.one_of(
    st.tuples(st.just("stays"), st.integers(1, 4)), st.tuples(st.just("most"), st.integers(1, 3))
)


class TestTheLargestSumOfAnyPerson:
    """T8: the largest sum over allowed sets of blocks is what brute force over all sets finds."""

    @given(CHARGED, REACH, intervals())
    @settings(max_examples=examples(500), deadline=None)
    def test_equal_to_brute_force(self, charged, reach, within):
        assert largest_sum(charged, reach, within) == by_brute_force(charged, reach, within)

    @pytest.mark.untraced
    def test_ten_thousand_cases(self):
        """10,000 random cases in deep, a part of them else: 0 wrong."""
        chance = random.Random(8)

        def interval():
            first, last = sorted(chance.choices(BLOCKS, k=2))
            return chance.choice([first] * 5 + [-inf]), chance.choice([last] * 5 + [inf])

        for _ in range(examples(10_000)):
            charged = [
                (interval(), Fraction(chance.randrange(1, 30), chance.choice([1, 2, 7, 100])))
                for _ in range(chance.randrange(9))
            ]
            reach = chance.choice(
                [("stays", 1), ("stays", 3), ("most", 1), ("most", 2), ("most", 4)]
            )
            within = interval()
            assert largest_sum(charged, reach, within) == by_brute_force(charged, reach, within)

    @given(CHARGED, st.integers(1, 3), intervals())
    @settings(max_examples=examples(200), deadline=None)
    def test_sums_beyond_64_bits_are_exact(self, charged, most, within):
        fine = Fraction(1, 3**50)
        shifted = [(interval, amount + fine) for interval, amount in charged if amount]
        reach = ("most", most)
        assert largest_sum(shifted, reach, within) == by_brute_force(shifted, reach, within)

    @given(CHARGED, REACH, st.sampled_from(["add-remove", "replace"]), st.data())
    @settings(max_examples=examples(300), deadline=None)
    def test_the_account_admits_what_fits_every_person(self, charged, reach, neighbours, data):
        """An account grants a charge exactly if the largest sum, doubled under replace, stays."""
        filter_ = dp.open_filter(dp.PureDP(3), neighbours=neighbours)
        account = fresh_account(filter_, "", reach)
        granted = []
        common = Fraction()
        for interval, amount in charged:
            if not amount:
                continue
            everywhere = data.draw(st.integers(0, 3)) == 0
            event = Promise(dp.PureDP(amount), neighbours=neighbours)
            twice = 1 if neighbours == "add-remove" or everywhere else 2
            met = (-inf, inf) if everywhere else interval
            fits = common + by_brute_force(granted, reach, met) + twice * amount <= 3
            part = None if everywhere else write_interval(interval)
            try:
                account = account.after(filter_, event, part)
            except dp.BudgetExceeded:
                assert not fits
                continue
            assert fits
            if everywhere:
                common += amount
            else:
                granted.append((interval, twice * amount))
        left = account.under(filter_, None).left()
        assert left == dp.PureDP(3 - common - by_brute_force(granted, reach, (-inf, inf)))


class TestADataSetThatReacts:
    """The promise holds on every path, whoever chooses questions and arrivals by the answers.

    Randomized response of ε = 1 tells whether a question reads a counted row of the person. Its
    largest log ratio is 1 if it does, else 0, so the largest log ratio of a transcript is a sum
    over its questions. All games are played out: after each answer the asker chooses the next
    interval, and the data choose whether the person arrives, and in which block.
    """

    INTERVALS = (*((i, j) for i in range(3) for j in range(i, 3)), (1, inf), (-inf, inf))

    def worst(self, stays, counted, budget):
        """Return the largest log ratio of any transcript that the account admits."""
        filter_ = dp.open_filter(dp.PureDP(budget), neighbours="add-remove")
        event = Promise(dp.PureDP(1))

        @cache
        def value(account, start):
            starts = [start] if start is not None else [None, 0, 1, 2]
            largest = 0
            for interval in self.INTERVALS:
                part = None if interval == (-inf, inf) else write_interval(interval)
                try:
                    after = account.after(filter_, event, part)
                except dp.BudgetExceeded:
                    continue
                for arrived in starts:
                    present = arrived is not None
                    reads = present and interval[0] < arrived + counted and arrived <= interval[1]
                    largest = max(largest, int(reads) + value(after, arrived))
            return largest

        return value(fresh_account(filter_, "", ("stays", stays)), None)

    @pytest.mark.parametrize("stays", [1, 2])
    def test_no_game_is_worth_more_than_the_budget(self, stays):
        assert self.worst(stays, stays, budget=2) == 2

    def test_the_games_would_find_a_person_who_stays_longer(self):
        """Two blocks where the ledger believes in one: the promise breaks."""
        assert self.worst(1, 2, budget=2) > 2


def reports(calendar):
    """List five years of weekly, monthly and yearly reports by the day they are asked: (day, first, last, ρ)."""
    start, end = date(2027, 1, 4), date(2032, 1, 4)
    made = []
    for length, rho in ((7, "1/100"), *(() if calendar else ((28, "1/100"),))):
        first = start
        while first + timedelta(days=length - 1) <= end:
            last = first + timedelta(days=length - 1)
            made.append((last, first, last, rho))
            first = last + timedelta(days=1)
    for year in range(2027, 2032):
        made.append((date(year, 12, 31), date(year, 1, 1), date(year, 12, 31), "1/20"))
        for month in range(1, 13 if calendar else 1):
            last = date(year + month // 12, month % 12 + 1, 1) - timedelta(days=1)
            made.append((last, date(year, month, 1), last, "1/100"))
    return sorted(made)


def answered(ledger, asked):
    blocks, count = ledger.terms.blocks, 0
    for _, first, last, rho in asked:
        part = None if blocks is None else blocks.around(str(first), str(last))
        try:
            ledger.charge(Promise(dp.ZCDP(rho)), who="office", part=part)
        except dp.BudgetExceeded:
            continue
        count += 1
    return count


class TestFiveYearsOfReports:
    """Reports for ever under a promise for life, where one budget for all time answers 50."""

    @pytest.mark.parametrize(
        ("stays", "calendar", "want"),
        [
            (26, False, 331),
            (26, True, 326),
            (None, False, 50),
            pytest.param(None, True, 50, marks=pytest.mark.slow),
            pytest.param(52, False, 251, marks=pytest.mark.slow),
            pytest.param(52, True, 251, marks=pytest.mark.slow),
            pytest.param(13, False, 331, marks=pytest.mark.slow),
            pytest.param(4, True, 326, marks=pytest.mark.slow),
        ],
    )
    def test_reports(self, stays, calendar, want):
        blocks = None if stays is None else dp.Blocks("visits", "day", "week", stays=stays)
        ledger = dp.open_ledger(":memory:", dp.ZCDP("1/2"), blocks=blocks)
        asked = reports(calendar)
        assert len(asked) == (326 if calendar else 331)
        assert answered(ledger, asked) == want


class TestTerms:
    def test_blocks_are_stored_and_compared(self, place):
        ledger = place.open(dp.PureDP(1), blocks=WEEKS)
        assert read_charter(ledger.terms.text()) == ledger.terms
        if place.kind == "memory":
            return
        assert place.open().terms.blocks == WEEKS
        with pytest.raises(dp.InvalidArgument, match="was opened with blocks"):
            place.open(blocks=dp.Blocks("visits", "day", "week", stays=3))

    @pytest.mark.parametrize(
        ("terms", "words"),
        [
            ({"window": "year"}, "blocks promise the budget for life"),
            ({"parts": dp.Parts("visits", "month", ["a"]), "neighbours": "add-remove"}, "not both"),
            ({"budget": dp.ApproxDP(1, 1e-6), "kind": "residue"}, "cannot count by residue"),
            ({"blocks": "week"}, "blocks are given as Blocks"),
        ],
    )
    def test_refusals(self, terms, words):
        with pytest.raises(dp.InvalidArgument, match=words):
            make_charter(**{"budget": dp.PureDP(1), "blocks": WEEKS, **terms})

    @pytest.mark.parametrize(
        ("budget", "kind"),
        [
            (dp.PureDP(1), "pure"),
            (dp.ZCDP(1), "zcdp"),
            (dp.GaussianDP(1), "gdp"),
            (dp.ApproxDP(1, 1e-6), "gdp"),
            (dp.ApproxDP(1, 0), "approximate"),
            (dp.RenyiDP({2: 1, 8: 2}), "renyi"),
        ],
    )
    def test_every_measure_whose_amounts_add_up(self, budget, kind):
        """What is charged on one week is left in a week that nobody shares with it."""
        ledger = dp.open_ledger(":memory:", budget, blocks=WEEKS)
        assert ledger.terms.kind == kind
        whole = ledger.left()
        noise = dp.Gaussian(scale=30, sensitivity=1)
        if kind in ("pure", "approximate"):
            noise = dp.Laplace(scale=30, sensitivity=1)
        for first in ("2027-01-04", "2027-01-18", "2027-02-01"):
            ledger.charge(noise.event, who="ann", part=WEEKS.around(first, first))
        one = ledger.left(part="2027-02-01/2027-02-07")
        assert ledger.left(part="2027-02-22/2027-02-28") == whole != one
        assert ledger.verify().exact

    def test_the_sum_of_epsilon_admits_nothing_on_blocks(self):
        """Under an (ε, δ) budget the tail alone decides: there is no second rule to switch to."""
        ledger = dp.open_ledger(":memory:", dp.ApproxDP(1, 1e-6), blocks=WEEKS)
        whole = Promise(dp.PureDP(1))
        assert dp.open_ledger(":memory:", dp.ApproxDP(1, 1e-6)).admits(whole, who="ann")
        assert not ledger.admits(whole, who="ann", part="2027-01-04/2027-01-10")

    def test_delta_is_counted_by_block(self):
        """The δ of events adds up over the blocks of a person, and is whole again in other weeks."""
        ledger = dp.open_ledger(
            ":memory:", dp.ApproxDP(1, "1e-6"), kind="approximate", blocks=WEEKS
        )
        half = Promise(dp.ApproxDP("1/100", "5e-7"))
        for first in ("2027-01-04", "2027-01-11"):
            ledger.charge(half, who="ann", part=WEEKS.around(first, first))
        for first in ("2027-01-04", "2027-01-11"):
            with pytest.raises(dp.BudgetExceeded):
                ledger.charge(half, who="ann", part=WEEKS.around(first, first))
        ledger.charge(half, who="ann", part="2027-01-18/2027-01-24")
        assert ledger.left(part="2027-02-01/2027-02-07") == dp.ApproxDP(1, "1e-6")

    def test_allowances_have_blocks_too(self):
        ledger = dp.open_ledger(
            ":memory:", dp.PureDP(1), blocks=WEEKS, allowances={"ann": dp.PureDP("1/10")}
        )
        ledger.charge(TENTH, who="ann", part="2027-01-04/2027-01-10")
        with pytest.raises(dp.BudgetExceeded, match="the allowance of ann on the weeks 2027-01-11"):
            ledger.charge(TENTH, who="ann", part="2027-01-11/2027-01-17")
        ledger.charge(TENTH, who="ann", part="2027-01-18/2027-01-24")
        assert ledger.left("ann", "2027-01-18/2027-01-24") == dp.PureDP(0)
        assert dict(ledger.left_by_block("ann"))["2027-02-01/.."] == dp.PureDP("1/10")

    def test_what_is_left_by_block(self):
        ledger = dp.open_ledger(":memory:", dp.PureDP(1), blocks=WEEKS)
        assert ledger.left_by_block() == [("all", dp.PureDP(1))]
        ledger.charge(TENTH, who="ann")
        ledger.charge(TENTH, who="ann", part="2027-01-04/..")
        assert ledger.left_by_block() == [("2027-01-04/..", dp.PureDP("4/5"))]
        assert ledger.left(part="../2026-12-20") == dp.PureDP("9/10")
        assert dp.open_ledger(":memory:", dp.PureDP(1)).left_by_block() == []
        with pytest.raises(dp.InvalidArgument, match="last must be a whole number"):
            ledger.left_by_block(last=0)


def part_of(number):
    day = date(2027, 1, 4) + timedelta(weeks=number)
    return WEEKS.around(str(day), str(day + timedelta(days=7 * (number % 2))))


class TestRacesAndDeaths:
    """Processes that charge at once, and processes that die at every step: never beyond the budget."""

    PROCESSES, REQUESTS = (16, 40) if DEEP else (4, 10)

    def test_no_race_over_spends(self, durable):
        durable.open(dp.PureDP("1/2"), blocks=WEEKS)

        def work(asker):
            def ask(say):
                granted = []
                with dp.open_ledger(durable.where, name=durable.name, wait=300) as ledger:
                    for turn in range(self.REQUESTS):
                        part = part_of((asker + 3 * turn) % 5)
                        try:
                            ledger.charge(TENTH, who=f"analyst {asker}", part=part)
                        except dp.BudgetExceeded:
                            continue
                        granted.append(part)
                say(granted)

            return ask

        children = [forked(work(asker)) for asker in range(self.PROCESSES)]
        ends = [heard(*child) for child in children]
        assert all(code == 0 for _, code in ends)
        granted = [WEEKS.read(part) for words, _ in ends for part in words[0]]
        charged = [(interval, Fraction(1, 10)) for interval in granted]
        ledger = durable.open()
        worst = largest_sum(charged, ("stays", 2), (-inf, inf))
        assert ledger.left() == dp.PureDP(Fraction(1, 2) - worst)
        assert ledger.verify().charges == len(granted)
        # Everything that fits was granted: no further charge on any of these weeks fits.
        full = [n for n in range(5) if not ledger.admits(TENTH, who="ann", part=part_of(n))]
        assert full

    @pytest.mark.parametrize("point", ["before", "written", "after"])
    def test_a_death_at_any_step_of_a_charge(self, durable, point):
        ledger = durable.open(dp.PureDP("1/2"), blocks=WEEKS)
        ledger.charge(TENTH, who="ann", key="known", part=part_of(0))

        def work(say):
            steps.passed = lambda step: die() if step == f"charge:{point}" else None
            ledger.charge(TENTH, who="ann", key="k", part=part_of(1))
            say("charged")

        words, code = heard(*forked(work))
        assert (words, code) == ([], -9)
        again = durable.open()
        charged = point == "after"
        assert (again.pending("k", "ann") is not None) == charged
        left = Fraction(1, 2) - Fraction(1 + charged, 10)
        assert again.left() == dp.PureDP(left)
        assert again.verify().charges == 1 + charged


class TestStoredForms:
    """A ledger with blocks as it is stored: it opens for ever, with the same budget left."""

    def test_the_fixture_opens(self, tmp_path):
        expected = json.loads((FIXTURE / "expected.json").read_text(encoding="utf-8"))
        for name, want in expected.items():
            verdict = dp.ledger.import_ledger(FIXTURE / f"{name}.jsonl", tmp_path / name)
            assert verdict.exact
            with dp.open_ledger(tmp_path / name) as ledger:
                assert repr(ledger.terms.blocks) == want["blocks"]
                left = [[part, str(amount)] for part, amount in ledger.left_by_block()]
                assert left == want["left"]

    @pytest.mark.parametrize(
        ("old", "new"),
        [
            ('"reach":["stays",2]', '"reach":["stays","2"]'),
            ('"reach":["stays",2]', '"reach":["visits",2]'),
            ('"parts":{}', '"parts":{"x":[["0"],"0"]}'),
        ],
    )
    def test_a_changed_account_is_refused(self, old, new):
        from discreet.ledger.account import read_account

        text = fresh_account(dp.open_filter(dp.PureDP(1)), "", ("stays", 2)).text()
        assert old in text and read_account(text).reach == ("stays", 2)
        with pytest.raises(dp.LedgerCorrupt, match="an account of this ledger cannot be read"):
            read_account(text.replace(old, new))

    def test_changed_terms_are_refused(self):
        text = make_charter(dp.PureDP(1), blocks=WEEKS).text()
        for changed in (text.replace('"stays":2', '"stays":0'), text.replace('"per"', '"pre"')):
            with pytest.raises(dp.LedgerCorrupt, match="the terms of this ledger cannot be read"):
                read_charter(changed)
