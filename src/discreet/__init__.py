"""discreet: answers about private data, with exact noise, the tightest sound price and an error bar on everything.

>>> import discreet as dp
>>> lap = dp.Laplace.spending(dp.PureDP(0.5), sensitivity=1)
>>> lap.scale, dp.compose([lap.event] * 4).epsilon(delta=0)
(Fraction(2, 1), 2.0)

Names are imported when they are touched: `import discreet` itself costs next to nothing. They are spelled out twice,
once for type checkers and once for the running program; a test keeps the two lists equal.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

# fmt: off
# isort: off
if TYPE_CHECKING:
    from . import audit as audit
    from .mechanisms import bounds as bounds
    from . import data as data
    from . import engines as engines
    from .privacy import events as events
    from . import local as local
    from . import noise as noise
    from . import privacy as privacy
    from . import query as query
    from .mechanisms import sensitivity as sensitivity
    from . import testing as testing
    from .errors import (
        BudgetExceeded as BudgetExceeded, ClaimRefuted as ClaimRefuted, DiscreetError as DiscreetError,
        EngineFailure as EngineFailure, InvalidArgument as InvalidArgument, LedgerConflict as LedgerConflict,
        LedgerCorrupt as LedgerCorrupt, NoRandomness as NoRandomness, NotAllowed as NotAllowed, SchemaMismatch
        as SchemaMismatch, UnboundedSensitivity as UnboundedSensitivity, UnsupportedQuery as UnsupportedQuery
    )
    from .privacy import (
        ApproxDP as ApproxDP, Curve as Curve, GaussianDP as GaussianDP, Measure as Measure, PureDP as PureDP,
        RenyiDP as RenyiDP, ZCDP as ZCDP, advise as advise, amplify as amplify, compose as compose, dp_sgd as
        dp_sgd, group as group, implies as implies, least_budget as least_budget, meaning as meaning,
        most_queries as most_queries
    )
    from .privacy.filters.filter import (
        Filter as Filter, open_filter as open_filter
    )
    from .mechanisms import (
        Binomial as Binomial, DiscreteGaussian as DiscreteGaussian, Exponential as Exponential, Gaussian as
        Gaussian, GaussianThreshold as GaussianThreshold, Geometric as Geometric, GridResponse as
        GridResponse, InverseQuantile as InverseQuantile, Laplace as Laplace, LaplaceThreshold as
        LaplaceThreshold, MWEM as MWEM, MultiplicativeWeights as MultiplicativeWeights, NoisyMax as NoisyMax,
        PartitionSelection as PartitionSelection, PermuteAndFlip as PermuteAndFlip, PrivateMode as
        PrivateMode, ProposeTestRelease as ProposeTestRelease, ProposedQuantile as ProposedQuantile,
        RandomizedResponse as RandomizedResponse, Sensitivity as Sensitivity, SmoothQuantile as
        SmoothQuantile, SmoothTrimmedMean as SmoothTrimmedMean, SparseVector as SparseVector, TopK as TopK,
        TruncatedGeometric as TruncatedGeometric, classic_gaussian as classic_gaussian, stability_histogram as
        stability_histogram
    )
    from .data import (
        Boolean as Boolean, Category as Category, Date as Date, Integer as Integer, People as People, Real as
        Real, Rows as Rows, Schema as Schema, Text as Text, Timestamp as Timestamp, read_schemas as
        read_schemas, write_schemas as write_schemas
    )
    from .audit import (
        verify as verify
    )
    from .query import (
        Question as Question, Table as Table, col as col, parse as parse
    )
    from .engines import (
        DuckDB as DuckDB, Memory as Memory, Postgres as Postgres, Spark as Spark
    )
    from .ledger import (
        Entry as Entry, Ledger as Ledger, Parts as Parts, open_ledger as open_ledger
    )
    from .samples import (
        sample as sample
    )
    from .plan import (
        Plan as Plan, Third as Third, Workload as Workload, find_third as find_third, plan_question as
        plan_question, plan_workload as plan_workload
    )
    from .answer import (
        Answer as Answer, answer_question as answer_question, suggest_bounds as suggest_bounds
    )
    from .curator import (
        Curator as Curator, Explanation as Explanation, Receipt as Receipt, Signer as Signer, verify_receipt as
        verify_receipt
    )
    from .local import (
        compare_trust as compare_trust
    )
    from .client import (
        Remote as Remote, connect as connect
    )

_ROOMS = {
    "audit": "audit", "bounds": "mechanisms.bounds", "data": "data", "engines": "engines", "events":
    "privacy.events", "local": "local", "noise": "noise", "privacy": "privacy", "query": "query", "sensitivity":
    "mechanisms.sensitivity", "testing": "testing",
}
_HOMES = {
    "errors": """
        BudgetExceeded ClaimRefuted DiscreetError EngineFailure InvalidArgument LedgerConflict LedgerCorrupt
        NoRandomness NotAllowed SchemaMismatch UnboundedSensitivity UnsupportedQuery
    """,
    "privacy": """
        ApproxDP Curve GaussianDP Measure PureDP RenyiDP ZCDP advise amplify compose dp_sgd group implies
        least_budget meaning most_queries
    """,
    "privacy.filters.filter": """
        Filter open_filter
    """,
    "mechanisms": """
        Binomial DiscreteGaussian Exponential Gaussian GaussianThreshold Geometric GridResponse
        InverseQuantile Laplace LaplaceThreshold MWEM MultiplicativeWeights NoisyMax PartitionSelection
        PermuteAndFlip PrivateMode ProposeTestRelease ProposedQuantile RandomizedResponse Sensitivity
        SmoothQuantile SmoothTrimmedMean SparseVector TopK TruncatedGeometric classic_gaussian
        stability_histogram
    """,
    "data": """
        Boolean Category Date Integer People Real Rows Schema Text Timestamp read_schemas write_schemas
    """,
    "audit": """
        verify
    """,
    "query": """
        Question Table col parse
    """,
    "engines": """
        DuckDB Memory Postgres Spark
    """,
    "ledger": """
        Entry Ledger Parts open_ledger
    """,
    "samples": """
        sample
    """,
    "plan": """
        Plan Third Workload find_third plan_question plan_workload
    """,
    "answer": """
        Answer answer_question suggest_bounds
    """,
    "curator": """
        Curator Explanation Receipt Signer verify_receipt
    """,
    "local": """
        compare_trust
    """,
    "client": """
        Remote connect
    """,
}
# isort: on
# fmt: on

_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [*_ROOMS, *_HOME_OF]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    """Import a public name when it is first touched."""
    if name in _ROOMS:
        found: object = import_module(f".{_ROOMS[name]}", __name__)
    elif name in _HOME_OF:
        found = getattr(import_module(f".{_HOME_OF[name]}", __name__), name)
    else:
        raise AttributeError(f"discreet has no {name!r}; see dir(discreet)")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
