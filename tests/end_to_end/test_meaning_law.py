"""One question, one meaning: the law of docs/explanation/meaning.md on two hundred generated questions and more.

The exact target is what the store returns for a plan, before noise (`support.noiseless`). It equals the
number that the rules give (`oracles.meaning`), under every budget and measure and by every way to ask.
"""

from __future__ import annotations

import csv
import json
import time
from copy import deepcopy
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction
from functools import cache
from itertools import product
from random import Random

import pytest
from typer.testing import CliRunner

import discreet as dp
from discreet.answer.ask import run_plan
from discreet.cli.app import app
from discreet.plan import plan_question
from discreet.privacy.pricing.pure import price_pure
from discreet.privacy.pricing.zcdp import price_zcdp
from discreet.statistics.releases.set_totals import SetEstimate
from discreet.statistics.releases.total import TotalEstimate
from end_to_end.meaning_questions import row_of, worlds
from end_to_end.meaning_writers import python_of, sql_of
from engines.tables import in_duckdb, in_memory, in_postgres, in_spark
from oracles.meaning import overall_target, targets
from service.deployment import build, free_port, serving
from support.noiseless import without_noise
from support.profile import DEEP

EPSILONS = ("1/100", "1/10", 1, 10, 1000, 10**6)
MEASURES = (dp.PureDP, lambda e: dp.ApproxDP(e, "1e-6"), lambda e: dp.ZCDP(e * e / 8))
BUDGETS = [measure(Fraction(epsilon)) for epsilon in EPSILONS for measure in MEASURES]
FEW = BUDGETS if DEEP else [BUDGETS[0], BUDGETS[-1]]
ALL = dp.ApproxDP(10**18, "1e-2")
"""What a ledger of these tests allows."""
STORES = {"memory": in_memory, "duckdb": in_duckdb}
SOON = (1, 9, 10, 15)
"""Worlds of `make test`: fifty questions of people, of people with few rows in a key, of rows, of weeks."""


def cases(*soon):
    """Try all worlds on both stores in `make deep`, and some of them in `make test`."""
    every = product(range(20), STORES)
    params = [pytest.param(*case, marks=() if case in soon else pytest.mark.slow) for case in every]
    return pytest.mark.parametrize(("place", "kind"), params)


@cache
def store_of(place, kind):
    return STORES[kind](worlds()[place].tables)


def public_values(world, store):
    schemas = world.schemas
    return lambda table, *columns: store.public_values(schemas[table], *columns)


def flat(plain, tables):
    """Put the tables of all sets into one; a key that a set lacks is None, as answers have it."""
    cells = {}
    for places, table in tables.items():
        for cell, numbers in table.items():
            known = dict(zip(places, cell, strict=True))
            cells[tuple(days(known.get(at)) for at in range(len(plain["keys"])))] = numbers
    return cells


def days(value):
    """Count a day as answers do: days since 1970."""
    return (value - date(1970, 1, 1)).days if isinstance(value, date) else value


def exact(estimate):
    """Return the exact number behind an estimate that got no noise."""
    if isinstance(estimate, TotalEstimate):
        return estimate.total.value
    if isinstance(estimate, SetEstimate):
        return estimate.total
    return getattr(estimate, "exact", estimate.value)


def slack(plain, name, estimate):
    """Bound the rounding of shares where a plan counts other totals than the statistic itself.

    Each of at most 60 rows then adds to a few totals, each rounded to a 2^20th of the largest value.
    A sum of estimated cells is rounded to the grid of the estimate.
    """
    if isinstance(estimate, TotalEstimate):
        return 0
    if isinstance(estimate, SetEstimate):
        return Fraction(8, 2**20)
    statistic = plain["statistics"][name]
    reach = max(abs(statistic.get("low", 1)), abs(statistic.get("high", 1)), 1)
    return Fraction(8 * reach * 60, 2**20)


def compare(answer, plain, wanted):
    """Compare every cell of an answer with its target, also those that nobody has."""
    found = {
        tuple(map(days, key)): row for key, row in zip(answer.keys, answer.estimates, strict=True)
    }
    everywhere = wanted.get(None, {})
    somewhere = {key for key, numbers in wanted.items() if any(numbers.values())} - {None}
    assert somewhere <= set(found), sql_of(plain)
    for key, row in found.items():
        target = everywhere | wanted.get(key, {})
        for name, statistic in plain["statistics"].items():
            if statistic["what"] == "mean" and name not in target:
                continue  # nobody has a value: any mean may be shown
            away = abs(Fraction(exact(row[name])) - target.get(name, 0))
            assert away <= slack(plain, name, row[name]), (sql_of(plain), key, name)


