"""Form of a synthetic table or model: its fields, the request that they make, and a preview of its cost and error.

The previews run in a planning worker process, so nothing here imports the HTTP framework.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....arithmetic.rational import whole
from ....curator import Curator
from ....curator.verbs.learn import charge_order_of, plan_training
from ....curator.verbs.synthesize import plan_synthesis_of
from ....data.columns.column import Boolean, Category, Integer, Real, Text
from ....data.schema import Schema
from ....data.unit import People
from ....errors import BudgetExceeded, InvalidArgument
from ....frozen import frozen
from ....ledger.charge_order import ChargeOrder
from ....privacy.budget_text import budget_to_table
from ....privacy.measures import Measure
from ....wire.verb import check_count
from ....wire.verbs.synthesis import SynthesisRequest, synthesis_plan_reply
from ....wire.verbs.training import LearnRequest
from ..ask_form import BudgetUnit, spend_of, unit_of
from ..charts.amount import BudgetBar

FIRST_COLUMNS = 6
SUPPOSED_ROWS = 10_000
NUMBER_KINDS = {
    "LinearRegression": "a number, linear in the others",
    "AdditiveRegressor": "a number, as a sum of effects",
    "QuantileRegression": "the median of a number",
}
CLASS_KINDS = {
    "LogisticRegression": "a class, linear in the others",
    "AdditiveClassifier": "a class, as a sum of effects",
    "CategoricalNB": "a class, columns taken as independent, in bins",
    "GaussianNB": "a class, columns taken as independent, bell-shaped",
    "NearestCentroid": "a class, for few rows and many columns",
}
GROUP_KINDS = {
    "KMeans": "groups of rows that are alike",
    "PCA": "the directions in which rows differ",
}
"""Models that predict no column."""

KINDS = NUMBER_KINDS | CLASS_KINDS | GROUP_KINDS
"""Models that a service trains, and the purpose of each."""

COUNTED = {"KMeans": "n_clusters", "PCA": "n_components"}
"""Models with a number of clusters or components, and the parameter with that number."""

FAINT_SIGNAL = 1.0
"""Ratio of signal to noise below which a model is not worth its price."""


@frozen
class ProductFields:
    """Fields of the form as text.

    `columns` are those ticked, `select` is a SELECT in place of table and columns, `kind`, `target`
    and `count` are of a model, `workload` and `bins` of synthetic tables. `size` is the declared
    number of rows or a supposed one, for the preview.
    """

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


def read_make(
    form: Mapping[str, str], schemas: tuple[Schema, ...], budget: Measure
) -> ProductFields:
    """Read the fields, with defaults on the first visit: the first private table and a few of its columns.

    Refuses: a table that is not there, and a data set whose tables are all public.
    """
    private = {schema.name: schema for schema in schemas if not schema.public}
    if not private:
        raise InvalidArgument(
            "all tables here are public: there is nothing to hide; copy their rows"
        )
    table = form.get("table", next(iter(private)))
    if table not in private:
        raise InvalidArgument(f"choose one of the tables {', '.join(private)}")
    usable = usable_columns(private[table])
    unit = unit_of(budget)
    columns = usable[:FIRST_COLUMNS]
    if form.get("sent"):
        columns = tuple(name for name in usable if form.get(f"column {name}"))

    def field(name: str, default: str = "") -> str:
        return form.get(name, default).strip()

    fitting = target_columns(private[table])
    # First offered is a number with a fraction, such as an income: the commonest thing to predict.
    offered = fitting["reals"] + fitting["numbers"] + fitting["classes"]
    target = field("target", next(iter(offered), ""))
    if field("select"):
        target = field("row_target", target)
    return ProductFields(
        table=table,
        columns=columns,
        select=field("select").replace("\r\n", "\n"),
        spend=field("spend", unit.steps[unit.place]),
        delta=field("delta", unit.delta or "0"),
        why=field("why"),
        workload="ones" if form.get("workload") == "ones" else "pairs",
        bins=field("bins"),
        kind=_kind_of(form, target, fitting),
        target=target,
        count=field("count"),
        size=str(private[table].size or SUPPOSED_ROWS),
    )


def usable_columns(schema: Schema) -> tuple[str, ...]:
    """Return the columns that a model or a synthetic table can use: all but free text and the person's id."""
    person = schema.unit.id if isinstance(schema.unit, People) else ""
    return tuple(
        name for name, column in schema.declared if not isinstance(column, Text) and name != person
    )


def target_columns(schema: Schema) -> dict[str, tuple[str, ...]]:
    """Return the columns that a model can predict: `numbers` with bounds, `reals` among them, `classes`."""
    # Numbers need bounds and classes need a list: both follow from the declared type.
    kinds = {name: schema.columns[name] for name in usable_columns(schema)}
    return {
        "numbers": tuple(name for name, kind in kinds.items() if isinstance(kind, Integer | Real)),
        "reals": tuple(name for name, kind in kinds.items() if isinstance(kind, Real)),
        "classes": tuple(
            name for name, kind in kinds.items() if isinstance(kind, Category | Boolean)
        ),
    }


