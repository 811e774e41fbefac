"""Requests for products other than answers: models, synthetic tables, suggested bounds and caps.

Each request has one definition, which its reader and its JSON Schema share, as in `request`.
"""

from __future__ import annotations

from ..arithmetic.rational import Number
from ..frozen import field, frozen, replace
from ..json_shape import (
    NUMBER,
    JsonField,
    Record,
    choice,
    listing,
    mapping,
    one_or_list,
    positive_integer,
    refer,
    text,
)
from ..learn.estimator import Estimator
from ..privacy.budget_text import budget_to_table
from ..privacy.measures import Measure
from ..synthetic.request import SynthesisWords
from .models import MODEL, model_to_json
from .request import EXAMPLE, MAX_NAME_LENGTH, MAX_NAMES, MAX_SQL_LENGTH, SIZE, SPEND, SQL, WHY

_NAME = text(MAX_NAME_LENGTH)
_COLUMNS = listing(_NAME, "names of columns", least=1, most=MAX_NAMES)
PAID: JsonField[Measure] = JsonField("spend", SPEND.shape)
MODEL_SLOT: JsonField[Estimator] = JsonField("model", refer("Model", MODEL))
ROWS_ABOUT = JsonField("n", positive_integer(10**12))
TABLE = JsonField("table", text(MAX_SQL_LENGTH, blank=False, examples=("people", EXAMPLE)))
COLUMN = JsonField("column", text(MAX_NAME_LENGTH, blank=False))
COLUMNS = JsonField("columns", _COLUMNS, required=False, null=True)
_PAIR = listing(_NAME, "one or two names of columns", least=1, most=2)
_SETS = listing(_PAIR, "sets of columns", least=1, most=1000)
WORKLOAD: JsonField[str | list[list[str]]] = JsonField(
    "workload", one_or_list(choice("pairs", "ones"), _SETS), required=False, default="pairs"
)
_BIN_COUNTS = mapping(
    positive_integer(1000), "columns to numbers of bins", most=MAX_NAMES, longest=MAX_NAME_LENGTH
)
BINS = JsonField("bins", _BIN_COUNTS, required=False, null=True)
TAIL = JsonField("tail", refer("Number", NUMBER), required=False, null=True)

_SELECT = "SELECT age, region, income FROM people"
_LEARN_EXAMPLE: dict[str, object] = {
    "sql": _SELECT,
    "model": {"kind": "LinearRegression", "target": "income"},
    "spend": {"epsilon": "1", "delta": "1e-6"},
}
LEARN = Record((SQL, MODEL_SLOT, PAID, WHY), example=_LEARN_EXAMPLE | {"why": "incomes"})
TRAINING = Record((SQL, MODEL_SLOT, PAID, ROWS_ABOUT), example=_LEARN_EXAMPLE | {"n": 10_000})
SYNTHESIZE = Record(
    (TABLE, PAID, COLUMNS, WORKLOAD, BINS, SIZE, WHY),
    example={
        "table": "people",
        "spend": {"rho": "1/8"},
        "columns": ["age", "region"],
        "bins": {"age": 12},
    },
)
BOUNDS = Record(
    (TABLE, COLUMN, PAID, TAIL, replace(WHY, default="suggest bounds")),
    example={"table": "people", "column": "income", "spend": {"epsilon": "1/10"}, "tail": "1/100"},
)
CAPS = Record(
    (TABLE, PAID, replace(WHY, default="suggest caps")),
    example={"table": "visits", "spend": {"epsilon": "1/10"}},
)
UP_TO = JsonField("up_to", positive_integer(1_000_000))
OF = JsonField("of", text(MAX_NAME_LENGTH, blank=False), required=False, null=True)
TRUNCATION = Record(
    (TABLE, PAID, UP_TO, OF, replace(WHY, default="estimate cut")),
    example={"table": "visits", "spend": {"epsilon": "1/10"}, "up_to": 100},
)


