"""Events and measures go to JSON and come back exactly; what was once written is read for ever."""

from __future__ import annotations

import json
import typing
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InvalidArgument
from discreet.privacy import events as e
from discreet.privacy.events.json import (
    canonical,
    from_json,
    measure_from_json,
    measure_to_json,
    to_json,
)
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from support.profile import examples

GOLDEN = json.loads(
    (Path(__file__).parents[1] / "vectors" / "events_v1.json").read_text(encoding="utf-8")
)

amounts = st.builds(Fraction, st.integers(1, 10**9), st.integers(1, 10**9))
counts = st.integers(1, 10**12)
deltas = st.builds(Fraction, st.integers(1, 10**9), st.integers(2 * 10**9, 10**12))
measures = st.one_of(
    amounts.map(PureDP),
    st.builds(ApproxDP, amounts, deltas),
    amounts.map(ZCDP),
    amounts.map(GaussianDP.of_square),
    st.dictionaries(amounts.map(lambda a: a + 1), amounts, min_size=1, max_size=4).map(RenyiDP),
)


def atoms(near):
    return st.one_of(
        st.builds(
            lambda b, g, n: e.LaplaceNoise(b, n * g, g, neighbours=near), amounts, amounts, counts
        ),
        st.builds(lambda b, d: e.LaplaceNoise(b, d, neighbours=near), amounts, amounts),
        st.builds(lambda b, d: e.DiscreteLaplaceNoise(b, d, neighbours=near), amounts, counts),
        st.builds(
            lambda b, d, lo, w: e.TruncatedGeometricNoise(b, d, -lo, w, neighbours=near),
            amounts,
            *[counts] * 3,
        ),
        st.builds(
            lambda v, d, g, k: e.GaussianNoise(v, d, g, k, neighbours=near),
            amounts,
            amounts,
            amounts,
            counts,
        ),
        st.builds(
            lambda v, d, k, c: e.DiscreteGaussianNoise(v, d, k, c, neighbours=near),
            amounts,
            counts,
            counts,
            st.none() | counts,
        ),
        st.builds(lambda n, d: e.BinomialNoise(n, d, neighbours=near), counts, counts),
        amounts.map(lambda x: e.ExponentialSelection(x, neighbours=near)),
        amounts.map(lambda x: e.PermuteAndFlipSelection(x, neighbours=near)),
        st.builds(lambda x, k: e.Response(x, k + 1, neighbours=near), amounts, counts),
        st.builds(lambda x, k: e.SparseVector(x, k, neighbours=near), amounts, counts),
        measures.map(lambda m: e.Promise(m, neighbours=near)),
        st.lists(st.tuples(amounts, deltas), min_size=1, max_size=4).map(
            lambda p: e.OwnCurve(p, neighbours=near)
        ),
    )


def built(near):
    def grow(inner):
        several = st.lists(inner, min_size=1, max_size=3)
        options = [
            st.builds(e.Repeated, inner, counts),
            st.builds(e.KeySelection, inner, deltas),
            several.map(e.Sequence),
            several.map(e.Batch),
        ]
        if near == "add-remove":
            rates = st.builds(Fraction, st.integers(1, 10**6), st.integers(10**6, 10**9))
            options += [st.builds(e.Sampled, inner, rates), several.map(e.Parallel)]
        return st.one_of(options)

    return st.recursive(atoms(near), grow, max_leaves=6)


events = built("add-remove") | built("replace")
STRETCHED = e.Parallel([e.LaplaceNoise(1, 1)], neighbours="replace")


