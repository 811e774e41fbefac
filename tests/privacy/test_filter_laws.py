"""Laws that every filter obeys, for events drawn at random."""

from __future__ import annotations

import json
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded
from discreet.privacy.events import (
    Batch,
    DiscreteGaussianNoise,
    DiscreteLaplaceNoise,
    ExponentialSelection,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    Promise,
    Repeated,
    Sequence,
)
from discreet.privacy.events.json import from_json, to_json
from discreet.privacy.filters.filter import Filter, open_filter
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP
from support.profile import examples

small = st.fractions(Fraction(1, 100), Fraction(1, 2), max_denominator=200)
pure = st.one_of(
    small.map(ExponentialSelection),
    small.map(lambda e: LaplaceNoise(1 / e, 1)),
    st.builds(lambda e, n: DiscreteLaplaceNoise(n / e, n), small, st.integers(1, 200)),
    small.map(lambda e: Promise(PureDP(e))),
)
gaussian = small.map(lambda m: GaussianNoise.of(1 / m, 1)) | small.map(
    lambda m: DiscreteGaussianNoise(1 / m**2, 1)
)
atoms = pure | gaussian
events = st.one_of(
    atoms,
    st.builds(Repeated, atoms, st.integers(1, 4)),
    st.lists(atoms, min_size=1, max_size=3).map(Sequence),
    st.lists(atoms, min_size=1, max_size=3).map(Batch),
)
FILTERS = [
    open_filter(ZCDP(1)),
    open_filter(GaussianDP(1), "gdp"),
    open_filter(GaussianDP(1), "residue"),
    open_filter(ApproxDP(3, 1e-3), "zcdp"),
    open_filter(ApproxDP(3, 1e-3), "renyi"),
    open_filter(ApproxDP(3, 1e-3), "residue"),
]
filters = st.sampled_from(FILTERS)
additive = st.sampled_from([f for f in FILTERS if f.kind != "residue"])


def run(gate, asked):
    """Ask one event after the other, skipping what does not fit; give the filter and what was admitted."""
    admitted = []
    for event in asked:
        if gate.admits(event):
            gate = gate.after(event)
            admitted.append(event)
    return gate, admitted


class TestOrder:
    """The totals of pure, zCDP, Rényi and Gaussian filters do not depend on the order of what was admitted."""

    @given(additive, st.lists(events, max_size=8), st.randoms(use_true_random=False))
    @settings(max_examples=examples(60), deadline=None)
    def test_any_order_gives_the_same_state(self, gate, asked, random):
        end, admitted = run(gate, asked)
        random.shuffle(admitted)
        again, all_of_them = run(gate, admitted)
        assert all_of_them == admitted
        assert again == end

    @given(st.lists(pure, max_size=10), st.randoms(use_true_random=False))
    @settings(max_examples=examples(40), deadline=None)
    def test_pure(self, asked, random):
        end, admitted = run(open_filter(PureDP(1)), asked)
        random.shuffle(admitted)
        assert run(open_filter(PureDP(1)), admitted) == (end, admitted)


class TestSum:
    """A sequence, a batch and a repetition cost what their events cost one after the other."""

    @given(filters, st.lists(atoms, min_size=1, max_size=5))
    @settings(max_examples=examples(60), deadline=None)
    def test_nesting_does_not_matter(self, gate, asked):
        together = Sequence([Batch(asked)])
        if gate.admits(together):
            listed = {}
            for event in asked:  # equal events are charged together
                listed[event] = listed.get(event, 0) + 1
            one_by_one = gate
            for event, times in listed.items():
                for _ in range(times):
                    one_by_one = one_by_one.after(event)
            assert gate.after(together) == one_by_one


