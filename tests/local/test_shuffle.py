"""Shuffling: never below the truth, found by brute force on tiny cases; never far above it, found by a case that happens."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.local import Choice, Number
from discreet.local.family import direct, geometry, hadamard, subset
from discreet.local.shuffle import shuffle_choice
from discreet.privacy import ApproxDP, PureDP, Response, compose
from discreet.privacy.events import Shuffled
from discreet.privacy.loss.atoms import Atoms
from discreet.privacy.shuffling.pair import (
    clones_pair,
    lower_binary_pair,
    lower_two_level_pair,
    shuffled_delta,
    shuffled_pair,
    two_level_pair,
)
from discreet.privacy.shuffling.prices import (
    loss_bounds,
    shuffled_renyi,
    shuffled_rho,
    shuffled_square,
)
from discreet.privacy.shuffling.tail import log_tail
from discreet.privacy.shuffling.yes_no import yes_no_pair
from local.members import sets


def law_of(family, value, epsilon):
    """Return P(y | value) from the definition of the two-level family."""
    own = sets(family)[value]
    every = (
        set().union(*sets(family))
        if family.design.facts.member == "subset"
        else range(family.design.facts.outputs)
    )
    facts = family.design.facts
    z = math.exp(epsilon) * facts.inside + facts.outputs - facts.inside
    return {y: (math.exp(epsilon) if y in own else 1.0) / z for y in every}


def shuffled_law(laws):
    """Return the law of the multiset of reports, people by people."""
    found = {frozenset(): 1.0}
    for law in laws:
        following = Counter()
        for seen, chance in found.items():
            for y, p in law.items():
                counts = Counter(dict(seen))
                counts[y] += 1
                following[frozenset(counts.items())] += chance * p
        found = following
    return found


def true_delta(family, epsilon, n, at):
    """Return the worst δ over all values of the others and of the person, by brute force (values 0 and 1: symmetry)."""
    laws = [law_of(family, v, epsilon) for v in range(family.design.facts.options)]
    worst = 0.0
    for others in itertools.combinations_with_replacement(range(len(laws)), n - 1):
        around = [laws[v] for v in others]
        one, two = shuffled_law([*around, laws[0]]), shuffled_law([*around, laws[1]])
        for p, q in ((one, two), (two, one)):
            worst = max(worst, sum(max(0.0, p[s] - math.exp(at) * q.get(s, 0.0)) for s in p))
    return worst


def two_level_epsilon(event, delta=1e-6):
    """Return where the curve of the two-level pair falls to δ."""
    pair, low, high = two_level_pair(event), 0.0, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if pair.delta(middle) > delta else (low, middle)
    return high


TINY = [
    (direct(3, Fraction(1)), Fraction(1), 5, 0.5),
    (direct(2, Fraction(1)), Fraction(1), 6, 0.4),
    (direct(4, Fraction(3, 2)), Fraction(3, 2), 4, 0.7),
    (hadamard(3, Fraction(1)), Fraction(1), 4, 0.5),
    (subset(4, Fraction(1), 2), Fraction(1), 3, 0.5),
    (geometry(7, Fraction(1), 2), Fraction(1), 3, 0.4),
]


class TestNeverBelowTheTruth:
    """δ of the pair with the number of blanket reports told is an upper bound, for every data set of the others."""

    @pytest.mark.parametrize(("family", "epsilon", "n", "at"), TINY)
    def test_brute_force(self, family, epsilon, n, at):
        truth = true_delta(family, epsilon, n, at)
        price = shuffle_choice(family.design.facts, epsilon, n)
        assert truth > 0
        assert truth <= two_level_pair(price.event).delta(at)
        assert truth <= clones_pair(epsilon, n).delta(at)
        assert (
            family.design.facts.options > 2
            or truth <= yes_no_pair(epsilon, n).delta(at) <= 1.02 * truth
        )
        assert truth <= price.delta(epsilon=at)
        for event in (price.event, Shuffled(epsilon, n)):
            assert truth <= shuffled_delta(event, at) <= shuffled_pair(event).delta(at)
        assert price.lower.delta(at) <= truth

    def test_not_telling_how_many_is_no_bound(self):
        """The tempting pair, in which the number of blanket reports is not told, lies below the truth.

        k-ary response with d = 3, n = 6, ε₀ = 1 at ε = 0.7: the truth is 0.013448 (others 0, 0, 0, 2, 2). The formula
        is what Theorem 3.2 of the 2023 paper on stronger amplification would give at p = 1/(e^ε₀ + d − 1), below the
        1/(e^ε₀ + 1) that its erratum asks for.
        """
        laws = [law_of(direct(3, Fraction(1)), v, 1) for v in range(3)]
        others = [laws[v] for v in (0, 0, 0, 2, 2)]
        one, two = shuffled_law([*others, laws[0]]), shuffled_law([*others, laws[1]])
        truth = max(
            sum(max(0.0, p[s] - math.exp(0.7) * q[s]) for s in p)
            for p, q in ((one, two), (two, one))
        )
        z = math.e + 2
        tempting = lower_two_level_pair(Fraction(1), 6, (math.e + 1) / z, 1 / z)
        assert truth == pytest.approx(0.013448, abs=1e-6)
        assert tempting.delta(0.7) == pytest.approx(0.010346, rel=5e-3)
        assert (
            tempting.delta(0.7)
            < truth
            < two_level_pair(Shuffled(1, 6, 3, 1, 0)).delta(0.7)
            < 0.0163
        )

    @pytest.mark.slow
    def test_the_other_counterexample(self):
        """d = 4, n = 8, ε₀ = 1.5 at ε = 0.7: truth 0.05866, the tempting formula 0.05480, the bound 0.06210."""
        truth = true_delta(direct(4, Fraction(3, 2)), 1.5, 8, 0.7)
        e = math.exp(1.5)
        assert truth == pytest.approx(0.05866, abs=1e-5)
        assert (
            lower_two_level_pair(Fraction(3, 2), 8, (e + 1) / (e + 3), 1 / (e + 3)).delta(0.7)
            < truth
        )
        assert truth < two_level_pair(Shuffled("3/2", 8, 4, 1, 0)).delta(0.7) < 0.0622


class TestFigures:
    """Prices at n = 10^4, δ = 1e-6, as computed by other code: clones by its authors', k-ary response by plain sums."""

    @pytest.mark.untraced
    @pytest.mark.parametrize(
        ("epsilon", "options", "upper", "lower"),
        [(1, 10, 0.02327, 0.02325), (1, 100, 0.00719, 0.00718)],
    )
    def test_direct(self, epsilon, options, upper, lower):
        price = Choice(options, PureDP(epsilon), member="direct").shuffled(10_000)
        above, below = price.epsilon(delta=1e-6), price.lower.epsilon(1e-6)
        assert below <= above <= 1.01 * below
        assert above == pytest.approx(upper, rel=5e-3)
        assert below == pytest.approx(lower, rel=2e-3)

    @pytest.mark.parametrize(("epsilon", "figure"), [(1, 0.05301), (4, 0.60091)])
    def test_clones(self, epsilon, figure):
        assert compose(Shuffled(epsilon, 10_000)).epsilon(1e-6) == pytest.approx(figure, rel=2e-3)

    def test_less_than_half_of_clones(self):
        mine = Choice(10, PureDP(1), member="direct").shuffled(10_000).epsilon(delta=1e-6)
        assert mine <= 0.45 * compose(Shuffled(1, 10_000)).epsilon(1e-6)