class TestRoundTrip:
    @given(events)
    def test_an_event_comes_back_equal_through_text(self, event):
        assert from_json(json.loads(json.dumps(to_json(event)))) == event

    @given(measures)
    def test_a_measure_comes_back_equal_through_text(self, measure):
        assert measure_from_json(json.loads(json.dumps(measure_to_json(measure)))) == measure

    @given(events, events)
    @settings(max_examples=examples(50))
    def test_canonical_bytes_are_equal_exactly_when_the_events_are(self, one, other):
        again = from_json(dict(reversed(to_json(one).items())))
        assert canonical(one) == canonical(again)
        assert (canonical(one) == canonical(other)) == (one == other)

    @given(measures)
    def test_canonical_measures_read_back(self, measure):
        text = canonical(measure)
        assert measure_from_json(json.loads(text)) == measure
        assert b" " not in text

    def test_parts_under_replace(self):
        assert from_json(to_json(STRETCHED)) == STRETCHED

    def test_sixty_four_levels_are_written_and_read(self):
        event = e.LaplaceNoise(1, 1)
        for _ in range(63):
            event = e.Repeated(event, 2)
        assert from_json(to_json(event)) == event


class TestGolden:
    """The file may only ever be added to: every line is read as it was meant, and written as it was."""

    @pytest.mark.parametrize("name", GOLDEN["events"])
    def test_the_event_is_read_and_written_as_ever(self, name):
        line = GOLDEN["events"][name]
        assert repr(from_json(line["json"])) == line["value"]
        assert to_json(from_json(line["json"])) == line["json"]
        assert canonical(from_json(line["json"])) == line["canonical"].encode()

    @pytest.mark.parametrize("name", GOLDEN["measures"])
    def test_the_measure_is_read_and_written_as_ever(self, name):
        line = GOLDEN["measures"][name]
        assert repr(measure_from_json(line["json"])) == line["value"]
        assert measure_to_json(measure_from_json(line["json"])) == line["json"]

    def test_every_class_is_pinned(self):
        pinned = {type(from_json(line["json"])) for line in GOLDEN["events"].values()}
        assert pinned == set(typing.get_args(e.Event))
        pinned = {type(measure_from_json(line["json"])) for line in GOLDEN["measures"].values()}
        assert pinned == set(typing.get_args(Measure))

    def test_every_field_is_pinned(self):
        """A field that two events differ in must be in the JSON, or two events would share one hash."""
        for line in GOLDEN["events"].values():
            fields = set(type(from_json(line["json"])).__dataclass_fields__)
            assert len(fields) == len(set(line["json"]) - {"event", "version"}), line


GOOD = {"event": "response", "version": 1, "epsilon": "1/20", "options": 2, "neighbours": "replace"}
RENYI = {"measure": "renyi-dp", "version": 1}


