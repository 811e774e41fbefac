"""Randomness comes from the noise package alone: nothing that an engine has can supply or alter it."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import discreet as dp
from curator.cases import PEOPLE, ROWS
from discreet import learn
from discreet.curator.context import RunControl
from discreet.curator.curator import served
from discreet.errors import Cancelled
from discreet.noise import CheckedBits, secure_bits

SOURCE = Path(dp.__file__).parent
COUNT = "SELECT region, COUNT(*) AS n FROM people GROUP BY region"
NAMES = (
    "bits",
    "secure_bits",
    "random",
    "rng",
    "seed",
    "noise",
    "take",
    "source",
    "pause",
    "control",
    "checkpoint",
    "stop",
    "stopped",
    "sleep",
)
"""Attributes by which an engine might try to supply randomness, or to shorten a wait."""
PROTOCOL = {"tally", "explain", "check", "public_values", "rows_public", "snapshot"}


class Zeros:
    """Not random at all: every byte is 0. Called, it raises."""

    def take(self, count, /):
        return bytes(count)

    def __call__(self, *_):
        raise AssertionError("an attribute of an engine was called")


class Hostile(dp.Memory):
    """An engine with every name that might be taken for a source of randomness; notes what is read of it."""

    def __init__(self, tables):
        object.__setattr__(self, "read", set())
        super().__init__(tables)

    def __getattribute__(self, name):
        if name in NAMES:
            object.__getattribute__(self, "read").add(name)
            return Zeros()
        return object.__getattribute__(self, name)


class Duck:
    """An engine of no class of ours: an object with all attributes, each of them hostile."""

    def __init__(self, tables):
        self._inside = dp.Memory(tables)
        self.read = set()

    def __getattr__(self, name):
        if name in PROTOCOL - {"snapshot"}:
            return getattr(self._inside, name)
        if name == "snapshot":  # isinstance of a protocol asks for it
            raise AttributeError(name)
        self.read.add(name)
        return Zeros()


def numbers(curator):
    return curator.sql(COUNT, spend=dp.ZCDP("1/10000000000")).column("n")


def fitted(curator):
    model = learn.LinearRegression(target="income", features=["age"])
    found = curator.learn("SELECT age, income FROM people", model, dp.ZCDP(1))
    return [float(one) for one in (*found.coef_, found.intercept_)]


def made(curator):
    found = curator.synthesize("people", dp.ZCDP("1/2"), columns=["age", "region"], size=400)
    return [one.tolist() for one in found.measured.noisy]


def bounds(curator):
    found = curator.suggest_bounds("people", "income", dp.ZCDP("1/100000"))
    return found.low, found.high


class TestAnEngineSuppliesNoRandomness:
    @pytest.mark.parametrize("verb", [numbers, fitted, made], ids=lambda verb: verb.__name__)
    @pytest.mark.parametrize("kind", [Hostile, Duck])
    def test_three_ledgers_three_draws(self, kind, verb):
        """Each verb draws at least two numbers of σ above 10^4 steps: equal ones come by chance below 10^-9."""
        engine = kind(ROWS)
        seen = [
            verb(dp.Curator(engine, [PEOPLE], dp.open_ledger(":memory:", dp.ZCDP(10))))
            for _ in range(3)
        ]
        assert seen[0] != seen[1] and seen[1] != seen[2] and seen[0] != seen[2]
        assert not engine.read

    def test_all_that_is_read_of_an_engine_is_its_protocol(self):
        """Also where an answer is held back: who asks second waits by the curator's own clock."""
        engine = Hostile(ROWS)
        ledger = dp.open_ledger(
            ":memory:", dp.ZCDP(10), allowances={"ana": dp.ZCDP(5), "bob": dp.ZCDP(5)}
        )
        ana = dp.Curator(engine, [PEOPLE], ledger, who="ana")
        for curator in (ana, ana.named("bob")):
            numbers(curator)
            bounds(curator)
            curator.explain(COUNT, spend=dp.ZCDP(1))
            curator.rehearse(COUNT, spend=dp.ZCDP(1))
        assert not engine.read

    def test_a_curator_takes_no_source_of_randomness(self):
        for made in (
            dp.Curator,
            dp.Curator.named,
            dp.Curator.sql,
            dp.Curator.learn,
            dp.Curator.synthesize,
        ):
            taken = set(inspect.signature(made).parameters)
            assert not taken & set(NAMES)

    @pytest.mark.parametrize("part", ["curator", "service", "answer", "cli"])
    def test_nothing_reads_it_from_an_engine(self, part):
        """Neither by getattr, hasattr, attrgetter nor as an attribute of something called engine."""
        for file in (SOURCE / part).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
                assert not _reads(node), f"{file}:{node.lineno}"


def _reads(node):
    if isinstance(node, ast.Attribute):
        return node.attr in NAMES and ast.unparse(node.value).split(".")[-1] in {
            "engine",
            "held",
            "_engine",
        }
    if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] in {
        "getattr",
        "hasattr",
        "attrgetter",
    }:
        return any(isinstance(one, ast.Constant) and one.value in NAMES for one in node.args)
    return False


class TestCheckedBits:
    """What a run draws when it can be stopped: secure bits, or nothing."""

    def test_the_bytes_are_those_of_the_secure_source(self, monkeypatch):
        monkeypatch.setattr(type(secure_bits()), "take", lambda _, count: b"s" * count)
        assert CheckedBits(lambda: b"\0" * 8).take(8) == b"s" * 8

    def test_nothing_is_drawn_once_the_checkpoint_raises(self, monkeypatch):
        drawn = []
        monkeypatch.setattr(
            type(secure_bits()), "take", lambda _, count: drawn.append(count) or bytes(count)
        )

        def stop():
            raise Cancelled

        with pytest.raises(Cancelled):
            CheckedBits(stop).take(8)
        assert not drawn

    def test_a_stoppable_curator_checks_before_it_draws(self):
        checked = []
        control = RunControl(lambda: checked.append(1), lambda _: None)
        ledger = dp.open_ledger(":memory:", dp.ZCDP(10))
        plain = dp.Curator(dp.Memory(ROWS), [PEOPLE], ledger)
        numbers(served(plain, control))
        assert checked and plain.context.control is None
