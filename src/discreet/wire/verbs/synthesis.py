"""Verbs about synthetic data: synthesize, which is charged, and plan_synthesis, which is free.

The service releases noisy marginals. Clients make records from them for free (post-processing).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...frozen import field, frozen
from ...json_shape import (
    FLAG,
    JsonObject,
    Record,
    anything,
    choice,
    listing,
    mapping,
    one_or_list,
    optional,
    positive_integer,
    text,
)
from ...privacy.budget_text import budget_to_table
from ...privacy.measures import Measure
from ...synthetic.request import SynthesisWords, WorkloadWords
from ...synthetic.stored import measured_to_json
from ..fields import (
    BUDGET_REFERENCE,
    COLUMN_NAMES,
    MAX_NAME_LENGTH,
    MAX_NAMES,
    PAID,
    SIZE,
    TABLE,
    WHY,
)
from ..verb import ReplyFormat, Request, RequestFormat, Verb, check_count

if TYPE_CHECKING:
    from ...curator import Curator
    from ...synthetic.plan import SyntheticPlan

_TEXT = text()
_COLUMNS = optional("columns", COLUMN_NAMES, null=True)
_PAIR = listing(text(MAX_NAME_LENGTH), "one or two names of columns", least=1, most=2)
_SETS = listing(_PAIR, "sets of columns", least=1, most=1000)
_WORKLOAD = optional("workload", one_or_list(choice("pairs", "ones"), _SETS))
_BIN_COUNTS = mapping(
    positive_integer(1000), "columns to numbers of bins", most=MAX_NAMES, longest=MAX_NAME_LENGTH
)
_BINS = optional("bins", _BIN_COUNTS, null=True)
_TARGET = optional("target", text(MAX_NAME_LENGTH), null=True)


@frozen
class SynthesisRequest(Request):
    """Request for the noisy tables from which records of a table or SELECT are made.

    `words` are options: columns, workload, bins, size and target.
    """

    table: str
    spend: Measure
    words: SynthesisWords = field(hash=False)
    why: str = ""

    def arguments(self) -> JsonObject:
        """Return the arguments, the options as fields of their own."""
        return {"table": self.table, "spend": self.spend, **self.words, "why": self.why}


def _make(
    table: str,
    spend: Measure,
    why: str = "",
    workload: WorkloadWords = "pairs",
    **options: Any,  # noqa: ANN401 columns, bins, size and target: None unless given
) -> SynthesisRequest:
    """Make a request from the fields that were sent; `options` that are missing are None."""
    words = SynthesisWords(
        columns=options.get("columns"),
        workload=workload,
        bins=options.get("bins"),
        size=options.get("size"),
        target=options.get("target"),
    )
    return SynthesisRequest(table, spend, words, why)


SYNTHESIZE = RequestFormat(
    "SynthesisRequest",
    Record(
        (TABLE, PAID, _COLUMNS, _WORKLOAD, _BINS, SIZE, _TARGET, WHY),
        example={
            "table": "people",
            "spend": {"rho": "1/8"},
            "columns": ["age", "region"],
            "bins": {"age": 12},
        },
    ),
    _make,
)


def read_synthesis(body: object) -> SynthesisRequest:
    """Read a request for synthetic records from JSON."""
    return SYNTHESIZE.read(body)


def _plan_synthesis(curator: Curator, asked: SynthesisRequest, max_cells: int) -> JsonObject:
    """Plan the tables to be measured: the reply of `plan_synthesis`, the check of `synthesize`."""
    found = curator.plan_synthesis(asked.table, asked.spend, **asked.words)
    # Refused as the charge would be: an event that the ledger cannot price.
    curator.ledger.price(found.event)
    planned = synthesis_plan_reply(found)
    numbers = int(str(planned["numbers"]))
    check_count(numbers, max_cells)
    return planned


def _synthesize(curator: Curator, asked: SynthesisRequest) -> JsonObject:
    """Release synthetic tables, charged, and return them with their receipt."""
    made = curator.synthesize(asked.table, asked.spend, why=asked.why, **asked.words)
    receipt = made.receipt.to_json()  # type: ignore[attr-defined]
    return {
        "rows": made.rows,
        "released": measured_to_json(made.measured),
        "text": made.explain(),
        "receipt": receipt,
    }


def synthesis_plan_reply(plan: SyntheticPlan) -> JsonObject:
    """Return the reply with the plan of synthetic records."""
    return {
        # The total is one table more.
        "tables": len(plan.sets) + 1,
        "numbers": plan.numbers,
        "price": budget_to_table(plan.shown_price()),
        "expected": plan.expected,
        "hopeless": plan.hopeless,
        "text": str(plan),
    }


SYNTHETIC = ReplyFormat(
    "Synthetic",
    Record.of(
        "Released tables, from which records are made for free, what was planned, and the receipt.",
        rows=anything("About how many rows there are.", type="integer"),
        released=anything("Columns and noisy tables, as the library writes them.", type="object"),
        text=_TEXT,
        receipt=_TEXT,
    ),
)
SYNTHESIS_PLAN = ReplyFormat(
    "SynthesisPlan",
    Record.of(
        tables=anything("How many tables are measured.", type="integer"),
        numbers=anything("How many noisy numbers they have.", type="integer"),
        price=BUDGET_REFERENCE,
        expected=anything("The total variation expected of a table.", type="number"),
        hopeless=FLAG,
        text=_TEXT,
    ),
)
VERBS = (
    Verb(
        "synthesize",
        "synthesize_table",
        "Release tables that records are made from; charged.",
        SYNTHESIZE,
        SYNTHETIC,
        _plan_synthesis,
        _synthesize,
    ),
    Verb(
        "plan_synthesis",
        "plan_synthesis",
        "Say what synthesize would measure and cost; free.",
        SYNTHESIZE,
        SYNTHESIS_PLAN,
        _plan_synthesis,
    ),
)
