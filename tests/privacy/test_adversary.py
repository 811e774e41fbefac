"""An exact adversary chooses every next question by the answers so far: no filter gives it more than was promised.

The same adversary does break a ledger that admits while the exact price of what was actually asked is within budget.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from discreet.privacy.events import DiscreteLaplaceNoise, ExponentialSelection, Promise, Response
from discreet.privacy.filters.filter import open_filter
from discreet.privacy.measures import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.pricing.boxes import optimal_delta
from oracles.adversary import (
    Attack,
    NaiveLedger,
    composed,
    lattice_laplace,
    ranged,
    realised,
    response,
)

pytestmark = pytest.mark.untraced
KINDS = ["advanced", "zcdp", "renyi", "gdp"]
GAMES = [  # unit, sizes of randomized response, ε, δ
    (Fraction(1, 40), (1, 2, 8), 1, 1e-6),
    (Fraction(1, 20), (1, 4, 8), 1, 1e-3),
    (Fraction(1, 10), (1, 2, 5), 2, 1e-4),
]


def menu_of(unit, sizes):
    return [response(Response(size * unit), size, float(unit)) for size in sizes]


def play(ledger, menu, unit, epsilon):
    return realised(ledger, menu, epsilon=int(epsilon / unit), unit=float(unit), reach=160)


def printed(row, column):
    """A cell of the table of games in docs/explanation/filters.md."""
    page = (Path(__file__).parents[2] / "docs" / "explanation" / "filters.md").read_text(
        encoding="utf-8"
    )
    head, _, *rows = page[page.index("| game") :].split("\n\n")[0].splitlines()
    names = [cell.strip() for cell in head.split("|")]
    return rows[row].split("|")[names.index(column)].strip()


class TestTheSimulation:
    def test_one_mechanism_and_no_choice_is_the_binomial_sum(self):
        """With one mechanism of ε = 1/10 and room for exactly nine, the best is to ask nine times."""
        unit = Fraction(1, 10)
        found = play(open_filter(PureDP("0.9")), menu_of(unit, [1]), unit, Fraction(1, 2))
        assert found == pytest.approx(optimal_delta(0.1, 9, 0.5), rel=1e-12)
        assert composed((9,), epsilon=5, unit=0.1) == pytest.approx(found, rel=1e-12)

    def test_the_pairs_are_laws_of_a_likelihood_ratio(self):
        """Under D' the chances e^−L·P sum to 1, so each attack is a pair of laws."""
        selection = ExponentialSelection(Fraction(4, 10))
        pairs = [
            response(Response(1), 10, 0.1),
            lattice_laplace(DiscreteLaplaceNoise(10, 4), 4, 0.1),
        ]
        for attack in pairs + [ranged(selection, 4, 0.1, top) for top in range(1, 4)]:
            other = sum(
                p * 2.718281828459045 ** (-0.1 * loss)
                for loss, p in zip(attack.losses, attack.chances, strict=True)
            )
            assert other == pytest.approx(1, rel=1e-12)

    def test_choosing_helps_the_adversary(self):
        """Against a budget, choosing between sizes by what came out is worth more than any one size."""
        unit, sizes, epsilon, _ = GAMES[1]
        menu = menu_of(unit, sizes)
        ledger = open_filter(ZCDP(Fraction(1, 20)))
        alone = max(play(ledger, [attack], unit, epsilon) for attack in menu)
        assert play(ledger, menu, unit, epsilon) > 1.03 * alone


class TestTheNaiveLedger:
    """Admitting while the exact composed δ(ε) of the choices made is at most δ is not a filter."""

    @pytest.mark.parametrize("row", [0, 1, 2])
    def test_is_caught(self, row):
        unit, sizes, epsilon, delta = GAMES[row]
        ledger = NaiveLedger(int(epsilon / unit), delta, float(unit), (0,) * max(sizes))
        found = play(ledger, menu_of(unit, sizes), unit, epsilon)
        assert found > 2 * delta
        assert printed(row, "naive ledger") == f"**{found / delta:.2f}**"


