"""Forms of synthetic tables and models: read their fields into the request that the API accepts."""

from __future__ import annotations

from collections.abc import Mapping

from ....arithmetic.rational import whole
from ....data.columns.column import Text
from ....data.schema import Schema
from ....data.unit import People
from ....errors import InvalidArgument
from ....frozen import frozen
from ....privacy.budget_text import budget_to_table
from ....privacy.measures import ApproxDP, Measure
from ..ask_form import BudgetUnit, spend_of, unit_of

FIRST_COLUMNS = 6
SUPPOSED_ROWS = 10_000
KINDS = {
    "LinearRegression": "a number, linear in the others",
    "AdditiveRegressor": "a number, as a sum of effects",
    "QuantileRegression": "the median of a number",
    "LogisticRegression": "a class, linear in the others",
    "AdditiveClassifier": "a class, as a sum of effects",
    "CategoricalNB": "a class, columns taken as independent, in bins",
    "GaussianNB": "a class, columns taken as independent, bell-shaped",
    "NearestCentroid": "a class, for few rows and many columns",
    "KMeans": "groups of rows that are alike",
    "PCA": "the directions in which rows differ",
}
"""The models that a service trains, and what each is for."""
COUNTED = {"KMeans": "n_clusters", "PCA": "n_components"}
UNAIMED = tuple(COUNTED)
"""Models that predict no column."""


@frozen
class ProductFields:
    """What stands in the form, as text; `columns` are those ticked, `select` rows to take instead of a table."""

    table: str
    columns: tuple[str, ...]
    select: str
    spend: str
    delta: str
    why: str
    workload: str
    bins: str
    kind: str
    target: str
    count: str
    size: str


def default_delta(budget: Measure) -> str:
    """Return a tenth of a budget's δ, where it has one.

    >>> import discreet as dp
    >>> from discreet.service.pages.products.form import default_delta
    >>> default_delta(dp.ApproxDP(3, "1e-6")), default_delta(dp.ZCDP(1))
    ('1e-07', '0')
    """
    return (
        f"{float(budget.delta) / 10:.1g}"
        if isinstance(budget, ApproxDP) and budget.delta > 0
        else "0"
    )


def read_make(
    form: Mapping[str, str], schemas: tuple[Schema, ...], budget: Measure
) -> ProductFields:
    """Read the fields, with defaults on the first visit: the first private table and a few of its columns.

    Refuses a table that is not there.
    """
    private = [one for one in schemas if not one.public]
    if not private:
        raise InvalidArgument(
            "all tables here are public: there is nothing to hide; copy their rows"
        )
    schema = next((one for one in private if one.name == form.get("table", private[0].name)), None)
    if schema is None:
        raise InvalidArgument(f"choose one of the tables {', '.join(one.name for one in private)}")
    usable, unit = usable_columns(schema), unit_of(budget)
    ticked = tuple(name for name in usable if form.get(f"column {name}"))
    return ProductFields(
        table=schema.name,
        columns=ticked if form.get("sent") else usable[:FIRST_COLUMNS],
        select=form.get("select", "").replace("\r\n", "\n").strip(),
        spend=form.get("spend", unit.steps[unit.place]).strip(),
        delta=form.get("delta", default_delta(budget)).strip(),
        why=form.get("why", "").strip(),
        workload="ones" if form.get("workload") == "ones" else "pairs",
        bins=form.get("bins", "").strip(),
        kind=form.get("kind", "LinearRegression"),
        target=form.get("target", usable[min(1, len(usable) - 1)] if usable else "").strip(),
        count=form.get("count", "").strip(),
        size=str(schema.size or SUPPOSED_ROWS),
    )


def usable_columns(schema: Schema) -> tuple[str, ...]:
    """Return the columns of which something can be made: all but free text and who a row is about."""
    own = schema.unit.id if isinstance(schema.unit, People) else ""
    return tuple(
        name for name, column in schema.declared if not isinstance(column, Text) and name != own
    )


def synthesis_words(fields: ProductFields, unit: BudgetUnit) -> dict[str, object]:
    """Return the request for synthetic tables, as JSON has it."""
    if not fields.select and not fields.columns:
        raise InvalidArgument("choose at least one column")
    words: dict[str, object] = {
        "table": fields.select or fields.table,
        "workload": fields.workload,
        "why": fields.why,
    }
    words |= {} if fields.select else {"columns": list(fields.columns)}
    words |= {"bins": _bins(fields.bins)} if fields.bins else {}
    return {**words, "spend": budget_to_table(spend_of(fields.spend, fields.delta, unit))}


def model_words(fields: ProductFields, unit: BudgetUnit) -> dict[str, object]:
    """Return the request for a model, as JSON has it; without a SELECT of its own it learns from the ticked columns."""
    aimed = fields.kind not in UNAIMED
    if aimed and not fields.target:
        raise InvalidArgument("choose the column that the model predicts")
    others = [name for name in fields.columns if not aimed or name != fields.target]
    if not fields.select and not others:
        raise InvalidArgument("choose at least one column to learn from, beside what is predicted")
    listed = ", ".join([*others, *([fields.target] if aimed else [])])
    sql = fields.select or f"SELECT {listed} FROM {fields.table}"  # noqa: S608 - read by our own parser, never a store
    model: dict[str, object] = {"kind": fields.kind, **({"target": fields.target} if aimed else {})}
    if fields.count and fields.kind in COUNTED:
        model[COUNTED[fields.kind]] = _whole(fields.count, "how many of them")
    spend = budget_to_table(spend_of(fields.spend, fields.delta, unit))
    return {"sql": sql, "model": model, "spend": spend, "why": fields.why}


def _bins(text: str) -> dict[str, int]:
    """Read how many bins each column has.

    >>> from discreet.service.pages.products.form import _bins
    >>> _bins("age = 12, income: 20")
    {'age': 12, 'income': 20}
    """
    pairs = [part.replace(":", "=").partition("=") for part in text.split(",") if part.strip()]
    return {
        name.strip(): _whole(count.strip(), f"bins of {name.strip()}") for name, _, count in pairs
    }


def _whole(text: str, name: str) -> int:
    if not text.isdecimal() or len(text) > 6:
        raise InvalidArgument(f"{name} must be a whole number; write age = 12, or leave it out")
    return whole(int(text), name, least=1)