class TestRefusals:
    @pytest.mark.parametrize(
        ("data", "why"),
        [
            ([], "a JSON object"),
            (None, "a JSON object"),
            ("response", "a JSON object"),
            ({}, "event None is not known"),
            (
                GOOD | {"event": "magic"},
                "event 'magic' is not known; this release reads laplace-noise",
            ),
            (GOOD | {"event": ["response"]}, "is not known"),
            (GOOD | {"event": "x" * 500}, "is not known"),
            (GOOD | {"version": 2}, "not known in version 2; this release reads 1"),
            (GOOD | {"version": "1"}, "not known in version '1'"),
            (GOOD | {"version": True}, "not known in version True"),
            (GOOD | {"version": 1.0}, "not known in version 1.0"),
            ({k: v for k, v in GOOD.items() if k != "version"}, "not known in version None"),
            (
                {k: v for k, v in GOOD.items() if k != "options"},
                "lacks options; it has exactly the fields",
            ),
            (GOOD | {"colour": 1, 2: 3}, "has unknown 2, colour"),
            (
                {"event": "response", "version": 1, "eps": 1},
                "lacks epsilon, neighbours, options and has unknown eps",
            ),
            (
                GOOD | {"epsilon": 0.05},
                "response.epsilon must be exact text such as '1/20' or '3', got 0.05",
            ),
            (GOOD | {"epsilon": "0.05"}, "exact text"),
            (GOOD | {"epsilon": "1/0"}, "exact text"),
            (GOOD | {"epsilon": "1/-2"}, "exact text"),
            (GOOD | {"epsilon": " 1"}, "exact text"),
            (GOOD | {"epsilon": "1\n"}, "exact text"),
            (GOOD | {"epsilon": "٣"}, "exact text"),
            (GOOD | {"epsilon": "9" * 4001}, "exact text"),
            (GOOD | {"epsilon": "9" * 9000}, "exact text"),
            (GOOD | {"epsilon": "-1"}, "epsilon must be greater than 0"),
            (GOOD | {"options": "2"}, "response.options must be a whole number, got '2'"),
            (GOOD | {"options": True}, "whole number"),
            (GOOD | {"options": 2.0}, "whole number"),
            (GOOD | {"options": 1}, "options must be a whole number of at least 2"),
            (GOOD | {"neighbours": "swap"}, "neighbours must be"),
            (GOOD | {"neighbours": ["replace"]}, "neighbours must be"),
            ({"event": "batch", "version": 1, "events": {}}, "batch.events must be a list"),
            ({"event": "batch", "version": 1, "events": []}, "at least one event"),
            ({"event": "batch", "version": 1, "events": [GOOD, STRETCHED]}, "a JSON object"),
            ({"event": "repeated", "version": 1, "of": 3, "times": 2}, "a JSON object"),
            (
                {"event": "own-curve", "version": 1, "points": [["1"]], "neighbours": "replace"},
                "list of pairs",
            ),
            (
                {"event": "own-curve", "version": 1, "points": ["12"], "neighbours": "replace"},
                "list of pairs",
            ),
            (
                {"event": "own-curve", "version": 1, "points": 1, "neighbours": "replace"},
                "must be a list",
            ),
            (
                {"event": "promise", "version": 1, "measure": 1, "neighbours": "replace"},
                "a JSON object with 'measure'",
            ),
        ],
    )
    def test_what_is_no_event_is_refused_with_what_would_work(self, data, why):
        with pytest.raises(InvalidArgument) as refusal:
            from_json(data)
        assert why in str(refusal.value)
        assert len(str(refusal.value)) < 700

    @pytest.mark.parametrize(
        ("data", "why"),
        [
            (RENYI | {"orders": [["2", "1"], ["4/2", "1"]]}, "lists an order twice"),
            (RENYI | {"orders": []}, "at least one order"),
            ({"measure": "pure-dp", "version": 1, "epsilon": "-1"}, "at least 0"),
            ({"measure": "approx-dp", "version": 1, "epsilon": "1", "delta": "1"}, "below 1"),
            ({"measure": "approx-dp", "version": 1, "epsilon": "1"}, "lacks delta"),
            ({"event": "pure-dp", "version": 1}, "measure None is not known"),
        ],
    )
    def test_what_is_no_measure_is_refused(self, data, why):
        with pytest.raises(InvalidArgument, match=why):
            measure_from_json(data)

    def test_other_types_are_not_written(self):
        with pytest.raises(InvalidArgument, match="an event is expected"):
            to_json(PureDP(1))
        with pytest.raises(InvalidArgument, match="a measure is expected"):
            measure_to_json(STRETCHED)

    def test_bottomless_nesting_is_refused_both_ways(self):
        event, data = e.LaplaceNoise(1, 1), to_json(e.LaplaceNoise(1, 1))
        for _ in range(200):
            event = e.Sequence([event])
            data = {"event": "repeated", "version": 1, "of": data, "times": 1}
        for attempt in (lambda: to_json(event), lambda: from_json(data)):
            with pytest.raises(InvalidArgument, match="more than 64 deep"):
                attempt()

    def test_an_amount_beyond_reading_is_not_written(self):
        with pytest.raises(InvalidArgument, match="more than 4000 digits"):
            to_json(e.ExponentialSelection(Fraction(1, 10**4100)))
        longest = e.ExponentialSelection(Fraction(1, 10**3600))
        assert from_json(to_json(longest)) == longest
