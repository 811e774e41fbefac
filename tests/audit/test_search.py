"""The search: the right view, the right direction, words a person understands."""

import numpy as np

from discreet.audit.events.outputs import tabulate
from discreet.audit.events.search import search
from discreet.privacy.measures import ApproxDP, GaussianDP, PureDP


def found(left, right, claim=None, **how):
    first, second = tabulate(left, right)
    n = first.size // 2
    parts = [(first.part(*span), second.part(*span)) for span in ((0, n), (n, 2 * n))]
    return search(*parts, claim or PureDP(1), runs=n, **how), first, second


def test_a_value_that_only_one_input_shows():
    rng = np.random.default_rng(1)
    left, right = rng.integers(0, 5, 4000), rng.integers(0, 5, 4000)
    left[::10] = 77
    events, first, second = found(left, right)
    seen = events[0].evidence(first, second)
    assert (seen.hits, seen.false_hits) == (400, 0)
    assert "77" in str(events[0]) or "5" in str(events[0])


def test_direction_and_complement():
    rng = np.random.default_rng(2)
    left, right = (rng.random(4000) < 0.01).astype(int), (rng.random(4000) < 0.4).astype(int)
    events, first, second = found(left, right)
    seen = events[0].evidence(first, second)
    assert seen.hits / seen.runs > seen.false_hits / seen.false_runs
    assert any(e.second or e.below for e in events)
    assert all("<" in str(e) or "≥" in str(e) or "is " in str(e) for e in events)


def test_other_measures_and_assumptions():
    rng = np.random.default_rng(3)
    left, right = rng.normal(0, 1, 4000), rng.normal(2, 1, 4000)
    for claim, assume in (
        (GaussianDP(1), None),
        (ApproxDP(1, 1e-3), None),
        (ApproxDP(1, 1e-3), "gaussian"),
    ):
        events, first, second = found(left, right, claim, assume=assume)
        assert len(events) in {1, 2}
        seen = events[0].evidence(first, second)
        assert seen.hits > seen.false_hits + 1000


def test_nothing_varies():
    assert found([1] * 40, [1] * 40)[0] == []


def test_what_is_never_a_number_is_left_out():
    nan = np.full(40, np.nan)
    assert found(nan, nan)[0] == []


def test_a_listed_event_names_its_complement():
    rng = np.random.default_rng(4)
    words = np.array(["n", "s", "e", "w"])
    left = words[rng.choice(4, 4000, p=[0.7, 0.1, 0.1, 0.1])].tolist()
    right = words[rng.choice(4, 4000, p=[0.1, 0.3, 0.3, 0.3])].tolist()
    events, _, _ = found(left, right)
    assert any(str(e).startswith(("value is one of: 'n'", "value is none of:")) for e in events)
