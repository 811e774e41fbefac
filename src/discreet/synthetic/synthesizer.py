"""Synthesizer of records from a data frame, in SDV's manner: make one with a schema, fit, sample."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Self

# The package, not its stores: each is imported on first use.
from .. import engines
from ..data.schema import Schema
from ..data.unit import People
from ..engines.base import keeps_all_rows
from ..errors import InvalidArgument
from ..ledger import Ledger
from ..privacy.measures import Measure
from ..query.algebra.tree import Scan
from .measure import measure
from .plan import SyntheticPlan, plan_synthetic
from .request import WorkloadWords, read_request
from .synthetic import Synthetic

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

# Sentinel default of `ledger`: None means "release without a ledger" and must be written out.
REQUIRED_LEDGER: Any = type("REQUIRED_LEDGER", (), {"__repr__": lambda _: "REQUIRED_LEDGER"})()


def warn_if_hopeless(plan: SyntheticPlan) -> None:
    """Warn, before the charge, of a spend for which noise would drown the tables."""
    if plan.hopeless:
        warnings.warn(
            f"noise would drown tables of about {plan.rows:,} rows "
            f"(expected total variation {plan.expected:.2f}); "
            "spend more, use fewer columns or wider bins, or say size= if there are more rows",
            stacklevel=4,
        )


class Synthesizer:
    """Maker of synthetic records of a declared table.

    `Synthesizer(schema, spend).fit(frame, ledger=ledger).sample(1_000)` is all that is needed.
    Bounds, values and bins come from the schema, never from the frame. `synthetic_` holds the
    released tables; `sample` and all else are free.

    >>> import discreet as dp
    >>> columns = {"sex": dp.Category(["f", "m"]), "works": dp.Boolean()}
    >>> people = dp.Schema("people", dp.Rows(), columns, size=400)
    >>> frame = [{"sex": "fm"[i % 2], "works": i % 3 == 0} for i in range(400)]
    >>> synth = dp.synthetic.Synthesizer(people, dp.ApproxDP(1, "1e-6"))
    >>> ledger = dp.open_ledger(":memory:", dp.ApproxDP(2, "1e-5"))
    >>> made = synth.fit(frame, ledger=ledger).synthetic_
    >>> len(made.records(7)["sex"]), sorted(made.table("sex").to_dict())
    (7, ['n', 'n_high', 'n_low', 'sex'])

    Guarantee: `fit` charges the ledger before any row is counted; every call is charged by itself.
    Refuses: pure ε, tables whose unit is a person, and all that `curator.synthesize` refuses.
    Law: tests/synthetic/test_records.py::TestSdvsManner
    """

    def __init__(
        self,
        schema: Schema,
        spend: Measure,
        *,
        columns: Iterable[str] | None = None,
        workload: WorkloadWords = "pairs",
        bins: Mapping[str, int] | None = None,
        size: int | None = None,
        target: str | None = None,
    ) -> None:
        if not isinstance(schema, Schema):
            raise InvalidArgument(
                "a synthesizer needs a schema: values, bounds and bins are declared, never read"
            )
        self.schema = schema.ready()
        self.spend = spend
        if isinstance(self.schema.unit, People):
            raise InvalidArgument(
                f"{schema.name} has people as units; "
                "make records through a curator: curator.synthesize(…)"
            )
        self.request = read_request(
            Scan(self.schema), columns, workload, bins, size=size, target=target
        )
        self.synthetic_: Synthetic | None = None

    def plan(self, ledger: Ledger | None = None) -> SyntheticPlan:
        """Return the tables to measure and their noise, to fit a ledger; reads nothing.

        `print` it.
        """
        return self._plan(ledger, rows_public=False)

    def _plan(self, ledger: Ledger | None, *, rows_public: bool) -> SyntheticPlan:
        terms = None if ledger is None else ledger.terms.filter
        return plan_synthetic(self.request, self.spend, terms, rows_public=rows_public)

    def fit(
        self,
        frame: Any,  # noqa: ANN401 a data frame, a path or rows
        *,
        ledger: Ledger | None = REQUIRED_LEDGER,
        who: str = "analyst",
        why: str = "",
    ) -> Self:
        """Charge the ledger, then release tables of a data frame, a file or rows.

        `ledger=None` releases without a record and warns.

        Refuses: a missing ledger, by `InvalidArgument`.
        """
        if ledger is REQUIRED_LEDGER:
            raise InvalidArgument(
                "fit needs a ledger, which is charged before a row is read: "
                "fit(frame, ledger=ledger), or curator.synthesize(…); "
                "ledger=None makes records without one, and nothing is recorded"
            )
        with _store(self.schema.name, frame) as engine:
            engine.check(self.schema)
            plan = self._plan(ledger, rows_public=keeps_all_rows(engine))
            warn_if_hopeless(plan)
            entry = None
            # The charge comes before the tables: a crash in between loses budget, never privacy.
            if ledger is None:
                warnings.warn(
                    "nothing is recorded: this synthesis is not in any ledger", stacklevel=2
                )
            else:
                reason = why or f"synthesize {self.schema.name}"
                entry = ledger.charge(plan.event, who=who, why=reason)
            measured = measure(plan, engine)
        self.synthetic_ = Synthetic(measured, str(plan), entry)
        return self

    def sample(self, rows: int | None = None) -> pd.DataFrame:
        """Return whole records as a pandas data frame, by default about as many as rows."""
        if self.synthetic_ is None:
            raise InvalidArgument("this Synthesizer has not been fitted yet; call fit")
        return self.synthetic_.to_pandas(rows)


def _store(name: str, frame: Any) -> Any:  # noqa: ANN401 a context that gives an engine
    """Return a context with an engine over rows, columns or a data frame; DuckDB is closed after it.

    Refuses: columns of different lengths, by `InvalidArgument`.
    """
    if isinstance(frame, Mapping):
        if len({len(column) for column in frame.values()}) > 1:
            raise InvalidArgument(
                "the columns have different lengths; each needs one cell for every row"
            )
        rows = zip(*frame.values(), strict=True)
        frame = [dict(zip(frame, row, strict=True)) for row in rows]
    if isinstance(frame, list | tuple):
        return nullcontext(engines.Memory({name: frame}))
    return engines.DuckDB({name: frame})
