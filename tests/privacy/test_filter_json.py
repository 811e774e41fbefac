"""The state of a filter as JSON: pinned, exact, and refused when it is not one."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import InvalidArgument
from discreet.privacy.events import LaplaceNoise
from discreet.privacy.filters.filter import Filter, open_filter
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP

ALL = [
    open_filter(PureDP(1)),
    open_filter(ApproxDP(1, 1e-6), "approximate"),
    open_filter(ApproxDP(1, 1e-6), "advanced", delta=1e-7),
    open_filter(ApproxDP(1, 1e-6), "zcdp", delta=1e-7),
    open_filter(ApproxDP(1, 1e-6), "renyi"),
    open_filter(ApproxDP(1, 1e-6), "renyi", orders=12),
    open_filter(ApproxDP(1, 1e-6), "gdp"),
    open_filter(ApproxDP(1, 1e-6), "residue", neighbours="add-remove"),
    open_filter(ZCDP(1)),
    open_filter(GaussianDP(1), neighbours="replace"),
    open_filter(RenyiDP({2: 1, 8: 4})),
]
FRESH = open_filter(PureDP(1)).to_json()


@pytest.mark.parametrize("gate", ALL, ids=lambda f: f"{f.kind} {f.terms.budget}")
def test_every_kind_comes_back_fresh_and_used(gate):
    assert Filter.from_json(gate.to_json()) == gate
    if gate.neighbours != "replace":
        used = gate.after(LaplaceNoise(100, 1))
        assert Filter.from_json(used.to_json()) == used


def test_the_format_is_pinned():
    state = open_filter(ApproxDP(1, "1e-3"), "approximate").after(LaplaceNoise(3, 1)).to_json()
    assert state == {
        "filter": "approximate",
        "version": 1,
        "budget": {"measure": "approx-dp", "version": 1, "epsilon": "1", "delta": "1/1000"},
        "delta": "1/1000",
        "orders": [],
        "capacity": ["1"],
        "used": ["1/3"],
        "leaked": "0",
        "neighbours": "add-remove",
    }


def test_a_sum_is_stored_once_something_was_spent():
    """Version 1, of 0.1.0, is still what a fresh state is written as; spent without a sum, the sum admits nothing."""
    fresh = open_filter(ApproxDP(1, 1e-6))
    spent = fresh.after(LaplaceNoise(2, 1))
    assert fresh.to_json()["version"] == 1 and spent.to_json()["added"] == "1/2"
    old = {name: value for name, value in spent.to_json().items() if name != "added"} | {
        "version": 1
    }
    assert Filter.from_json(old).added is None and not Filter.from_json(old).admits(
        LaplaceNoise(2, 1)
    )
    assert Filter.from_json(spent.to_json()).admits(LaplaceNoise(2, 1))
    closed = spent.after(LaplaceNoise(2, 1)).to_json() | {"added": None}
    assert Filter.from_json(closed).to_json() == closed
    for added, why in (("2", "added up more"), (0.5, "exact text")):
        with pytest.raises(InvalidArgument, match=why):
            Filter.from_json(spent.to_json() | {"added": added})


def test_a_budget_converted_by_an_earlier_release_is_kept():
    """A later, tighter conversion does not move a budget; the last digits of a logarithm do not matter either."""
    state = open_filter(ApproxDP(1, 1e-6), "zcdp").to_json()
    earlier = state | {"capacity": ["1/50"]}
    assert Filter.from_json(earlier).left() == ZCDP("1/50")
    digits = Fraction(state["capacity"][0]) * (1 + Fraction(1, 2**50))
    assert Filter.from_json(state | {"capacity": [str(digits)]}).capacity == (digits,)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (None, "a JSON object with exactly the fields"),
        ({}, "exactly the fields"),
        (FRESH | {"filter": "magic"}, "exactly the fields"),
        (FRESH | {"more": 1}, "exactly the fields"),
        ({k: v for k, v in FRESH.items() if k != "used"}, "exactly the fields"),
        (FRESH | {"version": 2}, "exactly the fields added"),
        (FRESH | {"version": True}, "this release reads 2"),
        (
            FRESH | {"budget": {"measure": "zcdp", "version": 1, "rho": "1"}},
            "promises PureDP, not ZCDP",
        ),
        (FRESH | {"used": ["2"]}, "more used than its capacity"),
        (FRESH | {"used": ["-1"]}, "more used than its capacity"),
        (FRESH | {"used": [0.5]}, "exact text"),
        (FRESH | {"used": ["0", "0"]}, "used must list 1 amounts, got 2"),
        (FRESH | {"used": "0"}, "must be a list"),
        (FRESH | {"capacity": ["2"]}, "more capacity than its budget"),
        (FRESH | {"leaked": "1/2"}, "leaked more"),
        (FRESH | {"leaked": "-1/2"}, "leaked more"),
        (FRESH | {"orders": ["2"]}, "do not belong"),
        (FRESH | {"delta": "1/2"}, "takes none"),
        (FRESH | {"neighbours": "swap"}, "neighbours must be"),
        (
            open_filter(ApproxDP(1, 1e-6), "approximate").to_json() | {"delta": "1/2"},
            "do not belong",
        ),
        (open_filter(ApproxDP(1, 1e-6), "renyi").to_json() | {"orders": []}, "fixes one order"),
    ],
)
def test_what_is_no_state_is_refused(data, why):
    with pytest.raises(InvalidArgument, match=why):
        Filter.from_json(data)