def questions_of(place):
    """Return the questions of a world, each with its target."""
    world = worlds()[place]
    for asked in world.questions:
        yield asked, target_of(world, asked.plain)


def target_of(world, plain):
    cells = flat(plain, targets(plain, world.facts, world.rows))
    for name, statistic in plain["statistics"].items():
        if statistic["what"] == "overall":
            # Also of a key that nobody has: None stands for every key.
            number = overall_target(statistic, world.facts, world.rows)
            cells.setdefault(None, {})[name] = number
    return cells


def with_keys_only(plain):
    """Let WHERE leave out the rows that are without one of the keys."""
    relation = plain["from"]
    for key in plain["keys"]:
        if not key["null_key"]:
            relation = ("where", relation, ("not", ("is null", key["expression"])))
    return plain | {"from": relation}


def in_sets(plain):
    """Write a question by keys as two sets and as CUBE, in each of which it is one table."""
    counts = all(each["what"] in ("count", "sum") for each in plain["statistics"].values())
    plainly = plain["from"][0] != "listed" and not any(key["null_key"] for key in plain["keys"])
    if not plain["keys"] or plain["sets"] is not None or not counts or not plainly:
        return []
    every = tuple(range(len(plain["keys"])))
    cube = [tuple(at for at in every if mask >> at & 1) for mask in range(2 ** len(every))]
    return [plain | {"sets": sets} for sets in ([every, ()], cube)]


def as_filters(plain, target):
    """Count two cells of a question by keys under FILTER; more would be planned as one workload."""
    if not plain["keys"] or plain["sets"] is not None or plain["from"][0] == "listed":
        return []
    cells = sorted(set(target) - {None}, key=repr)[:2]
    terms = {
        f"f{at}": {"what": "count", "filter": is_cell(plain, cell)} for at, cell in enumerate(cells)
    }
    return [plain | {"keys": [], "statistics": terms}] if cells else []


def is_cell(plain, cell):
    conditions = []
    for key, value in zip(plain["keys"], cell, strict=True):
        is_day = key["expression"][0] == "week"
        constant = date(1970, 1, 1) + timedelta(days=value) if is_day else value
        known = ("=", key["expression"], ("value", constant))
        conditions.append(("is null", key["expression"]) if value is None else known)
    return conditions[0] if len(conditions) == 1 else ("and", *conditions)


def without_caps(facts):
    freed = deepcopy(facts)
    for table in freed.values():
        unit = table.get("unit") or {}
        for cap in ("max_rows", "max_groups", "max_rows_per_group"):
            if cap in unit:
                unit[cap] = 10**6
    return freed


def curator_of(world, store):
    ledger = dp.open_ledger(":memory:", ALL, neighbours=world.neighbours)
    return dp.Curator(store, list(world.schemas.values()), ledger)


def tallies_of(plan):
    """Return what a plan counts: rows, shares, and whether of people."""
    tables = [table for _, table in plan.tables] or [plan]
    tallies = [release.need.tally for table in tables for release in table.releases]
    return frozenset((one.rows, one.share, one.people) for one in tallies)


def test_rows_without_a_key_and_rows_beyond_a_cap_matter():
    """Of all questions at least two in five have another target if one of these rules is dropped."""
    asked = matter = 0
    for place in range(20) if DEEP else SOON:
        world = worlds()[place]
        free = replace(world, facts=without_caps(world.facts))
        for question in world.questions:
            target = target_of(world, question.plain)
            others = [
                target_of(free, question.plain),
                target_of(world, with_keys_only(question.plain)),
            ]
            asked += 1
            matter += any(other != target for other in others)
    assert asked in (50, 262)
    assert matter >= 2 * asked / 5


