"""View of an explanation in the workbench: mechanisms, price and errors, before anything is spent.

`explanation` and `check_run` run in a planning worker process.
"""

from __future__ import annotations

from typing import Any

from ...curator import Curator
from ...curator.explanation import Explanation
from ...errors import BudgetExceeded, DiscreetError
from ...frozen import frozen, replace
from ...plan.plan import Plan
from ...plan.text.plan import range_text, share_text, truncation_text
from ...privacy.measures import Measure
from ...query.bounds.missing_keys import keyed_question
from ...query.text.question import describe
from ...show.markup import Html
from ...statistics.releases.choice import ChosenRelease
from ...statistics.releases.quantile_release import PlaceRelease
from ...wire.verbs.question import Ask, check_ask
from .ask_form import AskFields, BudgetUnit, ask_of
from .charts.amount import BudgetBar, left_bar
from .charts.tradeoff import tradeoff
from .number_text import error_words, percent, without_code
from .refusal_view import refusal_of, word_refusal

MAX_COLUMNS = 4


@frozen
class PlanRow:
    """One statistic of a plan as text: error, mechanism, and how much of one person is counted."""

    name: str
    error: str
    mechanism: str
    counts: str


@frozen
class Explained:
    """Values for the HTML fragment of an explanation.

    `after` is the budget that the answer would leave. `curve` is the chart of error by price.
    `size` is the supposed number of rows, "" where no error depends on it. `keyed` is the question
    with a WHERE that leaves out rows whose keys are not among the public ones, "" where that would
    change nothing.
    """

    rows: tuple[PlanRow, ...]
    level: str
    size: str
    stored: bool
    after: Measure | None
    texts: tuple[str, ...]
    warnings: tuple[str, ...]
    keyed: str
    curve: Html

    @property
    def errors(self) -> str:
        """The expected errors of the first columns in one line."""
        rows = [row for row in self.rows if row.name != "groups"]
        if len(rows) == 1:
            return rows[0].error
        return ", ".join(f"{row.name} {row.error}" for row in rows[:MAX_COLUMNS])


def explained_of(explanation: Explanation, curve: Html) -> Explained:
    """Lay out an explanation for the page; `curve` is the chart of error by price."""
    plan = explanation.plan
    averaged = any(len(places) > 1 for _, places in plan.uses)
    return Explained(
        rows=plan_rows(plan),
        level=percent(float(plan.level)),
        size=f"{plan.size:,}".replace(",", "\u202f") if averaged else "",
        stored=explanation.stored,
        after=explanation.after,
        texts=explanation.texts,
        warnings=tuple(f"{without_code(one)}." for one in explanation.warnings),
        keyed=_keyed_sql(plan),
        curve=curve,
    )


def _keyed_sql(plan: Plan) -> str:
    """Write the question for rows with public keys only.

    "" unless rows with other keys change the answer: they use up a cap on one person's rows, or
    count in totals over all keys.
    """
    question = plan.question
    counts_others = question.sets is not None or truncation_text(plan)
    keyed = keyed_question(question, None)
    if keyed is None or not counts_others:
        return ""
    return describe(keyed)


def plan_rows(plan: Plan) -> tuple[PlanRow, ...]:
    """Return one row for each statistic, after one for the keys if they are selected privately."""
    rows = []
    if plan.selection is not None:
        counts = share_text(plan.selection.tally.share)
        rows.append(PlanRow("groups", "only common ones", type(plan.selection).__name__, counts))
    errors = plan.statistic_errors()
    ranges = plan.error_ranges()
    for name, places in plan.uses:
        parts = [plan.releases[place] for place in places]
        chosen = isinstance(parts[0], ChosenRelease | PlaceRelease)
        mechanisms = dict.fromkeys(type(part.mechanism).__name__ for part in parts)
        counts = ", ".join(dict.fromkeys(share_text(part.need.tally.share) for part in parts))
        error = error_words(errors[name], "rows" if chosen else "")
        if name in ranges:
            error = f"± {range_text(ranges[name])}"
        rows.append(PlanRow(name, error, " and ".join(mechanisms), counts))
    return tuple(rows)


def explanation(curator: Curator, fields: AskFields, unit: BudgetUnit) -> dict[str, Any]:
    """Explain the question of the form, or why it is refused; the budget left is shown in any case."""
    purse: BudgetBar | None = None
    try:
        purse = BudgetBar(curator.spent(), curator.left())
        ask = ask_of(fields, unit)
        found = curator.explain(ask.sql, **ask.terms.words())
    except DiscreetError as refusal:
        return explain_refusal(refusal, fields, purse)
    over = None
    if not found.fits and not found.stored:
        over = word_refusal("BudgetExceeded", _too_much(curator, ask, found))
    # A stored answer is free.
    if not found.stored:
        price = found.shown_price()
        purse = BudgetBar(purse.spent, purse.left, price.charged, str(price))
    curve = tradeoff(curator, ask, unit)
    return {
        "refusal": over,
        "explained": explained_of(found, curve),
        "purse": purse,
        "bar": left_bar(purse),
    }


def explain_refusal(
    refusal: DiscreetError, fields: AskFields, purse: BudgetBar | None = None
) -> dict[str, Any]:
    """Return the values of the fragment for a question that is refused."""
    words = refusal_of(refusal, fields.sql)
    return {
        "refusal": words,
        "explained": None,
        "purse": purse,
        "bar": "" if purse is None else left_bar(purse),
    }


def check_run(curator: Curator, ask: Ask, cells: int) -> None:
    """Refuse a question that public facts rule out, or that costs more than is left.

    Runs before a job is written.
    """
    check_ask(curator, ask, cells)
    found = curator.explain(ask.sql, **ask.terms.words())
    if not found.fits and not found.stored:
        raise BudgetExceeded(_too_much(curator, ask, found), asked=found.price, left=found.left)


def price_again(curator: Curator, ask: Ask, _cells: int) -> tuple[str, bool, bool]:
    """Return the price of a question as text, whether it is free, and whether it fits what is left."""
    found = curator.explain(ask.sql, **ask.terms.words())
    return str(found.shown_price()), bool(found.stored), bool(found.fits or found.stored)


def _too_much(curator: Curator, ask: Ask, found: Explanation) -> str:
    """Word the refusal of a price: cost, budget left, and the errors if all of it were spent."""
    least = f"it costs {found.shown_price()}, and {found.left} is left"
    affordable = replace(ask.terms, spend=found.left, error=None)
    try:
        fits = curator.explain(ask.sql, **affordable.words())
    except DiscreetError:
        # Nothing is left, or the question cannot be answered for what is.
        return f"{least}; ask your steward for more"
    if not fits.fits:
        return f"{least}; spend less, allow more error, or ask your steward for more"
    rows = [row for row in plan_rows(fits.plan) if row.name != "groups"]
    errors = ", ".join(f"{row.name} by {row.error}" for row in rows[:MAX_COLUMNS])
    return f"{least}; for {found.left} it would be off: {errors}; or ask your steward for more"
