"""What every question on the command line says: where the data and the ledger are, and what may be spent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ..arithmetic.rational import whole
from ..connection import is_server
from ..curator import Curator
from ..data.files.schema_file import read_schemas
from ..errors import InvalidArgument
from ..frozen import frozen
from ..ledger import Ledger, open_ledger
from ..plan.asked.terms import SpendWords
from ..privacy.budget_text import budget_from_words
from ..privacy.measures import ApproxDP, Measure, PureDP
from .budget import budget_of_flags, pairs
from .flags import (
    DeltaFlag,
    EpsilonFlag,
    ErrorFlag,
    LedgerFlag,
    LevelFlag,
    MuFlag,
    RhoFlag,
    SchemaFlag,
    SizeFlag,
    TableFlag,
    WeightFlag,
    WhoFlag,
)
from .interrupt import told_of_charges
from .source import open_source

_PLENTY = 10**6
"""What a plan without a ledger and without a budget may cost: it only says how much."""


@frozen
class TermFlags:
    """What may be spent, or how wrong the answer may be."""

    epsilon: EpsilonFlag = None
    delta: DeltaFlag = None
    rho: RhoFlag = None
    mu: MuFlag = None
    error: ErrorFlag = None
    weight: WeightFlag = None
    size: SizeFlag = None
    level: LevelFlag = 0.95

    @property
    def spend(self) -> Measure | None:
        """The budget, if one is said."""
        return budget_of_flags(self.epsilon, self.delta, self.rho, self.mu)

    @property
    def errors(self) -> str | dict[str, str] | None:
        """The asked errors: one for all, or by name."""
        said = self.error or []
        return (
            said[0].strip()
            if len(said) == 1 and "=" not in said[0]
            else pairs(said, "--error") or None
        )

    def words(self, *, nonnegative: bool = False, intervals: bool = True) -> SpendWords:
        """Return the terms as the library's keyword arguments.

        Refuses neither a spend nor an error.
        """
        if self.spend is None and not self.error:
            raise InvalidArgument(
                "say what to spend, --epsilon, --rho or --mu, or how wrong it may be, --error"
            )
        weights = pairs(self.weight, "--weight") or None
        size = None if self.size is None else whole(self.size, "size", least=1)
        return SpendWords(
            spend=self.spend,
            error=self.errors,
            weights=weights,
            size=size,
            level=self.level,
            nonnegative=nonnegative,
            intervals=intervals,
        )


@frozen
class PlaceFlags:
    """Where the facts and the ledger are, and who asks."""

    schema: SchemaFlag
    ledger: LedgerFlag | None = None
    table: TableFlag = None
    budget: Annotated[
        str | None,
        typer.Option(
            "--budget", help="The budget of a new ledger: epsilon=3 or epsilon=3,delta=1e-6."
        ),
    ] = None
    who: WhoFlag = "analyst"

    @property
    def fresh(self) -> bool:
        """Whether the ledger is a file that is not there yet."""
        return (
            self.ledger is not None
            and not is_server(self.ledger)
            and not Path(self.ledger).exists()
        )


@contextmanager
def open_curator(
    source: str,
    place: PlaceFlags,
    price: TermFlags,
    *,
    spends: bool,
    quiet: bool,
    first: Callable[[Curator], object] | None = None,
) -> Iterator[Curator]:
    """Open the curator of a source and close it after.

    A command that spends needs a ledger. One that is new gets the budget that is said; without one it gets just what
    this question spends, so that nothing more is ever promised away by accident. One that only plans needs none. A new
    ledger is for good: it is made only if `first` refuses nothing.
    """
    schemas = read_schemas(place.schema)
    engine = open_source(source, schemas, pairs(place.table, "--table"), progress=spends)
    try:
        if first is not None and place.fresh:
            with _ledger(place, price.spend, spends=False, quiet=True) as trial:
                first(Curator(engine, schemas, trial, who=place.who))
        with (
            _ledger(place, price.spend, spends=spends, quiet=quiet) as ledger,
            told_of_charges(ledger, place.who),
        ):
            yield Curator(engine, schemas, ledger, who=place.who)
    finally:
        engine.close()


def _ledger(place: PlaceFlags, spend: Measure | None, *, spends: bool, quiet: bool) -> Ledger:
    budget = None if place.budget is None else budget_from_words(place.budget, "--budget")
    if place.ledger is None and spends:
        raise InvalidArgument(
            "what is spent must be kept: give --ledger FILE, and --budget if it is new"
        )
    if place.ledger is not None and not place.fresh:
        return open_ledger(place.ledger, budget)
    if place.ledger is None or not spends:
        return _just(":memory:", budget, spend or PureDP(_PLENTY))
    if budget is None and spend is None:
        raise InvalidArgument(
            f"{place.ledger} is not there yet; to make it say its --budget, such as epsilon=3"
        )
    if budget is None and not quiet:
        said = f"{place.ledger} is new; its budget is what this question spends, {spend} (--budget gives it another)"
        typer.secho(said, err=True, fg="yellow")
    return _just(place.ledger, budget, spend)


def _just(where: str, budget: Measure | None, spend: Measure | None) -> Ledger:
    """Make a ledger; of what one question spends it adds up ε and δ, so that just that question fits."""
    if budget is None and isinstance(spend, ApproxDP):
        return open_ledger(where, spend, kind="approximate")
    return open_ledger(where, budget or spend)