class TestOneTarget:
    """The exact target is a function of schema and question."""

    @cases((1, "duckdb"), (9, "memory"), (10, "memory"), (15, "duckdb"))
    def test_alone_under_every_budget(self, place, kind):
        """Six budgets from ε = 0.01 to 10^6 and three measures: one target, one set of shares."""
        world, store = worlds()[place], store_of(place, kind)
        schemas, known = world.schemas, public_values(world, store)
        for asked, target in questions_of(place):
            question = dp.parse_sql(asked.sql, schemas, known)
            shares = set()
            for spend in FEW:
                plan = plan_question(question, spend, public_values=known)
                with without_noise():
                    compare(run_plan(plan, store), asked.plain, target)
                shares.add(tallies_of(plan))
            assert len(shares) == 1, asked.sql

    @cases((9, "memory"))
    def test_in_a_release_with_nine_others(self, place, kind):
        world = worlds()[place]
        questions = list(questions_of(place))
        curator = curator_of(world, store_of(place, kind))
        for spend in FEW[:: 7 if DEEP else 1]:
            with without_noise():
                found = curator.release(
                    {asked.name: asked.sql for asked, _ in questions}, spend=spend
                )
            for asked, target in questions:
                compare(found[asked.name], asked.plain, target)

    @cases((1, "duckdb"))
    def test_by_the_curator_and_from_its_ledger(self, place, kind):
        """An answer that is stored is found again by its SQL and by the question built in Python."""
        world, store = worlds()[place], store_of(place, kind)
        curator, known = curator_of(world, store), public_values(world, store)
        for asked, target in questions_of(place):
            with without_noise():
                compare(curator.sql(asked.sql, spend=dp.PureDP(1)), asked.plain, target)
            spent = curator.spent()
            built = python_of(asked.plain, world.schemas, known)
            again = [curator.sql(asked.sql, spend=dp.PureDP(1))]
            if built is not None:
                again.append(curator.ask(built, spend=dp.PureDP(1)))
            for answer in again:  # with noise, if anything were drawn again
                compare(answer, asked.plain, target)
            assert curator.spent() == spent

    @cases((1, "memory"))
    def test_in_sets_and_as_counts_under_filter(self, place, kind):
        """One set of CUBE means its GROUP BY; a count under FILTER means the cell of that condition."""
        world, store = worlds()[place], store_of(place, kind)
        schemas, known = world.schemas, public_values(world, store)
        for asked, target in questions_of(place):
            for plain in [*in_sets(asked.plain), *as_filters(asked.plain, target)]:
                question = dp.parse_sql(sql_of(plain), schemas, known)
                plan = plan_question(question, dp.PureDP(1), public_values=known)
                with without_noise():
                    answer = run_plan(plan, store)
                compare(answer, plain, target_of(world, plain))


class TestNeighbours:
    """One unit more, less or other moves all that is released by no more than is priced."""

    @cases((9, "memory"))
    def test_no_total_moves_by_more_than_priced(self, place, kind):
        world, store = worlds()[place], store_of(place, kind)
        schemas, known = world.schemas, public_values(world, store)
        random = Random(place)
        others = [
            STORES[kind](replace(world, rows=neighbour(world, random)).tables) for _ in range(3)
        ]
        for number, asked in enumerate(world.questions):
            question = dp.parse_sql(asked.sql, schemas, known)
            spend = [dp.PureDP(1), dp.ZCDP("1/8")][number % 2]
            plan = plan_question(question, spend, public_values=known)
            price = [price_pure, price_zcdp][number % 2](plan.event)
            before = released(plan, store)
            for other in others:
                assert cost_of(before, released(plan, other), spend) <= price, asked.sql


def released(plan, store):
    with without_noise() as found:
        run_plan(plan, store)
    return found


def cost_of(before, after, spend):
    """Add up what each release costs on these two tables: Δ1/scale, or ρ = Δ2²/2σ²."""
    cost = Fraction(0)
    for (mechanism, was), (same, is_now) in zip(before, after, strict=True):
        assert mechanism == same
        change = [abs(a - b) for a, b in zip(was, is_now, strict=True)]
        if isinstance(spend, dp.PureDP):
            cost += sum(change) / Fraction(mechanism.scale)
        else:
            cost += Fraction(sum(each * each for each in change)) / (2 * mechanism.event.variance)
    return cost


def neighbour(world, random):
    """Change one unit: a row, or the rows of a person, in the week that is the unit if there is one."""
    changed = {name: list(rows) for name, rows in world.rows.items()}
    unit = world.facts["visits"]["unit"]
    if unit is None:
        place = random.randrange(len(changed["visits"]))
        new = [] if world.neighbours == "add-remove" else [row_of(world.facts["visits"], random)]
        changed["visits"][place : place + 1] = new
        return changed
    private = [name for name, facts in world.facts.items() if not facts.get("public")]
    week = {"day": "2024-01-09"} if "window" in unit else {}
    # Add-remove takes a person away or adds one; replace gives the same person other rows.
    who, rows = random.choice([(1, 0), (99, 40)])
    if world.neighbours == "replace":
        who, rows = 1, random.choice([0, 1, 5, 40])
    for name in private:
        own = world.facts[name]["unit"]["id"]
        kept = [row for row in changed[name] if row[own] != who or not row.items() >= week.items()]
        new = [row_of(world.facts[name], random) | {own: who} | week for _ in range(rows)]
        changed[name] = kept + new
    return changed


