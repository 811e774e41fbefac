"""What the workbench shows before a question is run, and what it refuses: worked out at the desk, by a clerk."""

from __future__ import annotations

from typing import Any

from ...curator import Curator
from ...errors import BudgetExceeded, DiscreetError
from ...privacy.measures import Measure
from ...wire.request import Ask
from ..api.verbs import check_ask
from .ask_form import AskFields, BudgetUnit, ask_of
from .charts.amount import Purse, left_bar
from .charts.tradeoff import tradeoff
from .clause import word_refusal
from .explained import explained_of

__all__ = ["check_run", "explanation", "unexplained"]


def explanation(curator: Curator, fields: AskFields, unit: BudgetUnit) -> dict[str, Any]:
    """Explain what stands in the form, or say what is wrong with it; what is left is shown in any case."""
    purse: Purse | None = None
    try:
        purse = Purse(curator.spent(), curator.left())
        ask = ask_of(fields, unit)
        found = curator.explain(ask.sql, **ask.terms.words())
    except DiscreetError as refusal:
        return unexplained(refusal, fields, purse)
    over = None if found.fits or found.stored else word_refusal("BudgetExceeded", _too_much(found.price, purse.left))
    purse = Purse(purse.spent, purse.left, None if found.stored else found.price)
    curve = tradeoff(curator, ask, unit)
    return {"refusal": over, "explained": explained_of(found, curve), "purse": purse, "bar": left_bar(purse)}


def unexplained(refusal: DiscreetError, fields: AskFields, purse: Purse | None = None) -> dict[str, Any]:
    """Say why there is nothing to explain."""
    words = word_refusal(type(refusal).__name__.removeprefix("_"), str(refusal), fields.sql)
    return {"refusal": words, "explained": None, "purse": purse, "bar": "" if purse is None else left_bar(purse)}


def check_run(curator: Curator, ask: Ask, cells: int) -> None:
    """Refuse before anything is written what public facts and the ledger refuse already."""
    check_ask(curator, ask, cells)
    found = curator.explain(ask.sql, **ask.terms.words())
    if not found.fits and not found.stored:
        raise BudgetExceeded(_too_much(found.price, found.left), asked=found.price, left=found.left)


def _too_much(price: Measure, left: Measure) -> str:
    return f"it costs {price}, and {left} is left; spend less, allow more error, or ask your steward for more"
