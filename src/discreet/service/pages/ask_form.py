"""Form of the workbench: reads its fields into a question with terms, in the unit of the ledger's budget."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from ...answer.answer import DATA, POPULATION
from ...arithmetic.numeral import read_number
from ...data.columns.column import Category, Integer, Real
from ...data.schema import Schema
from ...errors import InvalidArgument
from ...frozen import frozen
from ...plan.asked.terms import ExactErrors, Terms
from ...privacy.measures import ZCDP, ApproxDP, GaussianDP, Measure, PureDP
from ...wire.verbs.question import Ask, read_ask

LARGEST = 10**12
DIGITS = ("1", "1.5", "2", "3", "5", "7")
STEPS = tuple(f"{float(digit) * 10.0**power:.6g}" for power in range(-4, 3) for digit in DIGITS)
"""Round amounts from 0.0001 to 700."""


@frozen
class BudgetUnit:
    """Measure that users spend in: its symbol, and the amounts on its slider (`steps`).

    `place` is the index in `steps` at which the slider starts. `delta` is the δ that a form proposes,
    a tenth of the budget's; "" where the budget has none.
    """

    symbol: str
    steps: tuple[str, ...]
    place: int
    delta: str

    def measure(self, amount: Fraction, delta: Fraction) -> Measure:
        """Return an amount of this unit as a measure."""
        match self.symbol:
            case "ρ":
                return ZCDP(amount)
            case "μ":
                return GaussianDP(amount)
            case _:
                return ApproxDP(amount, delta) if delta else PureDP(amount)


def unit_of(budget: Measure) -> BudgetUnit:
    """Return the unit of a ledger's budget; its steps are round numbers from 1/500 of it up.

    The slider starts near a tenth. For a Rényi budget the unit is ε, up to the largest ε of it.

    >>> import discreet as dp
    >>> from discreet.service.pages.ask_form import unit_of
    >>> unit_of(dp.PureDP(3)).steps[-1], unit_of(dp.ZCDP("1/2")).symbol, unit_of(dp.ApproxDP(3, "1e-6")).delta
    ('3', 'ρ', '1e-07')
    """
    match budget:
        case ZCDP(rho=amount):
            symbol, whole = "ρ", float(amount)
        case GaussianDP():
            symbol, whole = "μ", budget.mu
        case PureDP(epsilon=amount) | ApproxDP(epsilon=amount):
            symbol, whole = "ε", float(amount)
        case _:
            symbol, whole = "ε", max(float(epsilon) for _, epsilon in budget.orders)
    steps = tuple(step for step in STEPS if whole / 500 <= float(step) <= whole)
    if not steps:
        steps = (f"{whole:.3g}",)
    near = min(range(len(steps)), key=lambda place: abs(float(steps[place]) - whole / 10))
    delta = ""
    if isinstance(budget, ApproxDP) and budget.delta > 0:
        delta = f"{float(budget.delta) / 10:.1g}"
    return BudgetUnit(symbol, steps, near, delta)


@frozen
class AskFields:
    """Fields of the form as text; `mode` is `spend` or `error`."""

    sql: str
    mode: str
    spend: str
    delta: str
    error: str
    why: str
    nonnegative: bool
    population: bool = False


def read_fields(form: Mapping[str, str], unit: BudgetUnit, sql: str = "") -> AskFields:
    """Read the fields, with defaults for those that are missing."""
    return AskFields(
        sql=form.get("sql", sql).replace("\r\n", "\n"),
        mode="error" if form.get("mode") == "error" else "spend",
        spend=form.get("spend", unit.steps[unit.place]).strip(),
        delta=form.get("delta", unit.delta or "0").strip(),
        error=form.get("error", "").strip(),
        why=form.get("why", "").strip(),
        nonnegative=form.get("nonnegative") == "1",
        population=form.get("population") == "1",
    )


def ask_of(fields: AskFields, unit: BudgetUnit) -> Ask:
    """Read the question with its terms.

    >>> import discreet as dp
    >>> from discreet.service.pages.ask_form import ask_of, read_fields, unit_of
    >>> unit = unit_of(dp.PureDP(3))
    >>> ask_of(read_fields({"sql": "SELECT 1", "spend": "1/2"}, unit), unit).terms.spend
    PureDP(0.5)

    Refuses: numbers that are none, an empty question, no budget or error.
    """
    spend: Measure | None = None
    error: ExactErrors | None = None
    if fields.mode == "spend":
        spend = spend_of(fields.spend, fields.delta, unit)
    else:
        error = _errors(fields.error)
    terms = Terms(spend=spend, error=error, nonnegative=fields.nonnegative)
    of = POPULATION if fields.population else DATA
    return read_ask(Ask(fields.sql, terms, fields.why, of=of).to_json())


def spend_of(spend: str, delta: str, unit: BudgetUnit) -> Measure:
    """Read the spend of the form as a measure; refuses text that is no number above 0."""
    exact_delta = Fraction()
    if unit.delta:
        exact_delta = read_number(delta or "0", "δ to spend")
    return unit.measure(_positive(spend, f"{unit.symbol} to spend"), exact_delta)


def _positive(text: str, name: str) -> Fraction:
    found = read_number(text or "0", name)
    if not 0 < found <= LARGEST:
        raise InvalidArgument(f"{name} must be above 0 and at most 10^12; write 0.5 or 1/20")
    return found


def _errors(text: str) -> ExactErrors:
    """Read one number, or several by name.

    >>> from discreet.service.pages.ask_form import _errors
    >>> _errors("50"), _errors("n = 50, income: 1/2")
    (Fraction(50, 1), {'n': Fraction(50, 1), 'income': Fraction(1, 2)})
    """
    if not text:
        raise InvalidArgument("say how far off it may be; write 50, or n = 50, income = 500")
    pairs = [part.replace(":", "=").partition("=") for part in text.split(",") if part.strip()]
    if len(pairs) == 1 and not pairs[0][1]:
        return _positive(pairs[0][0].strip(), "the error")
    return {
        name.strip(): _positive(value.strip(), f"the error of {name.strip()}")
        for name, _, value in pairs
    }


def examples_of(schemas: tuple[Schema, ...]) -> tuple[tuple[str, str], ...]:
    """Write a few questions that the first private table can answer; the first one stands in the editor."""
    table = next((schema for schema in schemas if not schema.public), schemas[0])
    keys = [name for name, column in table.declared if isinstance(column, Category)]
    numbers = [name for name, column in table.declared if isinstance(column, Integer | Real)]
    by = keys[0] if keys else None
    name = table.name
    found = [("How many there are", f"SELECT COUNT(*) AS n\nFROM {name}")]
    if by:
        counted = f"SELECT {by}, COUNT(*) AS n\nFROM {name}\nGROUP BY {by}"
        found = [(f"How many, by {by}", counted), *found]
    if numbers:
        found.append(
            (f"Median {numbers[0]}", f"SELECT MEDIAN({numbers[0]}) AS median\nFROM {name}")
        )
    if numbers and by:
        reals = [name for name, kind in table.declared if isinstance(kind, Real)]
        column = reals[0] if reals else numbers[-1]
        statistics = f"SELECT {by}, COUNT(*) AS n, AVG({column}) AS mean"
        mean = f"{statistics}\nFROM {name}\nGROUP BY {by}\nORDER BY mean DESC"
        found.insert(1, (f"Mean {column}, by {by}", mean))
    return tuple(found)
