"""Options of every question (data, ledger, spend or error), and the curator that they open."""

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
from ..plan.asked.terms import DEFAULT_LEVEL, Reuse, SpendOptions
from ..privacy.budget_text import parse_budget
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
from .ledger_access import report_charges_on_interrupt
from .source import open_source

_PLENTY = 10**6
"""Budget of a plan without a ledger: so large that a plan only shows its price."""


@frozen
class TermFlags:
    """Options of the price: a spend or an error, with weights, group size and confidence level."""

    epsilon: EpsilonFlag = None
    delta: DeltaFlag = None
    rho: RhoFlag = None
    mu: MuFlag = None
    error: ErrorFlag = None
    weight: WeightFlag = None
    size: SizeFlag = None
    level: LevelFlag = DEFAULT_LEVEL

    @property
    def spend(self) -> Measure | None:
        """The budget to spend, if one is given."""
        return budget_of_flags(self.epsilon, self.delta, self.rho, self.mu)

    @property
    def errors(self) -> str | dict[str, str] | None:
        """The asked errors: one for all, or by name."""
        given = self.error or []
        if len(given) == 1 and "=" not in given[0]:
            return given[0].strip()
        return pairs(given, "--error") or None

    def words(self, *, nonnegative: bool = False, intervals: bool = True) -> SpendOptions:
        """Return the terms as the library's keyword arguments.

        Refuses: a question with neither a spend nor an error, by `InvalidArgument`.
        """
        if self.spend is None and not self.error:
            raise InvalidArgument(
                "say what to spend, --epsilon, --rho or --mu, or how wrong it may be, --error"
            )
        weights = pairs(self.weight, "--weight") or None
        size = None
        if self.size is not None:
            size = whole(self.size, "size", least=1)
        return SpendOptions(
            spend=self.spend,
            error=self.errors,
            weights=weights,
            size=size,
            level=self.level,
            nonnegative=nonnegative,
            intervals=intervals,
        )


def read_reuse_flag(given: str) -> Reuse:
    """Read the option --reuse.

    Refuses: other words than yes, no and only (InvalidArgument).
    """
    known: dict[str, Reuse] = {"yes": True, "no": False, "only": "only"}
    if given not in known:
        raise InvalidArgument(f"--reuse is yes, no or only, got {given}")
    return known[given]


@frozen
class LocationFlags:
    """Options of the schema, the ledger and the person."""

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
        """True if the ledger is a file that does not exist yet."""
        if self.ledger is None or is_server(self.ledger):
            return False
        return not Path(self.ledger).exists()


@contextmanager
def open_curator(
    source: str,
    place: LocationFlags,
    price: TermFlags,
    *,
    spends: bool,
    quiet: bool,
    first: Callable[[Curator], object] | None = None,
) -> Iterator[Curator]:
    """Open the curator of a source and close its engine and ledger after.

    A command that `spends` needs a ledger. A new ledger gets the given budget, or
    just the spend of this question, so that no larger budget is ever promised by accident. A
    command that only plans needs no ledger. A new ledger is permanent: `first`, if given, is called
    with a curator on a ledger in memory before, and the ledger is created only if `first`
    refuses nothing.
    """
    schemas = read_schemas(place.schema)
    engine = open_source(source, schemas, pairs(place.table, "--table"), progress=spends)
    try:
        if first is not None and place.fresh:
            # Tried in memory: a refused question leaves no ledger behind.
            with _ledger(place, price.spend, spends=False, quiet=True) as trial:
                first(Curator(engine, schemas, trial, who=place.who))
        with (
            _ledger(place, price.spend, spends=spends, quiet=quiet) as ledger,
            report_charges_on_interrupt(ledger, place.who),
        ):
            yield Curator(engine, schemas, ledger, who=place.who)
    finally:
        engine.close()


def _ledger(place: LocationFlags, spend: Measure | None, *, spends: bool, quiet: bool) -> Ledger:
    """Open the ledger, create it, or open one in memory for a command that does not spend."""
    budget = None
    if place.budget is not None:
        budget = parse_budget(place.budget, "--budget")
    if place.ledger is None and spends:
        raise InvalidArgument(
            "what is spent must be kept: give --ledger FILE, and --budget if it is new"
        )
    if place.ledger is not None and not place.fresh:
        return open_ledger(place.ledger, budget)
    if place.ledger is None or not spends:
        return _create_ledger(":memory:", budget, spend or PureDP(_PLENTY))
    if budget is None and spend is None:
        raise InvalidArgument(
            f"{place.ledger} is not there yet; to make it say its --budget, such as epsilon=3"
        )
    if budget is None and not quiet:
        typer.secho(
            f"{place.ledger} is new; its budget is what this question spends, {spend} "
            "(--budget gives it another)",
            err=True,
            fg="yellow",
        )
    return _create_ledger(place.ledger, budget, spend)


def _create_ledger(where: str, budget: Measure | None, spend: Measure | None) -> Ledger:
    """Create a ledger with a budget, or with just the spend of one question."""
    # This filter adds up ε and δ, so that just this one question fits.
    if budget is None and isinstance(spend, ApproxDP):
        return open_ledger(where, spend, kind="approximate")
    return open_ledger(where, budget or spend)
