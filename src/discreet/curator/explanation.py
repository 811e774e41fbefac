"""What a question would do, cost and miss, told before anything is touched or spent."""

from __future__ import annotations

import textwrap

from ..data.columns.keys import KeyValue
from ..frozen import frozen
from ..plan.plan import Plan
from ..plan.text.plan import plan_html, plan_text
from ..privacy.events.json import measure_to_json
from ..privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP
from ..show.markup import element, join


@frozen
class Explanation:
    """The question as it was understood, its plan, its price, and what the store would be asked.

    `price`, `left` and `after` are in the ledger's measure; `after` is None if the price does not fit, or cannot be
    taken off. `stored` says that the answer is known already: asking again costs nothing.
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
    """What would be left of an (ε, δ) budget, where that is not a matter of taking off."""
    warnings: tuple[str, ...] = ()
    """What speaks against the question as it is, from public facts, and what would work better."""

    @property
    def after(self) -> Measure | None:
        """What would be left."""
        if self.stored:
            return self.left
        if self.rest is not None:
            return self.rest
        return after(self.left, self.price) if self.fits else None

    def _cost(self) -> str:
        of = "" if self.part is None else f" in part {self.part}"
        if self.stored:
            return f"free: this was answered before{of}; {self.left} left"
        if not self.fits:
            if isinstance(
                self.left, ApproxDP
            ):  # Gaussian noise may not fit where as large a pure ε does
                return f"costs {self.price}{of}, which does not fit; {self.left} is left"
            return f"costs {self.price}{of}, which is more than {self.left} left"
        rest = self.after
        return f"costs {self.price} of {self.left} left{of}" + (
            "" if rest is None else f"; {rest} would be left"
        )

    def __str__(self) -> str:
        return self.to_text()

    def to_text(self, width: int | None = None, *, store: bool = False) -> str:
        """Lay it out, within the width of a terminal if one is given; with `store`, what the store would be asked."""
        warned = [f"Before paying: {warning}" for warning in self.warnings]
        words = [*warned, self._cost()]
        lines = (
            words
            if width is None
            else [textwrap.fill(line, width, subsequent_indent="  ") for line in words]
        )
        asked = (
            [f"The store is asked, exactly:\n{_brief(text)}" for text in self.texts]
            if store
            else []
        )
        blocks = [self.question, plan_text(self.plan, width), *lines, *asked]
        return "\n\n".join([*blocks, "Nothing was touched, nothing was spent."])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        texts = [element("pre", text) for text in self.texts]
        asked = element("details", element("summary", "What the store is asked"), *texts)
        warned = [
            element("p", element("b", "Before paying: "), warning) for warning in self.warnings
        ]
        cost = element("p", self._cost())
        return join([element("pre", self.question), plan_html(self.plan), *warned, cost, asked])

    def to_dict(self) -> dict[str, object]:
        """Return everything as plain JSON types."""
        rest = self.after
        return {
            "question": self.question,
            "plan": self.plan.to_dict(),
            "price": measure_to_json(self.price),
            "left": measure_to_json(self.left),
            "after": None if rest is None else measure_to_json(rest),
            "fits": self.fits,
            "stored": self.stored,
            "part": self.part,
            "warnings": list(self.warnings),
            "texts": list(self.texts),
        }


def _brief(text: str, most: int = 4_000) -> str:
    """Cut a text that lists thousands of keys; `texts` holds it in full."""
    return text if len(text) <= most else f"{text[:most]} … ({len(text) - most} more characters)"


def after(left: Measure, price: Measure) -> Measure | None:
    """Take a price off what is left, in one and the same measure; None where there is no such measure.

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