@pytest.mark.slow
class TestOtherStores:
    """Forty questions on each of the servers."""

    @pytest.mark.parametrize("place", SOON)
    def test_postgres(self, place, postgres_dsn):
        store = in_postgres(worlds()[place].tables, postgres_dsn)
        self.ask(place, store)
        store.close()

    @pytest.mark.parametrize("place", SOON)
    def test_spark(self, place, spark_session):
        self.ask(place, in_spark(worlds()[place].tables, spark_session))

    def ask(self, place, store):
        world = worlds()[place]
        known = public_values(world, store)
        for number, (asked, target) in enumerate(questions_of(place)):
            question = dp.parse_sql(asked.sql, world.schemas, known)
            plan = plan_question(question, BUDGETS[number % len(BUDGETS)], public_values=known)
            with without_noise():
                compare(run_plan(plan, store), asked.plain, target)


@pytest.mark.slow
@pytest.mark.parametrize("place", [0, 1, 9])
def test_by_service_client_and_command_line(place, tmp_path):
    """One question by `dp.connect`, by HTTP and by the command: files, another ledger, the same target."""
    world = worlds()[place]
    deployment = deploy(world, tmp_path)
    files = {name: str(tmp_path / f"{name}.csv") for name in world.facts}
    more = [word for name in list(files)[1:] for word in ("--table", f"{name}={files[name]}")]
    options = ["--schema", str(tmp_path / "schema.toml"), "--ledger", str(tmp_path / "own.ledger")]
    options += [*more, "--budget", "epsilon=1000000", "--epsilon", "1", "--json"]
    with (
        without_noise(),
        serving(deployment),
        dp.connect(deployment.url, token=deployment.tokens["ana"]) as remote,
        deployment.client("ana") as http,
    ):
        for asked, target in questions_of(place):
            compare(remote.sql(asked.sql, spend=dp.PureDP(1)), asked.plain, target)
            compare_rows(rows_by_http(http, asked.sql), asked.plain, target)
            done = CliRunner().invoke(app, ["query", files["visits"], asked.sql, *options])
            assert done.exit_code == 0, done.output
            compare_rows(json.loads(done.stdout)["rows"], asked.plain, target)


def rows_by_http(http, sql):
    """Send a question and follow its job to the end."""
    told = http.post("/datasets/people/sql", json={"sql": sql, "spend": {"epsilon": "1"}})
    place = told.headers["Location"].removeprefix("/api/v1")
    seen = {"reply": told.json()} if told.status_code == 200 else told.json()
    while "reply" not in seen:
        time.sleep(max(0.01, seen["again_in"]))
        seen = http.get(place).json()
    return seen["reply"]["rows"]


def compare_rows(rows, plain, wanted):
    """Compare the rows of a reply: keys first, then the statistics in their order."""
    width = len(plain["keys"])
    found = {tuple(map(day_of, row[:width])): row[width:] for row in rows}
    everywhere = wanted.get(None, {})
    somewhere = {key for key, numbers in wanted.items() if any(numbers.values())} - {None}
    assert somewhere <= set(found)
    for key, numbers in found.items():
        for name, number in zip(plain["statistics"], numbers, strict=True):
            target = (everywhere | wanted.get(key, {})).get(name)
            if target is not None or plain["statistics"][name]["what"] != "mean":
                assert number == pytest.approx(float(target or 0), abs=0.01), (
                    sql_of(plain),
                    key,
                    name,
                )


def day_of(value):
    try:
        return days(date.fromisoformat(value))
    except (TypeError, ValueError):
        return value


def deploy(world, folder):
    """Write the tables of a world as files, with the configuration of a service."""
    deployment = build(folder, port=free_port(), budget='{ epsilon = "1000000" }')
    for name, table in world.tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([list(table.types), *table.rows])
    dp.write_schemas(folder / "schema.toml", list(world.schemas.values()))
    tables = ", ".join(f'{name} = "{name}.csv"' for name in world.facts)
    config = deployment.config.read_text().replace(
        'schema = "people.toml"', 'schema = "schema.toml"'
    )
    deployment.config.write_text(
        config.replace('{ people = "people.csv", wards = "wards.csv" }', "{ " + tables + " }")
    )
    return deployment
