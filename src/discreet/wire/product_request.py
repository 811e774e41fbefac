"""What may be made over the line beside answers: models, synthetic tables, suggested bounds and caps.

One definition of each request, by which it is read and described, as in `request`.
"""

from __future__ import annotations

from ..arithmetic.rational import Number
from ..frozen import field, frozen, replace
from ..learn.estimator import Estimator
from ..privacy.budget_text import budget_to_words
from ..privacy.measures import Measure
from ..synthetic.request import SynthesisWords
from .models import MODEL, model_to_words
from .record import Record, Slot
from .request import EXAMPLE, LONGEST_NAME, LONGEST_SQL, MOST_NAMES, SIZE, SPEND, SQL, WHY
from .shape import NUMBER, choice, listing, mapping, one_or_list, refer, text, whole

_NAME = text(LONGEST_NAME)
_COLUMNS = listing(_NAME, "names of columns", least=1, most=MOST_NAMES)
PAID: Slot[Measure] = Slot("spend", SPEND.shape)
MODEL_SLOT: Slot[Estimator] = Slot("model", refer("Model", MODEL))
ROWS_ABOUT = Slot("n", whole(10**12))
TABLE = Slot("table", text(LONGEST_SQL, blank=False, examples=("people", EXAMPLE)))
COLUMN = Slot("column", text(LONGEST_NAME, blank=False))
COLUMNS = Slot("columns", _COLUMNS, required=False, null=True)
_PAIR = listing(_NAME, "one or two names of columns", least=1, most=2)
_SETS = listing(_PAIR, "sets of columns", least=1, most=1000)
WORKLOAD: Slot[str | list[list[str]]] = Slot(
    "workload", one_or_list(choice("pairs", "ones"), _SETS), required=False, default="pairs"
)
BINS = Slot(
    "bins", mapping(whole(1000), "columns to numbers of bins", most=MOST_NAMES, longest=LONGEST_NAME),
    required=False, null=True,
)  # fmt: skip
TAIL = Slot("tail", refer("Number", NUMBER), required=False, null=True)

_ROWS = "SELECT age, region, income FROM people"
_LEARNS: dict[str, object] = {
    "sql": _ROWS,
    "model": {"kind": "LinearRegression", "target": "income"},
    "spend": {"epsilon": "1", "delta": "1e-6"},
}
LEARN = Record((SQL, MODEL_SLOT, PAID, WHY), example=_LEARNS | {"why": "incomes"})
TRAINING = Record((SQL, MODEL_SLOT, PAID, ROWS_ABOUT), example=_LEARNS | {"n": 10_000})
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
UP_TO = Slot("up_to", whole(1_000_000))
OF = Slot("of", text(LONGEST_NAME, blank=False), required=False, null=True)
CUT = Record(
    (TABLE, PAID, UP_TO, OF, replace(WHY, default="estimate cut")),
    example={"table": "visits", "spend": {"epsilon": "1/10"}, "up_to": 100},
)


@frozen
class LearnRequest:
    """A model to be trained on the rows of a SELECT; `n` is about how many there are, to explain it."""

    sql: str
    model: Estimator = field(hash=False)
    spend: Measure
    why: str = ""
    n: int | None = None

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_learn` reads it back."""
        asked = {
            "sql": self.sql,
            "model": model_to_words(self.model),
            "spend": budget_to_words(self.spend),
        }
        return {**asked, **({"why": self.why} if self.n is None else {"n": self.n})}


@frozen
class SynthesisRequest:
    """Columns of a table, or of the rows of a SELECT, to make synthetic records of."""

    table: str
    spend: Measure
    words: SynthesisWords = field(hash=False)
    why: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_synthesis` reads it back."""
        words = {name: _plain(value) for name, value in self.words.items() if value is not None}
        return {"table": self.table, "spend": budget_to_words(self.spend), **words, "why": self.why}


def _plain(value: object) -> object:
    """Return words as JSON has them: sets and tuples are lists there."""
    if isinstance(value, dict):
        return value
    return (
        [_plain(one) for one in value]
        if isinstance(value, list | tuple | set | frozenset)
        else value
    )


@frozen
class BoundsRequest:
    """A column of which bounds are to be suggested."""

    table: str
    column: str
    spend: Measure
    tail: Number | None = None
    why: str = "suggest bounds"

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_bounds` reads it back."""
        tail = {} if self.tail is None else {"tail": str(self.tail)}
        asked = {"table": self.table, "column": self.column, "spend": budget_to_words(self.spend)}
        return {**asked, **tail, "why": self.why}


@frozen
class CapsRequest:
    """A table of which a cap on one person's rows is to be suggested."""

    table: str
    spend: Measure
    why: str = "suggest caps"

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_caps` reads it back."""
        return {"table": self.table, "spend": budget_to_words(self.spend), "why": self.why}


@frozen
class TruncationRequest:
    """A table of which is to be told what the cap on one person's rows cuts off, perhaps also of a column's sum."""

    table: str
    spend: Measure
    up_to: int
    of: str | None = None
    why: str = "estimate cut"

    def to_json(self) -> dict[str, object]:
        """Return the request as plain JSON; `read_truncation` reads it back."""
        of = {} if self.of is None else {"of": self.of}
        asked = {"table": self.table, "spend": budget_to_words(self.spend), "up_to": self.up_to}
        return {**asked, **of, "why": self.why}


def read_learn(body: object, *, explained: bool = False) -> LearnRequest:
    """Read a model to be trained from JSON; `explained`: one that is only asked about.

    >>> from discreet.wire.product_request import LEARN, read_learn
    >>> read_learn(LEARN.example).model
    LinearRegression(target='income')

    Refuses unknown words, and numbers for which a training would not end or would fail after it was paid for.
    """
    found = (TRAINING if explained else LEARN).read(body)
    about = ROWS_ABOUT.of(found) if explained else None
    return LearnRequest(
        SQL.of(found), MODEL_SLOT.of(found), PAID.of(found), WHY.of(found) or "", about
    )


def read_synthesis(body: object) -> SynthesisRequest:
    """Read what is to be made of a table from JSON."""
    found = SYNTHESIZE.read(body)
    words = SynthesisWords(
        columns=COLUMNS.of(found),
        workload=WORKLOAD.of(found),
        bins=BINS.of(found),
        size=SIZE.of(found),
    )
    return SynthesisRequest(TABLE.of(found), PAID.of(found), words, WHY.of(found))


def read_bounds(body: object) -> BoundsRequest:
    """Read a column of which bounds are to be suggested from JSON."""
    found = BOUNDS.read(body)
    why = str(found.get("why", "suggest bounds"))
    return BoundsRequest(TABLE.of(found), COLUMN.of(found), PAID.of(found), TAIL.of(found), why)


def read_caps(body: object) -> CapsRequest:
    """Read a table of which caps are to be suggested from JSON."""
    found = CAPS.read(body)
    return CapsRequest(TABLE.of(found), PAID.of(found), str(found.get("why", "suggest caps")))


def read_truncation(body: object) -> TruncationRequest:
    """Read a table of which is to be told what its cap cuts off from JSON."""
    found = CUT.read(body)
    why = str(found.get("why", "estimate cut"))
    return TruncationRequest(TABLE.of(found), PAID.of(found), UP_TO.of(found), OF.of(found), why)
