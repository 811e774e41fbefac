"""The project's own SQL under its own auditor: black box on the worst neighbours, grey box on all of them."""

from dataclasses import replace
from functools import cache

import pytest

from audit.own_questions import (
    CASES,
    COMER,
    OF_PEOPLE,
    ONE,
    PEOPLE,
    RARE,
    STATISTICS,
    UNKNOWN,
    WHOLE,
    asked,
    asking,
    planned,
    schema,
    visit,
)
from audit.replayed import program
from discreet.audit import audit, neighbours, replay
from discreet.engines import DuckDB
from discreet.mechanisms.sensitivity import Sensitivity
from discreet.privacy.measures import ZCDP, ApproxDP, PureDP
from discreet.query.algebra.tally import GroupShare
from discreet.statistics.releases.partition import JointRelease
from support.profile import DEEP

SQL = {name: f"SELECT {what} AS v FROM visits" for name, what in STATISTICS.items()} | WHOLE


@pytest.mark.grid
@pytest.mark.statistical
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c.name}, {c.neighbours}")
def test_not_refuted(case):
    """False-alarm rate: 1e-11 for each of the audits. Every form is replayed below, also outside deep."""
    how = {"neighbours": case.neighbours, "unit": case.person, "confidence": 1 - 1e-11}
    samples = case.samples if DEEP else max(100, case.samples // 4)
    report = audit(case.run, case.spend, case.inputs, samples=samples, **how)
    assert report.verdict == "not refuted", report


@pytest.mark.statistical
class TestTheAuditorWouldSee:
    """What is planned for one promise is refuted for a smaller one; missed with probability below 1e-9.

    Outside deep the promise is larger, so that few runs show it.
    """

    @pytest.mark.parametrize("name", ["count", "sum", "count distinct"])
    def test_less_noise(self, name):
        spend, samples = (ONE, 3000) if DEEP else (PureDP(4), 200)
        case = asked(name, "rows", "high", spend=spend)
        assert audit(
            case.run, PureDP("1/5"), case.inputs, samples=samples, neighbours="add-remove"
        ).refuted

    def test_a_person_with_more_rows_than_declared(self):
        """One row each is declared as a unit, a person has fifty."""
        run = asking(SQL["sum"], schema("rows"), ONE)
        report = audit(
            run,
            ONE,
            (PEOPLE, PEOPLE + COMER["heavy"]),
            samples=300,
            neighbours="add-remove",
            unit="id",
        )
        assert report.refuted

    def test_keys_of_one_person(self):
        """A key of one person appears with probability 0.05 of δ = 1/5, 0.17 of 9/10: caught if 1/1000 is claimed."""
        spend, samples = (ApproxDP(1, "1/5"), 3000) if DEEP else (ApproxDP(1, "9/10"), 600)
        run = asking(UNKNOWN["unknown towns"], schema("people"), spend)
        pair = PEOPLE, PEOPLE + COMER["unknown words"]
        assert audit(run, ApproxDP("1/10", "1/1000"), pair, samples=samples).refuted
        assert not audit(run, spend, pair, samples=samples // 3, confidence=1 - 1e-11).refuted


@cache
def near(relation, person):
    """List what `neighbours` thinks of near the people; who has no id is nobody."""
    found = [pair[:2] for pair in neighbours(PEOPLE, relation, low=0, high=10, unit=person)]
    return [pair for pair in found if None not in [row["id"] for row in [*pair[0], *pair[1]]]]


def pairs(unit, relation, some=slice(None), comers=slice(None)):
    """Give the comers, and what `neighbours` thinks of near the people, or some of both."""
    person = None if unit == "rows" else "id"
    if relation == "add-remove":
        known = [(PEOPLE, PEOPLE + rows) for rows in COMER.values() if person or len(rows) == 1]
        known.append(([], COMER["high"]))
    else:
        known = [
            (PEOPLE + COMER["low"], PEOPLE + rows)
            for rows in COMER.values()
            if person or len(rows) == 1
        ][2:]
    return known[comers] + near(relation, person)[some]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("unit", ["rows", "people", "groups"])
class TestReplay:
    """With the noise frozen, no input moves further than declared and nothing else moves at all, on every neighbour."""

    @pytest.mark.parametrize("name", SQL)
    def test_public_keys(self, name, unit, relation):
        turn = list(SQL).index(name)
        plan = planned(SQL[name], schema(unit, relation), (ONE, ZCDP("1/2"))[turn % 2])
        self.look(plan, unit, relation, turn=turn, comers=1 if DEEP else 3)

    @pytest.mark.parametrize("name", OF_PEOPLE)
    def test_people(self, name, unit, relation):
        if unit != "rows":
            plan = planned(OF_PEOPLE[name], schema(unit, relation), ONE)
            self.look(plan, unit, relation, turn=list(OF_PEOPLE).index(name))

    @pytest.mark.parametrize("name", UNKNOWN)
    def test_unknown_keys(self, name, unit, relation):
        towns = {row["town"] for pair in pairs(unit, relation) for rows in pair for row in rows}
        universe = (
            [(t,) for t in towns]
            if name == "unknown towns"
            else [(t, w) for t in towns for w in "AB"]
        )
        plan = planned(UNKNOWN[name], schema(unit, relation), RARE)
        self.look(plan, unit, relation, universe, turn=list(UNKNOWN).index(name))

    def look(self, plan, unit, relation, universe=(), *, turn, comers=1):
        person = None if unit == "rows" else "id"
        turns = (
            3 if DEEP else 15
        )  # all edges are tried, each with a third of the questions or a fifteenth
        for pair in pairs(
            unit, relation, slice(turn % turns, None, turns), slice(turn % comers, None, comers)
        ):
            seen = replay(program(plan, universe), pair, neighbours=relation, unit=person)
            assert seen.moves
            seen.require()


class TestReplayWouldSee:
    """The tape catches what breaks a declared sensitivity, or what is shown beside the noise."""

    def test_a_person_with_more_rows_than_declared(self):
        plan = planned(SQL["sum"], schema("rows"), ONE)
        assert replay(
            program(plan), (PEOPLE, PEOPLE + COMER["heavy"]), neighbours="add-remove", unit="id"
        ).refuted

    def test_two_people(self):
        for name in ("count", "sum", "greatest", "mode", "by ward"):
            plan = planned(SQL[name], schema("rows"), ONE)
            assert replay(
                program(plan), (PEOPLE, [*PEOPLE, visit(8, 10, 4.0), visit(9, 10, 4.0)])
            ).refuted, name


@cache
def duckdb_with(comer):
    """Open a real store of the people and of who comes."""
    import pyarrow as pa

    texts, numbers = (
        {name: pa.string() for name in ("id", "ward", "shop", "town")},
        dict.fromkeys("xy", pa.float64()),
    )
    plain = [{**row, "id": str(row["id"])} for row in PEOPLE + COMER.get(comer, [])]
    return DuckDB({"visits": pa.Table.from_pylist(plain, schema=pa.schema(texts | numbers))})


@pytest.mark.parametrize("name", ["sum", "variance", "median", "by shop", "by two"])
def test_replay_on_duckdb(name):
    """The same on a real store, with every comer that it can hold."""
    plan = planned(SQL[name], schema("people"), ONE)
    for comer in COMER if DEEP else list(COMER)[len(name) % 2 :: 2]:
        stores = {len(PEOPLE): duckdb_with(None), len(PEOPLE + COMER[comer]): duckdb_with(comer)}
        run = program(plan, store=lambda tables, stores=stores: stores[len(tables["visits"])])
        replay(run, (PEOPLE, PEOPLE + COMER[comer]), neighbours="add-remove", unit="id").require()


class TestSharedTotals:
    """Totals of a partition move together by at most what is declared; a twin that bounds each by itself is caught."""

    SQL = "SELECT COUNT(*) AS n, SUM(x) AS s, AVG(x) AS m, VARIANCE(x) AS v FROM visits"

    @pytest.mark.parametrize("unit", ["rows", "people"])
    def test_they_are_replayed(self, unit):
        plan = planned(self.SQL, schema(unit), ONE)
        assert isinstance(plan.releases[0], JointRelease)
        for pair in pairs(unit, "add-remove"):
            replay(
                program(plan), pair, neighbours="add-remove", unit=None if unit == "rows" else "id"
            ).require()

    def test_a_twin_with_the_share_of_each_key_is_refuted(self):
        """Under GroupShare each total of a person is clipped by itself: together they pass r·S."""
        plan = planned(self.SQL, schema("groups"), ONE)
        [release] = plan.releases
        need = replace(release.need, tally=replace(release.need.tally, share=GroupShare(1, 2)))
        reach = int(release.need.sensitivity.l1) // 2  # two of the four rows
        small = Sensitivity(reach, reach**2, reach, changed=reach)
        twin = replace(
            plan,
            releases=(replace(release, need=need, mechanism=type(release.mechanism)(1, small)),),
        )
        mixed = [visit("new", 10), visit("new", 10), visit("new", 0), visit("new", 0)]
        assert replay(
            program(twin), (PEOPLE, PEOPLE + mixed), neighbours="add-remove", unit="id"
        ).refuted

    def test_a_twin_of_half_the_sensitivity_is_refuted(self):
        plan = planned(self.SQL, schema("rows"), ONE)
        [release] = plan.releases
        half = int(release.need.sensitivity.l1) // 2
        less = type(release.mechanism)(
            release.mechanism.scale / 2, Sensitivity(half, half**2, half, changed=half)
        )
        twin = replace(plan, releases=(replace(release, mechanism=less),))
        assert replay(
            program(twin), (PEOPLE, PEOPLE + COMER["high"]), neighbours="add-remove"
        ).refuted