class TestMonotone:
    """A larger budget admits whatever a smaller one does; more noise is admitted wherever less is."""

    @given(st.lists(events, max_size=6), small)
    @settings(max_examples=examples(40), deadline=None)
    def test_in_the_budget(self, asked, more):
        for budget in (ZCDP, GaussianDP):
            lower, admitted = run(open_filter(budget(1)), asked)
            higher = open_filter(budget(1 + more))
            for event in admitted:
                higher = higher.after(event)
            assert lower.left() <= higher.left()

    @pytest.mark.untraced
    @given(filters, st.lists(events, max_size=5), small, st.integers(1, 50))
    @settings(max_examples=examples(60), deadline=None)
    def test_in_the_noise(self, gate, asked, epsilon, times):
        gate, _ = run(gate, asked)
        for noise in (
            lambda e: LaplaceNoise(1 / e, 1),
            lambda e: GaussianNoise.of(1 / e, 1),
            ExponentialSelection,
        ):
            if gate.admits(Repeated(noise(epsilon), times)):
                assert gate.admits(Repeated(noise(epsilon * Fraction(9, 10)), times))
                assert gate.admits(Repeated(noise(epsilon), max(1, times - 1)))

    @given(filters, st.lists(events, max_size=8))
    @settings(max_examples=examples(40), deadline=None)
    def test_what_is_left_never_grows_and_is_never_negative(self, gate, asked):
        for event in asked:
            if gate.admits(event):
                after = gate.after(event)
                assert all(
                    u <= v <= c
                    for u, v, c in zip(gate.used, after.used, gate.capacity, strict=True)
                )
                gate = after


class TestRefusal:
    """A refused request changes nothing, and does not keep a smaller one from being admitted."""

    @pytest.mark.untraced
    @given(filters, st.lists(events, max_size=6), atoms)
    @settings(max_examples=examples(60), deadline=None)
    def test_the_state_is_as_it_was(self, gate, asked, event):
        gate, _ = run(gate, asked)
        before = json.dumps(gate.to_json())
        assert not gate.admits(Repeated(event, 10**6))
        with pytest.raises(BudgetExceeded) as refusal:
            gate.after(Repeated(event, 10**6))
        assert refusal.value.left == (gate.room().box if gate.adds else gate.left())
        assert json.dumps(gate.to_json()) == before
        tiny = Promise(PureDP(Fraction(1, 10**9)))
        assert (
            gate.admits(tiny)
            or min(c - u for c, u in zip(gate.capacity, gate.used, strict=True)) < 1e-7
        )


class TestState:
    """The state goes to JSON and back at any moment, and decides the same; it follows from public events alone."""

    @pytest.mark.untraced
    @given(filters, st.lists(events, max_size=6), st.lists(events, max_size=4))
    @settings(max_examples=examples(60), deadline=None)
    def test_round_trip_then_the_same_decisions(self, gate, before, then):
        gate, _ = run(gate, before)
        again = Filter.from_json(json.loads(json.dumps(gate.to_json())))
        assert again == gate
        assert run(again, then) == run(gate, then)

    @given(filters, st.lists(events, max_size=6))
    @settings(max_examples=examples(40), deadline=None)
    def test_replaying_the_stored_events_gives_the_stored_state(self, gate, asked):
        """Whoever has the terms and the events recomputes every decision: nothing else went into it."""
        end, admitted = run(gate, asked)
        stored = json.loads(json.dumps([to_json(event) for event in admitted]))
        replayed, all_of_them = run(gate, [from_json(event) for event in stored])
        assert (replayed, len(all_of_them)) == (end, len(admitted))


class TestStronger:
    """zCDP never admits less than advanced composition, Rényi never less than zCDP, the residue never less than GDP."""

    @given(st.lists(pure, min_size=1, max_size=3), st.integers(1, 30))
    @settings(max_examples=examples(50), deadline=None)
    def test_order_of_strength(self, asked, times):
        event = Repeated(Sequence(asked), times)
        for weak, strong in (("advanced", "zcdp"), ("gdp", "residue")):
            if open_filter(ApproxDP(2, 1e-4), weak).admits(event):
                assert open_filter(ApproxDP(2, 1e-4), strong).admits(event)

    @pytest.mark.untraced
    @given(small, st.integers(1, 2000))
    @settings(max_examples=examples(50), deadline=None)
    def test_keys_cost_their_noise_and_their_delta(self, epsilon, times):
        keys = Repeated(KeySelection(LaplaceNoise(1 / epsilon, 1), "1e-9"), times)
        gate = open_filter(ApproxDP(3, 1e-5), delta=1e-6)
        counts = Repeated(LaplaceNoise(1 / epsilon, 1), times)
        assert gate.admits(keys) == (gate.admits(counts) and times <= 1000)