def _kind_of(form: Mapping[str, str], target: str, fitting: Mapping[str, tuple[str, ...]]) -> str:
    """Return the kind of model: with a SELECT `row_kind`, else `kind`, else that for the target."""
    if form.get("select", "").strip() and "row_kind" in form:
        return form["row_kind"]
    if "kind" in form:
        return form["kind"]
    # Without a target nothing is predicted: groups or directions are looked for.
    if not target:
        return form.get("group_kind", next(iter(GROUP_KINDS)))
    if target in fitting["classes"]:
        return form.get("class_kind", next(iter(CLASS_KINDS)))
    return form.get("number_kind", next(iter(NUMBER_KINDS)))


def synthesis_words(fields: ProductFields, unit: BudgetUnit) -> dict[str, object]:
    """Return the request for synthetic tables in its JSON form; refuses a form without columns."""
    if not fields.select and not fields.columns:
        raise InvalidArgument("choose at least one column")
    words: dict[str, object] = {
        "table": fields.select or fields.table,
        "workload": fields.workload,
        "why": fields.why,
    }
    if not fields.select:
        words["columns"] = list(fields.columns)
    if fields.bins:
        words["bins"] = _bins(fields.bins)
    words["spend"] = budget_to_table(spend_of(fields.spend, fields.delta, unit))
    return words


def model_words(fields: ProductFields, unit: BudgetUnit) -> dict[str, object]:
    """Return the request for a model in its JSON form.

    Without a SELECT the model learns from the ticked columns. Refuses: no target for a model that
    predicts one, and no column to learn from.
    """
    model: dict[str, object] = {"kind": fields.kind}
    columns = list(fields.columns)
    if fields.kind not in GROUP_KINDS:
        if not fields.target:
            raise InvalidArgument("choose the column that the model predicts")
        model["target"] = fields.target
        columns = [name for name in columns if name != fields.target]
    if not fields.select and not columns:
        raise InvalidArgument("choose at least one column to learn from, beside what is predicted")
    if "target" in model:
        columns.append(fields.target)
    # The text is read by our own parser and never reaches a store.
    sql = fields.select or f"SELECT {', '.join(columns)} FROM {fields.table}"  # noqa: S608
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
    bins = {}
    for part in text.split(","):
        if part.strip():
            name, _, count = part.replace(":", "=").partition("=")
            bins[name.strip()] = _whole(count.strip(), f"bins of {name.strip()}")
    return bins


def _whole(text: str, name: str) -> int:
    if not text.isdecimal() or len(text) > 6:
        raise InvalidArgument(f"{name} must be a whole number; write age = 12, or leave it out")
    return whole(int(text), name, least=1)


@frozen
class Preview:
    """Plan as text with its cost before a product is made.

    `stored`: it was paid before and is free. `fits`: the cost is within what is left. `warning`
    says that noise hides the result, "" otherwise.
    """

    text: str
    warning: str
    purse: BudgetBar
    fits: bool
    stored: bool

    def check(self) -> None:
        """Refuse a cost that does not fit into what is left."""
        if self.fits or self.stored:
            return
        price = self.purse.price
        left = self.purse.left
        message = f"it costs {price}, and {left} is left; spend less, or ask your steward for more"
        raise BudgetExceeded(message, asked=self.purse.asked, left=left)


def weigh_synthesis(curator: Curator, asked: SynthesisRequest, _rows: int, cells: int) -> Preview:
    """Preview synthetic tables: measured tables, cost and error.

    Refuses: requests that the API refuses from public facts alone, such as more than `cells`
    numbers.
    """
    made = plan_synthesis_of(curator.context.planner, asked.table, asked.spend, asked.words)
    reply = synthesis_plan_reply(made.plan)
    check_count(int(str(reply["numbers"])), cells)
    warning = ""
    if made.plan.hopeless:
        warning = "noise hides these tables: spend more, or use fewer columns"
    order = charge_order_of(curator, made.facts, made.plan.event, "")
    return _weigh(curator, order, asked.spend, str(reply["text"]), warning)


def weigh_model(curator: Curator, asked: LearnRequest, rows: int, cells: int) -> Preview:
    """Preview a model: releases, cost and error of training it on about `rows` rows.

    Refuses: requests that the API refuses from public facts alone, such as a release of more than
    `cells` numbers.
    """
    course = plan_training(curator.context.planner, asked.sql, asked.model, asked.spend)
    check_count(max(release.noise.dimension or 1 for release in course.training.releases), cells)
    event = course.training.event
    explained = course.explain(rows)
    warning = ""
    if explained.signal < FAINT_SIGNAL:
        warning = "noise hides this model: spend more, or use fewer columns"
    order = charge_order_of(curator, course.facts, event, "")
    return _weigh(curator, order, course.training.spend, str(explained), warning)


def _weigh(
    curator: Curator, order: ChargeOrder, spend: Measure, text: str, warning: str
) -> Preview:
    """Return a preview with the price of a charge; without a price if its answer is stored."""
    ledger = curator.ledger
    event = order.event
    known = ledger.find(order)
    stored = known is not None and known.body is not None
    purse = BudgetBar(curator.spent(), curator.left())
    # A stored answer is free, so there is nothing to draw for it.
    if not stored:
        price = ledger.shown_price(event, spend)
        purse = BudgetBar(purse.spent, purse.left, price.charged, str(price))
    return Preview(text, warning, purse, ledger.admits(event, who=curator.who), stored)