class TestEvent:
    @given(st.integers(2, 12), st.integers(1, 30), st.fractions(Fraction(1, 10), 4))
    @settings(max_examples=8, deadline=None)
    def test_more_people_hide_better_and_none_costs_more_than_the_report(self, options, n, epsilon):
        few, many = (two_level_pair(Shuffled(epsilon, m, options, 1, 0)) for m in (n, 2 * n))
        for at in (0.1, 0.5, 1.0):
            alone = compose(Response(epsilon, options)).delta(at)
            assert many.delta(at) <= few.delta(at) * 1.01 + 1e-3 * float(epsilon)
            assert few.delta(at) <= alone * 1.01 + 1e-3 * float(epsilon)
        assert compose(Shuffled(epsilon, n, options, 1, 0)).epsilon(0) == pytest.approx(
            float(epsilon)
        )

    def test_one_person_alone_is_the_report(self):
        assert two_level_pair(Shuffled(1, 1, 5, 1, 0)).delta(0.3) == pytest.approx(
            compose(Response(1, 5)).delta(0.3), rel=2e-3
        )

    def test_composes(self):
        event = Choice(10, PureDP(1), member="direct").shuffled(10_000).event
        one, ten = compose(event).epsilon(1e-6), compose([event] * 10).epsilon(1e-6)
        assert 2 * one < ten < 5 * one
        assert compose([event, Response(1)]).epsilon(1e-6) < one + 1
        assert (
            compose(event).lower.epsilon(1e-6) == 0
        )  # its pair tells more than is seen, so it proves nothing from below

    def test_a_report_that_hides_nothing(self):
        assert compose(Shuffled(50, 1000)).epsilon(1e-6) == pytest.approx(50, rel=1e-3)

    @pytest.mark.untraced
    def test_unknown_mechanisms_go_by_clones(self):
        price = Number(0, 1, PureDP(1)).shuffled(1000)
        assert price.event == Shuffled(1, 1000)
        assert price.lower.epsilon(1e-6) == 0
        assert price.epsilon(delta=1e-6) < 0.25

    @pytest.mark.untraced
    def test_two_options(self):
        price = Choice(2, PureDP(1)).shuffled(1000)
        above, below = price.epsilon(delta=1e-6), price.lower.epsilon(1e-6)
        assert below <= above <= 1.01 * below
        assert above < 0.9 * two_level_epsilon(price.event)
        assert lower_binary_pair(Fraction(1), 1).lower_delta(0.5) == pytest.approx(
            compose(Response(1)).delta(0.5), rel=1e-6
        )

    @pytest.mark.parametrize("sizes", [(3, None, None), (3, 1, 1), (3, 3, 0), (3, 2, 0), (1, 1, 0)])
    def test_sizes_that_cannot_be(self, sizes):
        with pytest.raises(InvalidArgument):
            Shuffled(1, 10, *sizes)

    def test_relation_is_replace(self):
        with pytest.raises(InvalidArgument, match="replace"):
            Shuffled(1, 10, neighbours="add-remove")
        assert ApproxDP(1, 0).epsilon == Shuffled(1, 10).epsilon


