"""Kill −9 before and after every durable step: never an answer without its charge, never a charge that is forgotten."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pytest

import discreet as dp
from discreet.ledger import failpoints as steps
from discreet.privacy.events import LaplaceNoise
from ledger.crowd import die, forked, heard
from support.profile import DEEP

TWENTIETH = LaplaceNoise(scale=20, sensitivity=1)
POINTS = [
    "charge:before",
    "charge:written",
    "charge:after",
    "run:before",
    "run:after",
    "finish:before",
    "finish:written",
    "finish:after",
    "fail:before",
    "fail:written",
    "fail:after",
    "",
]
ENDS = [*((point, point.startswith("fail")) for point in POINTS), ("", True)]
"""Where to die, and whether the run fails: it matters only where nobody died before its end."""
ROUNDS = 300 if DEEP else len(ENDS)


def ask(ledger, key, say, fails=False):
    """Do what a curator does; say what is handed out."""
    charge = ledger.pending(key, "ann") or ledger.charge(TWENTIETH, who="ann", key=key)
    say("charged")
    steps.passed("run:before")
    steps.passed("run:after")
    if fails:
        ledger.fail(charge)
        say("failed")
    else:
        ledger.finish(charge, f'"answer of {key}"')
        say(ledger.body(charge))


def one_round(ledger, key, point, fails):
    """Ask in a child that dies at a point."""

    def work(say):
        steps.passed = lambda step: die() if step == point else None
        ask(ledger, key, say, fails)

    return heard(*forked(work))


def expected(point, fails):
    """Say what must be there after a death: (charge, end); None where the last word did not come through."""
    name, _, place = point.partition(":")
    end = "fail" if fails else "answer"
    if name == "charge":
        return (place == "after"), None
    if name == "run" or (name in ("finish", "fail") and place != "after"):
        return True, None
    return True, end


def test_a_death_at_any_point_never_lets_an_answer_out_without_its_charge(durable):
    """One key per round; a round that died is continued by another process under the same charge."""
    ledger = durable.open(dp.PureDP(Fraction(2 * ROUNDS, 20)))
    seen = Counter()
    for number in range(ROUNDS):
        point, fails = ENDS[number % len(ENDS)]
        words, code = one_round(ledger, f"k{number}", point, fails)
        assert code == (-9 if point else 0)
        charged, end = expected(point, fails)
        entries = [entry for entry in ledger.history(last=4) if entry.key == f"k{number}"]
        assert [entry.kind for entry in entries] == (
            ["charge"] * charged + [end] * (end is not None)
        )
        assert ("charged" in words) <= charged and (len(words) == 2) <= (end is not None)
        seen[point] += 1
        if (
            not charged or end is None
        ):  # restart: what was charged is run again, what was not is charged now
            again = []
            ask(ledger, f"k{number}", again.append)
            assert again == ["charged", f'"answer of k{number}"']
    assert len(seen) == len(POINTS)
    assert ledger.spent() == dp.PureDP(
        Fraction(ROUNDS, 20)
    )  # each key was charged once, whenever it died
    verdict = ledger.verify()
    assert (verdict.charges, verdict.pending, verdict.exact) == (ROUNDS, 0, True)


@pytest.mark.parametrize("step", ["open:written", "open:before"])
def test_a_death_while_it_is_made_leaves_no_half_of_a_ledger(durable, step):
    def work(say):
        steps.passed = lambda passed: die() if passed == step else None
        dp.open_ledger(durable.where, dp.PureDP(1), name=durable.name)
        say("made")

    words, code = heard(*forked(work))
    assert (words, code) == (([], -9) if step == "open:written" else (["made"], 0))
    assert durable.open(dp.PureDP(1)).verify().entries == 1


def test_a_death_while_an_allowance_is_written_leaves_the_old_one(durable):
    ledger = durable.open(dp.PureDP(1), allowances={"ann": dp.PureDP("1/2")})

    def work(say):
        steps.passed = lambda passed: die() if passed == "allow:written" else None
        ledger.allow("ann", dp.PureDP(1))

    assert heard(*forked(work)) == ([], -9)
    assert ledger.left("ann") == dp.PureDP("1/2") and ledger.verify().entries == 1
