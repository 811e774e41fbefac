"""Events from JSON that nobody in his right mind would write: a price, or a refusal of ours; never a bare error."""

import json
import math
from fractions import Fraction

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.errors import DiscreetError, InvalidArgument
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    BinomialNoise,
    DiscreteGaussianNoise,
    ExponentialSelection,
    GaussianDP,
    GaussianNoise,
    KeySelection,
    LaplaceNoise,
    Parallel,
    Promise,
    PureDP,
    RenyiDP,
    Repeated,
    Response,
    Sampled,
    Sequence,
    compose,
    fits,
)
from discreet.privacy.events.json import from_json
from discreet.privacy.filters.filter import open_filter

HUGE, TINY = str(10**400), f"1/{10**400}"
amounts = st.sampled_from(["1", "3/2", "1/3", HUGE, TINY, str(10**90), f"1/{10**90}"])
counts = st.sampled_from([1, 2, 7, 65, 2**20, 2**53, 2**62, 2**70, 2**300, 10**90, 10**400])
rates = st.sampled_from(["1", "1/10", TINY, f"{10**400 - 1}/{10**400}"])
chances = st.sampled_from(["1/1000000", TINY, f"{10**400 - 1}/{10**400}"])
LAP = {"event": "laplace-noise", "scale": "1", "sensitivity": "1", "step": "0"}

measures = st.one_of(
    st.fixed_dictionaries({"measure": st.just("pure-dp"), "epsilon": amounts}),
    st.fixed_dictionaries({"measure": st.just("approx-dp"), "epsilon": amounts, "delta": chances}),
    st.fixed_dictionaries({"measure": st.just("zcdp"), "rho": amounts}),
    st.fixed_dictionaries({"measure": st.just("gaussian-dp"), "squared": amounts}),
    st.builds(
        lambda order, amount: {"measure": "renyi-dp", "orders": [[order, amount]]},
        st.sampled_from(["2", "3/2", HUGE, str(10**90), f"{10**400 + 1}/{10**400}"]),
        amounts,
    ),
)

FIELDS = {
    "laplace-noise": {"scale": amounts, "sensitivity": amounts, "step": amounts | st.just("0")},
    "discrete-laplace-noise": {"scale": amounts, "sensitivity": counts},
    "truncated-geometric-noise": {
        "scale": amounts,
        "sensitivity": counts,
        "low": st.just(-3),
        "high": counts,
    },
    "gaussian-noise": {
        "variance": amounts,
        "squared_sensitivity": amounts,
        "step": amounts | st.just("0"),
        "dimension": counts,
    },
    "discrete-gaussian-noise": {
        "variance": amounts,
        "squared_sensitivity": counts,
        "dimension": counts,
        "linf": st.none() | counts,
    },
    "binomial-noise": {"trials": counts, "sensitivity": counts},
    "exponential-selection": {"epsilon": amounts},
    "permute-and-flip-selection": {"epsilon": amounts},
    "response": {"epsilon": amounts, "options": counts},
    "sparse-vector": {"epsilon": amounts, "answers": counts},
    "promise": {"measure": measures},
    "own-curve": {"points": st.tuples(amounts, chances).map(lambda point: [list(point)])},
}

single = st.one_of(
    st.fixed_dictionaries({"event": st.just(name), **fields}) for name, fields in FIELDS.items()
)
hostile = st.one_of(
    single,
    single,
    st.fixed_dictionaries({"event": st.just("repeated"), "of": single, "times": counts}),
    st.fixed_dictionaries({"event": st.just("sampled"), "of": single, "rate": rates}),
    st.fixed_dictionaries({"event": st.just("key-selection"), "noise": single, "delta": chances}),
    st.fixed_dictionaries(
        {"event": st.just("sequence"), "events": st.tuples(single, st.just(LAP)).map(list)}
    ),
    st.fixed_dictionaries(
        {"event": st.just("parallel"), "parts": st.tuples(single, st.just(LAP)).map(list)}
    ),
)
BUILT = ("repeated", "sampled", "key-selection", "sequence", "batch")


def signed(data):
    """Add to every object what all objects carry."""
    if isinstance(data, list):
        return [signed(inner) for inner in data]
    if not isinstance(data, dict):
        return data
    whole = {key: signed(value) for key, value in data.items()} | {"version": 1}
    near = {"neighbours": "add-remove"} if "event" in data and data["event"] not in BUILT else {}
    return whole | near


