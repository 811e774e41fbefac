"""Bars of a budget: spent, price of the next answer, and left, as parts of the whole."""

from __future__ import annotations

from fractions import Fraction
from typing import assert_never

from ....frozen import frozen
from ....privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP, RenyiDP
from ....show.markup import Html, element


def amount(measure: Measure) -> Fraction:
    """Return the number by which charges of a measure add up: ε (without δ), ρ or μ².

    For Rényi it is the ε of the first order.

    >>> import discreet as dp
    >>> from discreet.service.pages.charts.amount import amount
    >>> amount(dp.PureDP(1)), amount(dp.ZCDP("1/8")), amount(dp.GaussianDP(2)), amount(dp.RenyiDP({2: 1}))
    (Fraction(1, 1), Fraction(1, 8), Fraction(4, 1), Fraction(1, 1))
    """
    match measure:
        case PureDP(epsilon=epsilon) | ApproxDP(epsilon=epsilon):
            return epsilon
        case ZCDP(rho=rho):
            return rho
        case GaussianDP(squared=squared):
            return squared
        case RenyiDP(orders=orders):
            return orders[0][1]
        case _:
            assert_never(measure)


@frozen
class BudgetBar:
    """Budget spent and left, in the ledger's own measure, as parts of a bar.

    `asked` is the part that the next answer would take, and `price` the same as text, as
    explanation and receipt write it.
    """

    spent: Measure
    left: Measure
    asked: Measure | None = None
    price: str = ""

    @property
    def whole(self) -> Fraction:
        """All there is, spent or not."""
        return amount(self.spent) + amount(self.left)

    def share(self, part: Measure) -> float:
        """Return a part as a fraction of spent and left together, from 0 to 1; 0 if both are 0.

        >>> import discreet as dp
        >>> from discreet.service.pages.charts.amount import BudgetBar
        >>> BudgetBar(dp.PureDP(1), dp.PureDP(3)).share(dp.PureDP(1))
        0.25
        """
        if not self.whole:
            return 0.0
        return float(min(Fraction(1), amount(part) / self.whole))

    def words(self, part: Measure) -> str:
        """Return a part as text; μ does not add up as it is written, so its share of the whole is said too.

        >>> import discreet as dp
        >>> from discreet.service.pages.charts.amount import BudgetBar
        >>> BudgetBar(dp.PureDP(1), dp.PureDP(3)).words(dp.PureDP(1))
        'ε = 1'
        >>> BudgetBar(dp.GaussianDP(1), dp.GaussianDP(2)).words(dp.GaussianDP(1))
        '20 % (μ = 1)'
        """
        if not isinstance(part, GaussianDP):
            return str(part)
        return f"{100 * self.share(part):.3g} % ({part})"

    @property
    def price_words(self) -> str:
        """The price as text, with its share of the whole where μ does not add up as it is written."""
        if self.asked is None or not isinstance(self.asked, GaussianDP):
            return self.price
        return f"{100 * self.share(self.asked):.3g} % ({self.price})"

    @property
    def over(self) -> bool:
        """Whether the answer would take more than is left."""
        return self.asked is not None and amount(self.asked) > amount(self.left)


def left_bar(purse: BudgetBar) -> Html:
    """Draw spent, asked and left as one bar."""
    spent = 100 * purse.share(purse.spent)
    asked = 0.0
    words = f"{spent:.0f} % is spent"
    if purse.asked is not None:
        asked = min(100 * purse.share(purse.asked), 100 - spent)
        # Wide enough to be seen, however small the price.
        if amount(purse.asked):
            asked = max(asked, 0.6)
        words += f", this answer would take {asked:.1f} %"
    return _bar(spent, asked, words, over=purse.over)


def part_bar(part: Measure, purse: BudgetBar) -> Html:
    """Draw the share of the whole budget that one user spent."""
    share = 100 * purse.share(part)
    return _bar(share, 0.0, f"{share:.0f} % of the whole", over=False)


def _bar(spent: float, asked: float, words: str, *, over: bool) -> Html:
    """Draw a bar of width 100 with parts for spent and asked budget; `words` describe it."""
    done = element("rect", class_="spent", width=spent, height=2)
    more = element("rect", class_="next", x=spent, width=asked, height=2)
    look = {
        "class_": "left over" if over else "left",
        "viewBox": "0 0 100 2",
        "preserveAspectRatio": "none",
    }
    return element("svg", done, more, **look, role="img", aria_label=words)
