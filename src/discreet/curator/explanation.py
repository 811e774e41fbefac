"""Explanation of a question before anything is touched or spent: its plan, price and store queries."""

from __future__ import annotations

import textwrap

from ..data.columns.keys import KeyValue
from ..frozen import frozen
from ..plan.plan import Plan
from ..plan.text.plan import plan_html, plan_text
from ..privacy.events.json import measure_to_json
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP
from ..privacy.shown_price import Price
from ..query.text.labels import labels_text
from ..show.markup import element, join


@frozen
class Explanation:
    """The question as it was understood, its plan, its price, and the queries for the store.

    `price` is in the measure of the spend, or of the budget where an error was asked for.
    `charged`, `left` and `after` are in the ledger's own unit. `fits` says that the budget admits
    the price now. `stored` says that released answers answer the question: asking costs
    nothing, and `after` is `left`. Else `after` is None if the price does not fit, or cannot be
    subtracted. `part` is the part of the data that would be charged, None for all of it. `texts`
    are the store's queries.
    """

    question: str
    plan: Plan
    price: Measure
    left: Measure
    fits: bool
    stored: bool
    part: KeyValue | None
    texts: tuple[str, ...]
    rest: Measure | None = None
    """Budget that would be left; None if the price does not fit, or cannot be subtracted."""
    warnings: tuple[str, ...] = ()
    """Warnings from public facts, each with what would work better."""
    charged: Measure | None = None
    """Price in the ledger's own unit; services of older versions send none."""
    sources: tuple[int, ...] = ()
    """Entries of the ledger of which the answer is made, for nothing if `stored`; empty if there are none."""
    times: float = 1.0
    """Error of an answer from sources, in errors of the plan."""

    @property
    def after(self) -> Measure | None:
        """The budget that would be left after the answer."""
        if self.stored:
            return self.left
        return self.rest

    def shown_price(self) -> Price:
        """Return the price as caption, receipt, history and pages say it."""
        return Price(self.price, self.charged or self.price)

    def _cost(self) -> str:
        """Say in one line what asking costs: nothing, a price that fits, or one that does not."""
        part = ""
        if self.part is not None:
            part = f" in part {self.part}"
        if self.sources and self.stored:
            entries = ", ".join(map(str, self.sources))
            if len(self.sources) > 1:
                return f"free: made of entries {entries}, as exact as planned; {self.left} left"
            told = f"free: made of the cells of entry {entries}, with {self.times:.2g} times"
            return f"{told} the planned error; {self.left} left"
        if self.stored:
            return f"free: this was answered before{part}; {self.left} left"
        price = self.shown_price()
        if not self.fits:
            # Gaussian noise may not fit where as large a pure ε does, so "more than" would be wrong.
            if isinstance(self.left, ApproxDP):
                return f"costs {price}{part}, which does not fit; {self.left} is left"
            return f"costs {price}{part}, which is more than {self.left} left"
        cost = f"costs {price} of {self.left} left{part}"
        if self.sources:
            cost = f"{cost}, since entry {self.sources[0]} tells the total"
        rest = self.after
        if rest is None:
            return cost
        return f"{cost}; {rest} would be left"

    def _asked(self) -> str:
        """Return the question, and what the labels of its keys are."""
        labels = labels_text(self.plan.question)
        return f"{self.question}\n{labels}" if labels else self.question

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int | None = None, *, store: bool = False) -> str:
        """Lay it out, within the width of a terminal if given; with `store` also the store's queries."""
        blocks = [self._asked(), plan_text(self.plan, width)]
        lines = [f"Before paying: {warning}" for warning in self.warnings]
        lines.append(self._cost())
        for line in lines:
            if width is not None:
                line = textwrap.fill(line, width, subsequent_indent="  ")  # noqa: PLW2901
            blocks.append(line)
        if store:
            for text in self.texts:
                blocks.append(f"The store is asked, exactly:\n{_brief(text)}")
        blocks.append("Nothing was touched, nothing was spent.")
        return "\n\n".join(blocks)

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        texts = [element("pre", text) for text in self.texts]
        asked = element("details", element("summary", "What the store is asked"), *texts)
        warned = [
            element("p", element("b", "Before paying: "), warning) for warning in self.warnings
        ]
        cost = element("p", self._cost())
        question = element("pre", self._asked())
        return join([question, plan_html(self.plan), *warned, cost, asked])

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain JSON types."""
        rest = self.after
        after_json = None
        if rest is not None:
            after_json = measure_to_json(rest)
        charged = self.shown_price().charged
        return {
            "question": self.question,
            "plan": self.plan.to_dict(),
            "price": measure_to_json(self.price),
            "charged": measure_to_json(charged),
            "left": measure_to_json(self.left),
            "after": after_json,
            "fits": self.fits,
            "stored": self.stored,
            "part": self.part,
            "warnings": list(self.warnings),
            "texts": list(self.texts),
            "sources": list(self.sources),
            "times": self.times,
        }


def _brief(text: str, most: int = 4_000) -> str:
    """Cut a text that lists thousands of keys; `texts` holds it in full."""
    if len(text) <= most:
        return text
    return f"{text[:most]} … ({len(text) - most} more characters)"


def after(left: Measure, price: Measure) -> Measure | None:
    """Subtract a price from what is left; None if the measures differ, or the price is larger.

    >>> import discreet as dp
    >>> from discreet.curator.explanation import after
    >>> after(dp.PureDP(3), dp.PureDP("1/2")), after(dp.PureDP(3), dp.ZCDP(1))
    (PureDP(2.5), None)
    """
    match left, price:
        case PureDP(epsilon=a), PureDP(epsilon=b) if b <= a:
            return PureDP(a - b)
        case ApproxDP(epsilon=a, delta=c), ApproxDP(epsilon=b, delta=d) if b <= a and d <= c:
            return ApproxDP(a - b, c - d)
        case ZCDP(rho=a), ZCDP(rho=b) if b <= a:
            return ZCDP(a - b)
        case GaussianDP(squared=a), GaussianDP(squared=b) if b <= a:
            return GaussianDP.of_square(a - b)
        case _:
            return None