def test_deployments_are_priced_by_clones_and_one_bit_as_binary_response():
    spend, shape = dp.PureDP(1), {"rows": 4, "width": 8, "key": "k"}
    rappor = dp.local.Rappor(bits=8, hashes=2, cohorts=4, f=0.5, p=0.25, q=0.75, key="k")
    sketches = [
        dp.local.CountMeanSketch(spend, **shape),
        dp.local.HadamardCountMeanSketch(spend, **shape),
    ]
    for made in (*sketches, dp.local.BitFlip(spend, buckets=8, sample=2), rappor):
        assert made.shuffled(1000).event == Shuffled(made.epsilon, 1000)
        assert made.shuffled(1000).lower.epsilon(delta=1e-6) == 0
    binary = dp.local.Choice(2, spend, member="direct").shuffled(1000)
    for gamma, least in ((0, binary.lower.epsilon(delta=1e-6)), ("1/5", 0)):
        price = dp.local.OneBitMean(0, 1, spend, gamma=gamma).shuffled(1000)
        assert price.event == binary.event and price.lower.epsilon(delta=1e-6) == least


def log_sum(logs):
    largest = max(logs)
    return largest + math.log(sum(math.exp(one - largest) for one in logs))


def log_binomial(n, k, p):
    """Return ln of the chance of k among n."""
    if p in (0, 1):
        return 0.0 if k == n * p else -math.inf
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return ways + k * math.log(p) + (n - k) * math.log1p(-p)


def losses_of_pair(event):
    """List (loss, ln P) of the pair that is priced, from its definition, over all numbers of reports."""
    growth = math.exp(event.epsilon)
    found = []
    if event.outputs is None:
        slope = (growth - 1) / (growth + 1)
        for clones in range(event.n):
            total = clones + 1
            chance = log_binomial(event.n - 1, clones, 1 / growth)
            for a in range(total + 1):
                z = slope * (2 * a - total) / total
                log_p = chance + log_binomial(total, a, 0.5) + math.log1p(z)
                found.append((2 * math.atanh(z), log_p))
        return found
    blanket = 1 / (1 + event.inside / event.outputs * (growth - 1))
    apart = (event.inside - event.shared) / event.outputs
    for hiding in range(event.n):
        total = hiding + 1
        chance = log_binomial(event.n - 1, hiding, blanket) + math.log(blanket / total)
        for a in range(total + 1):
            for b in range(total + 1 - a):
                split = log_binomial(total, a, apart)
                split += log_binomial(total - a, b, apart / (1 - apart))
                one, two = total + (growth - 1) * a, total + (growth - 1) * b
                if split > -math.inf:
                    found.append((math.log(one / two), chance + split + math.log(one)))
    return found