@pytest.mark.untraced
class TestNoFilterIsBroken:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("row", [pytest.param(0, marks=pytest.mark.slow), 1, 2])
    def test_responses_of_several_sizes(self, row, kind):
        unit, sizes, epsilon, delta = GAMES[row]
        found = play(
            open_filter(ApproxDP(epsilon, delta), kind), menu_of(unit, sizes), unit, epsilon
        )
        assert found <= delta
        assert printed(row, kind) == f"{found / delta:.2f}"

    @pytest.mark.parametrize(
        ("game", "least"), [(GAMES[1], 0.8), ((Fraction(1, 10), (1, 5), 1, 1e-2), 0.8)]
    )
    def test_the_residue_holds_and_is_nearly_reached(self, game, least):
        unit, sizes, epsilon, delta = game
        found = play(
            open_filter(ApproxDP(epsilon, delta), "residue"), menu_of(unit, sizes), unit, epsilon
        )
        assert least * delta < found <= delta
        if game in GAMES:
            assert printed(GAMES.index(game), "residue") == f"{found / delta:.2f}"

    @pytest.mark.parametrize("kind", ["zcdp", "renyi", "gdp", "residue"])
    def test_selection_at_any_offset_and_lattice_noise(self, kind):
        """Bounded range: the adversary also chooses where the loss of a selection lies."""
        unit, epsilon, delta = Fraction(1, 5), 1, 0.1
        chosen = ExponentialSelection(3 * unit, neighbours="replace")
        noise = DiscreteLaplaceNoise(5, 1, neighbours="replace")
        menu = [
            ranged(chosen, 3, 0.2, 1),
            ranged(chosen, 3, 0.2, 2),
            lattice_laplace(noise, 1, 0.2),
        ]
        found = play(open_filter(ApproxDP(epsilon, delta), kind), menu, unit, epsilon)
        assert 0.3 * delta < found <= delta

    def test_pure_leaves_no_loss_above_epsilon(self):
        unit = Fraction(1, 20)
        assert play(open_filter(PureDP(1)), menu_of(unit, (1, 3, 7)), unit, 1) == 0.0

    @pytest.mark.parametrize("kind", ["approximate", "advanced", "zcdp", "residue"])
    def test_leaks_are_within_the_delta_kept_for_them(self, kind):
        unit, delta, leak = Fraction(1, 5), 0.02, 0.004
        box = Promise(ApproxDP(unit, leak), neighbours="replace")
        menu = [response(box, 1, 0.2, leak), *menu_of(unit, (1, 2))]
        kept = None if kind == "approximate" else 0.01
        found = play(open_filter(ApproxDP(1, delta), kind, delta=kept), menu, unit, 1)
        assert leak < found <= delta

    @pytest.mark.parametrize("mu", [Fraction(1, 2), 1])
    @pytest.mark.parametrize("kind", ["gdp", "residue"])
    def test_a_gaussian_promise_holds_at_every_epsilon(self, kind, mu):
        unit = Fraction(1, 4)
        for epsilon in (0, Fraction(1, 2), 1, 2):
            promised = GaussianDP(mu).delta(epsilon)
            assert (
                play(open_filter(GaussianDP(mu), kind), menu_of(unit, (1, 2)), unit, epsilon)
                <= promised
            )

    def test_concentrated_and_renyi_promises_hold(self):
        unit, menu = Fraction(1, 5), menu_of(Fraction(1, 5), (1, 2))
        for budget in (ZCDP(Fraction(1, 4)), RenyiDP({4: 1, 8: 2})):
            for epsilon in (1, 2):
                assert 0 < play(open_filter(budget), menu, unit, epsilon) <= budget.delta(epsilon)


class _SomeOrder:
    """Admits while some one of several Rényi filters has admitted all so far: the rule that is not sound."""

    def __init__(self, filters):
        self.filters = tuple(filters)

    def __hash__(self):
        return hash(self.filters)

    def __eq__(self, other):
        return self.filters == other.filters

    def admits(self, event):
        return any(f.admits(event) for f in self.filters)

    def after(self, event):
        return _SomeOrder(f.after(event) for f in self.filters if f.admits(event))


def test_some_order_still_passes_admits_more_than_any_order():
    """It lets through paths that no one fixed order does, so no one supermartingale covers it: we do not offer it."""
    unit, sizes, epsilon, delta = Fraction(1, 10), (1, 12), 3, 1e-3
    menu = menu_of(unit, sizes)
    filters = [open_filter(ApproxDP(epsilon, delta), "renyi", orders=a) for a in (3, 5, 8)]
    some = play(_SomeOrder(filters), menu, unit, epsilon)
    assert some > max(play(f, menu, unit, epsilon) for f in filters)


def test_an_attack_is_a_law():
    with pytest.raises(AssertionError):
        Attack(Response(1), (1,), (0.5,))