ASKED = (
    lambda event: compose(event).epsilon(Fraction(1, 10**6)),
    lambda event: compose(event).delta(1),
    lambda event: compose(event).delta(900),
    lambda event: compose(event).mu(),
    lambda event: compose(event).rho(),
    lambda event: compose(event).renyi(2),
)
BUDGETS = (
    PureDP(1),
    ApproxDP(1, "1e-6"),
    ApproxDP(900, "1e-6"),
    ZCDP(1),
    GaussianDP(1),
    RenyiDP({2: 1}),
)


class TestHostileEvents:
    """Whatever a line of JSON says, it is priced or refused by an error of ours, and a price is a number."""

    @pytest.mark.untraced
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(hostile, st.sampled_from(ASKED))
    def test_prices(self, data, ask):
        try:
            price = ask(from_json(json.loads(json.dumps(signed(data)))))
        except DiscreetError:
            return
        assert price >= 0

    @pytest.mark.untraced
    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(hostile, st.sampled_from(BUDGETS))
    def test_budgets(self, data, budget):
        try:
            event = from_json(json.loads(json.dumps(signed(data))))
            kept = open_filter(budget).after(event).left() if fits(event, budget) else None
        except DiscreetError:
            return
        assert kept is None or kept <= budget


class TestBeyond:
    """What no mechanism does is refused when it is priced, with the reason."""

    @pytest.mark.parametrize(
        ("event", "why"),
        [
            (GaussianNoise(4, 1, step="1e-400"), "a lattice"),
            (GaussianNoise(4, 1, step="1e400"), "a loss"),
            (LaplaceNoise(1, 1, "1e-400"), "a lattice"),
            (DiscreteGaussianNoise(10**400, 10**400), "a lattice"),
            (Response(1, 10**400), "options"),
            (BinomialNoise(2**300, 1), "trials"),
            (Repeated(LaplaceNoise(1, 1), 2**70), "more than 2\\*\\*63 times"),
            (
                Repeated(Repeated(ExponentialSelection(1), 2**40), 2**40),
                "more than 2\\*\\*63 times",
            ),
            (Promise(RenyiDP({10**400: 1})), "an order"),
            (Promise(RenyiDP({1 + Fraction(1, 10**400): 1})), "an order near 1"),
            (Sampled(Sequence([Response(1, 10**400, neighbours="add-remove")]), "1/2"), "options"),
            (Parallel([KeySelection(BinomialNoise(2**300, 1), "1e-6")]), "trials"),
        ],
    )
    def test_refused(self, event, why):
        with pytest.raises(InvalidArgument, match=why):
            compose(event).epsilon("1e-6")

    def test_the_largest_that_is_priced(self):
        assert compose(Repeated(Promise(PureDP(f"1/{2**63}")), 2**63)).epsilon(0) == 1
        assert compose(Response(1, 10**100)).delta("1/2") < 1e-90
        assert math.isfinite(compose(DiscreteGaussianNoise(10**140, 10**139)).epsilon("1e-6"))


class TestOffTheLattice:
    """Rounded to steps of g, one answer that moves by Δ moves by up to g⌈Δ/g⌉: never less than Δ is paid for."""

    def test_less_than_a_step_is_a_step(self):
        curve, step = (
            compose(GaussianNoise(4, 1, step="3/2")),
            compose(GaussianNoise(4, "9/4", step="3/2")),
        )
        assert curve.rho() == step.rho() == 0.28125
        assert (
            curve.epsilon("1e-6")
            == step.epsilon("1e-6")
            > compose(GaussianNoise(4, 1)).epsilon("1e-6")
        )
        assert not fits(GaussianNoise(4, 1, step="3/2"), ZCDP("0.28"))

    @given(st.fractions("1/6", 9, max_denominator=7), st.fractions("1/6", 4, max_denominator=6))
    @settings(max_examples=25, deadline=None)
    def test_whole_steps(self, move, step):
        steps = math.ceil(move / step)
        on, like = (
            compose(GaussianNoise(9, move**2, step)),
            compose(DiscreteGaussianNoise(9 / step**2, steps**2)),
        )
        assert on.delta("1/2") == like.delta("1/2")
        assert on.rho() == like.rho() >= float(move**2 / 18) * (1 - 1e-12)

    @pytest.mark.parametrize("dimension", [2, 3, 100, 10**400])
    def test_several_coordinates_are_never_free(self, dimension):
        curve = compose(GaussianNoise(4, 1, "3/2", dimension))
        assert curve.delta("1/10") >= compose(GaussianNoise(4, 1)).delta("1/10") * 0.999

    def test_a_ledger_that_holds_one_goes_on(self):
        fields = {"variance": "4", "squared_sensitivity": "1", "step": "3/2", "dimension": 1}
        odd = from_json(signed({"event": "gaussian-noise", **fields}))
        assert open_filter(ZCDP(1)).after(odd).left() == ZCDP("0.71875")