FAR = [
    Shuffled(1, 40),
    Shuffled(1, 40, 10, 1, 0),
    Shuffled(3, 25, 4, 2, 1),
    Shuffled("1/2", 60, 2, 1, 0),
    Shuffled(1, 1, 10, 1, 0),
    Shuffled(2, 2),
]


class TestFarTail:
    """ln P[loss ≥ t] of the pair is at most the bound, and the bound is no more than some nats above it."""

    @pytest.mark.parametrize("event", FAR)
    def test_every_case_is_listed(self, event):
        found = losses_of_pair(event)
        for part in (0.1, 0.3, 0.6, 0.9, 0.99):
            loss = part * float(event.epsilon)
            truth = log_sum([log_p for at, log_p in found if at >= loss])
            bound = float(log_tail(event, np.array([loss]))[0])
            assert truth <= bound <= truth + 6

    def test_a_loss_that_cannot_be_is_as_rare_as_all_in_one_place(self):
        """At ε itself nobody but those in A may be left to hide in: the chance is at most γ^n h^n, or so."""
        event = Shuffled(1, 1000, 10, 1, 0)
        [bound] = log_tail(event, np.array([1.0]))
        # The others are in A, or hide nobody: γh + 1 − γ each.
        blanket = 10 / (9 + math.e)
        assert bound == pytest.approx(999 * math.log(1 - 0.9 * blanket), rel=0.01)


def true_laws(family, epsilon, n):
    """Yield the laws of the multiset under two values of the person, for all values of the others."""
    laws = [law_of(family, v, epsilon) for v in range(family.design.facts.options)]
    for others in itertools.combinations_with_replacement(range(len(laws)), n - 1):
        around = [laws[v] for v in others]
        one, two = shuffled_law([*around, laws[0]]), shuffled_law([*around, laws[1]])
        yield one, two
        yield two, one


def true_mu(p, q):
    """Return the least μ of a pair of laws: the largest gap at the corners of its trade-off function."""
    from scipy.special import ndtri

    order = sorted(p, key=lambda seen: -p[seen] / q[seen])
    above = below = worst = 0.0
    for seen in order[:-1]:
        above += p[seen]
        below += q[seen]
        worst = max(worst, ndtri(above) - ndtri(below))
    return worst