@frozen
class LearnRequest:
    """Model to be trained on the rows of a SELECT; `n` is a rough number of rows, to explain."""

    sql: str
    model: Estimator = field(hash=False)
    spend: Measure
    why: str = ""
    n: int | None = None

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_learn` reads it back."""
        fields: dict[str, object] = {
            "sql": self.sql,
            "model": model_to_json(self.model),
            "spend": budget_to_table(self.spend),
        }
        # A training that is only explained has a number of rows and no reason.
        if self.n is None:
            fields["why"] = self.why
        else:
            fields["n"] = self.n
        return fields


@frozen
class SynthesisRequest:
    """Request for synthetic records of columns of a table or of a SELECT."""

    table: str
    spend: Measure
    words: SynthesisWords = field(hash=False)
    why: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_synthesis` reads it back."""
        fields: dict[str, object] = {"table": self.table, "spend": budget_to_table(self.spend)}
        for name, value in self.words.items():
            if value is not None:
                fields[name] = _plain(value)
        fields["why"] = self.why
        return fields


def _plain(value: object) -> object:
    """Return an option as JSON has it: sets and tuples become lists."""
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(inner) for inner in value]
    return value


@frozen
class BoundsRequest:
    """Request to suggest the bounds of a column."""

    table: str
    column: str
    spend: Measure
    tail: Number | None = None
    why: str = "suggest bounds"

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_bounds` reads it back."""
        fields: dict[str, object] = {"table": self.table, "column": self.column}
        fields["spend"] = budget_to_table(self.spend)
        if self.tail is not None:
            fields["tail"] = str(self.tail)
        fields["why"] = self.why
        return fields


@frozen
class CapsRequest:
    """Request to suggest a cap on one person's rows (contribution bounding)."""

    table: str
    spend: Measure
    why: str = "suggest caps"

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_caps` reads it back."""
        return {"table": self.table, "spend": budget_to_table(self.spend), "why": self.why}


@frozen
class TruncationRequest:
    """Request to estimate the truncation by the cap on one person's rows.

    `of` names a column of which the truncated sum is estimated too.
    """

    table: str
    spend: Measure
    up_to: int
    of: str | None = None
    why: str = "estimate cut"

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_truncation` reads it back."""
        fields: dict[str, object] = {"table": self.table, "spend": budget_to_table(self.spend)}
        fields["up_to"] = self.up_to
        if self.of is not None:
            fields["of"] = self.of
        fields["why"] = self.why
        return fields


def read_learn(body: object, *, explained: bool = False) -> LearnRequest:
    """Read a model to be trained from JSON; `explained` if its training is only explained.

    >>> from discreet.wire.product_request import LEARN, read_learn
    >>> read_learn(LEARN.example).model
    LinearRegression(target='income')

    Refuses: unknown fields, and numbers for which a training would not end or would fail after its
    charge, by `InvalidArgument`.
    """
    if explained:
        fields = TRAINING.read(body)
        rows = ROWS_ABOUT.of(fields)
    else:
        fields = LEARN.read(body)
        rows = None
    sql = SQL.of(fields)
    why = WHY.of(fields) or ""
    return LearnRequest(sql, MODEL_SLOT.of(fields), PAID.of(fields), why, rows)


def read_synthesis(body: object) -> SynthesisRequest:
    """Read a request for synthetic records from JSON."""
    fields = SYNTHESIZE.read(body)
    options = SynthesisWords(
        columns=COLUMNS.of(fields),
        workload=WORKLOAD.of(fields),
        bins=BINS.of(fields),
        size=SIZE.of(fields),
    )
    return SynthesisRequest(TABLE.of(fields), PAID.of(fields), options, WHY.of(fields))


def read_bounds(body: object) -> BoundsRequest:
    """Read a request to suggest bounds from JSON."""
    fields = BOUNDS.read(body)
    table = TABLE.of(fields)
    # `WHY.of` would give its own default: each request here has another.
    why = str(fields.get("why", "suggest bounds"))
    return BoundsRequest(table, COLUMN.of(fields), PAID.of(fields), TAIL.of(fields), why)


def read_caps(body: object) -> CapsRequest:
    """Read a request to suggest caps from JSON."""
    fields = CAPS.read(body)
    why = str(fields.get("why", "suggest caps"))
    return CapsRequest(TABLE.of(fields), PAID.of(fields), why)


def read_truncation(body: object) -> TruncationRequest:
    """Read a request to estimate a truncation from JSON."""
    fields = TRUNCATION.read(body)
    table = TABLE.of(fields)
    why = str(fields.get("why", "estimate cut"))
    return TruncationRequest(table, PAID.of(fields), UP_TO.of(fields), OF.of(fields), why)
