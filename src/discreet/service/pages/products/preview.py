"""Preview of a synthetic table or model: its cost and error before anything is spent.

The functions run in a planning worker process.
"""

from __future__ import annotations

from ....curator import Curator
from ....curator.verbs.learn import charge_order_of, plan_training
from ....curator.verbs.synthesize import plan_synthesis_of
from ....errors import BudgetExceeded
from ....frozen import frozen, replace
from ....ledger.charge_order import ChargeOrder
from ....privacy.measures import Measure
from ....wire.verb import check_count
from ....wire.verbs.synthesis import SynthesisRequest, synthesis_plan_reply
from ....wire.verbs.training import LearnRequest, training_reply
from ..charts.amount import BudgetBar

FAINT_SIGNAL = 1.0


@frozen
class Preview:
    """A plan in words, what is left, and whether it fits; `stored` if it was paid before, `warning` if it is poor."""

    text: str
    warning: str
    purse: BudgetBar
    fits: bool
    stored: bool

    def check(self) -> None:
        """Refuse what does not fit into what is left."""
        price = self.purse.asked
        if not self.fits and not self.stored and price is not None:
            said = f"it costs {price}, and {self.purse.left} is left; spend less, or ask your steward for more"
            raise BudgetExceeded(said, asked=price, left=self.purse.left)


def weigh_synthesis(curator: Curator, asked: SynthesisRequest, cells: int) -> Preview:
    """Say what making synthetic records would measure, cost and miss.

    Refuses what the API refuses, from public facts alone.
    """
    made = plan_synthesis_of(curator.stand.planner, asked.table, asked.spend, asked.words)
    price = curator.ledger.price(made.plan.event)
    reply = synthesis_plan_reply(made.plan, price)
    check_count(int(str(reply["numbers"])), cells)
    poor = (
        "noise drowns these tables: spend more, or use fewer columns" if made.plan.hopeless else ""
    )
    return _weigh(
        curator,
        charge_order_of(curator, made.facts, made.plan.event, ""),
        price,
        str(reply["text"]),
        poor,
    )


def weigh_model(curator: Curator, asked: LearnRequest, rows: int, cells: int) -> Preview:
    """Say what training a model on about so many rows would release, cost and lose."""
    course = plan_training(curator.stand.planner, asked.sql, asked.model, asked.spend)
    check_count(max(release.noise.dimension or 1 for release in course.training.releases), cells)
    event, explained = course.training.event, course.explain(rows)
    price = curator.ledger.price(event)
    poor = (
        "noise drowns this model: spend more, or use fewer columns"
        if explained.signal < FAINT_SIGNAL
        else ""
    )
    text = str(training_reply(explained, price)["text"])
    return _weigh(curator, charge_order_of(curator, course.facts, event, ""), price, text, poor)


def _weigh(
    curator: Curator, order: ChargeOrder, price: Measure, text: str, warning: str
) -> Preview:
    ledger, event, who = curator.ledger, order.event, curator.who
    book, known = ledger.filter(None, None), ledger.find(order)
    stored = known is not None and known.body is not None
    purse = BudgetBar(curator.spent(), curator.left(), book.stated(event) if book.adds else price)
    purse = replace(purse, asked=None) if stored else purse
    return Preview(text, warning, purse, ledger.admits(event, who=who), stored)