class TestPricesOfLedgers:
    """μ, ρ and Rényi divergences of shuffled reports are never below the truth, and near that of the pair."""

    @pytest.mark.parametrize(("family", "epsilon", "n", "at"), TINY)
    def test_brute_force(self, family, epsilon, n, at):
        event = shuffle_choice(family.design.facts, epsilon, n).event
        orders = np.array([1.01, 1.5, 2, 8, 64, 512])
        truth = np.zeros_like(orders)
        mu = 0.0
        for p, q in true_laws(family, epsilon, n):
            moments = [
                sum(p[s] ** alpha * q[s] ** (1 - alpha) for s in p if p[s] > 1e-250)
                for alpha in orders[:4]
            ]
            largest = max(math.log(p[s] / q[s]) + math.log(p[s]) / 63 for s in p)
            truth[:4] = np.maximum(truth[:4], np.log(moments) / (orders[:4] - 1))
            truth[4] = max(truth[4], largest)
            mu = max(mu, true_mu(p, q))
        for priced in (event, Shuffled(epsilon, n)):
            divergences = shuffled_renyi(priced, orders)
            assert (truth > 0)[:5].all() and (truth <= divergences).all()
            assert (divergences <= float(epsilon)).all()
            assert (truth / orders).max() <= shuffled_rho(priced)
            assert mu**2 <= shuffled_square(priced)

    @pytest.mark.parametrize(
        ("event", "within"),
        [(FAR[0], 1.01), (FAR[1], 1.02), (FAR[2], 1.01)],
    )
    def test_near_that_of_the_pair(self, event, within):
        """The sums over all cases of the pair are met from above, to a per cent or two."""
        found = losses_of_pair(event)
        for alpha in (1.1, 2.0, 16.0, 200.0):
            [bound] = shuffled_renyi(event, np.array([alpha]))
            logs = [log_p + (alpha - 1) * loss for loss, log_p in found]
            even = max(0.0, 1 - math.exp(log_sum([log_p for _, log_p in found])))
            truth = math.log(math.exp(log_sum(logs)) + even) / (alpha - 1)
            assert truth * (1 - 1e-9) <= bound <= within * truth
            assert bound <= alpha * shuffled_rho(event) * (1 + 1e-9)

    def test_gaussian_dp_is_above_the_curve_everywhere(self):
        """δ of G(μ) is no less than that of the pair, also where the pair counts nothing but what is lost."""
        event = Shuffled(1, 1000, 10, 1, 0)
        mu = math.sqrt(shuffled_square(event))
        gaussian = compose([dp.privacy.Promise(dp.GaussianDP(mu))])
        pair = shuffled_pair(event)
        for at in np.linspace(0, 0.2, 41):
            assert pair.lower_delta(float(at)) <= gaussian.delta(epsilon=float(at)) + 1e-29

    def test_what_is_lost_counts_with_the_largest_loss(self, monkeypatch):
        """A pair with one loss, and a hundredth of its mass lost: the prices of that law, from its definition."""
        event = Shuffled(1, 7, 5, 1, 0)
        pair = Atoms(np.array([-0.5, 0.5]), np.array([0.36, 0.6]), Fraction(1, 100), Fraction(1))
        monkeypatch.setattr("discreet.privacy.shuffling.prices.shuffled_pair", lambda *_: pair)
        loss_bounds.cache_clear()
        law = {0.5: 0.6, 1.0: 0.01}
        mu = math.sqrt(shuffled_square(event))
        gaussian = compose([dp.privacy.Promise(dp.GaussianDP(mu))])
        for at in np.linspace(0, 1, 21):
            truth = sum(p * max(0.0, 1 - math.exp(at - loss)) for loss, p in law.items())
            assert truth <= gaussian.delta(epsilon=float(at)) + 1e-12
        for alpha in (1.5, 2.0, 30.0):
            moment = 1.0
            for loss, p in law.items():
                both = math.exp((alpha - 1) * loss) + math.exp(-alpha * loss)
                moment += p * (both - 1 - math.exp(-loss))
            assert shuffled_renyi(event, np.array([alpha]))[0] >= math.log(moment) / (alpha - 1)
        loss_bounds.cache_clear()

    def test_the_far_pair_has_no_less_mass_than_its_tail(self):
        event = Shuffled(1, 3000)
        bounds = loss_bounds(event)
        assert bounds.far_losses.size > 100
        end = bounds.end
        for loss in np.linspace(end, 1, 60)[:-1] + 1e-6:
            beyond = bounds.far_logs[bounds.far_losses >= loss]
            assert log_sum(beyond.tolist()) >= log_tail(event, np.array([loss]))[0] - 1e-9

    def test_surveys_in_a_ledger(self):
        """10 options, ε₀ = 1, 10,000 people: 900 of them fit into (1, 1e-6), where 1,000 compose to .947."""
        event = Shuffled(1, 10_000, 10, 1, 0)
        rho = shuffled_rho(event)
        mean = float(shuffled_renyi(event, np.array([1 + 2.0**-10]))[0])
        assert rho <= 1.02 * mean
        surveys = dp.privacy.Repeated(event, 900)
        for kind in (None, "gdp", "zcdp", "renyi"):
            assert dp.open_filter(ApproxDP(1, "1e-6"), kind).admits(surveys)
        pure = dp.open_filter(PureDP(1))
        assert pure.admits(event) and not pure.admits(dp.privacy.Repeated(event, 2))
        half = dp.open_filter(dp.ZCDP(450 * Fraction(mean)), "zcdp")
        assert half.admits(dp.privacy.Repeated(event, 441))
        assert not half.admits(dp.privacy.Repeated(event, 451))

    def test_reports_that_nothing_hides_cost_what_they_cost(self):
        alone = Shuffled(1, 1)
        assert dp.open_filter(dp.ZCDP(1)).price(alone) <= dp.open_filter(dp.ZCDP(1)).price(
            Response(1)
        )
        steep = Shuffled(31, 100, 4, 1, 0)
        assert shuffled_square(steep) is shuffled_rho(steep) is None
        assert shuffled_renyi(steep, np.array([2.0])) is None
