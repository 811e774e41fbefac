"""discreet: answers about private data, with exact noise, the tightest sound price and an error bar on everything.

>>> import discreet as dp
>>> lap = dp.Laplace.spending(dp.PureDP(0.5), sensitivity=1)
>>> lap.scale, dp.compose([lap.event] * 4).epsilon(delta=0)
(Fraction(2, 1), 2.0)

Names are imported when they are touched: `import discreet` itself costs next to nothing. They are spelled out twice,
once for type checkers and once for the running program; a test keeps the two lists equal.
"""

from __future__ import annotations

import warnings
from importlib import import_module

TYPE_CHECKING = (
    False  # as type checkers know it; `typing` costs more than all the rest of this file
)

# fmt: off
# isort: off
if TYPE_CHECKING:
    from . import audit as audit
    from . import data as data
    from . import engines as engines
    from .privacy import events as events
    from . import learn as learn
    from . import local as local
    from . import noise as noise
    from . import privacy as privacy
    from . import query as query
    from . import synthetic as synthetic
    from . import testing as testing
    from .errors import (
        BudgetExceeded as BudgetExceeded, Cancelled as Cancelled, ClaimRefuted as ClaimRefuted, DiscreetError
        as DiscreetError,
        EngineFailure as EngineFailure, InvalidArgument as InvalidArgument, LedgerConflict as LedgerConflict,
        LedgerCorrupt as LedgerCorrupt, LedgerUnavailable as LedgerUnavailable, NoRandomness as NoRandomness,
        NotAllowed as NotAllowed, SchemaMismatch as SchemaMismatch, ServiceUnavailable as ServiceUnavailable, TooSlow
        as TooSlow, UnboundedSensitivity as UnboundedSensitivity, Unreachable as Unreachable,
        UnsupportedQuery as UnsupportedQuery
    )
    from .privacy import (
        ApproxDP as ApproxDP, Curve as Curve, GaussianDP as GaussianDP, Measure as Measure, PureDP as PureDP,
        RenyiDP as RenyiDP, ZCDP as ZCDP, advise as advise, amplify as amplify, compose as compose, dp_sgd as
        dp_sgd, group_privacy as group_privacy, implies as implies, least_budget as least_budget, meaning as meaning,
        most_queries as most_queries
    )
    from .privacy.filters.filter import (
        Filter as Filter, open_filter as open_filter
    )
    from .mechanisms import (
        Binomial as Binomial, DiscreteGaussian as DiscreteGaussian, DiscreteLaplace as DiscreteLaplace,
        Exponential as Exponential, Gaussian as Gaussian, GaussianThreshold as GaussianThreshold,
        Geometric as Geometric, GridResponse as GridResponse, InverseQuantile as InverseQuantile,
        Laplace as Laplace, LaplaceThreshold as LaplaceThreshold, MWEM as MWEM,
        MultiplicativeWeights as MultiplicativeWeights, NoisyMax as NoisyMax,
        PartitionSelection as PartitionSelection, PermuteAndFlip as PermuteAndFlip,
        PrivateMode as PrivateMode, ProposeTestRelease as ProposeTestRelease,
        ProposedQuantile as ProposedQuantile, RandomizedResponse as RandomizedResponse,
        Sensitivity as Sensitivity, SmoothQuantile as SmoothQuantile, SmoothTrimmedMean as SmoothTrimmedMean,
        SparseVector as SparseVector, TopK as TopK, TruncatedGeometric as TruncatedGeometric
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
        Question as Question, Table as Table, col as col, parse as _parse
    )
    from .engines import (
        Csv as Csv, DuckDB as DuckDB, Memory as Memory, Postgres as Postgres, Spark as Spark, prepare as prepare
    )
    from .ledger import (
        Entry as Entry, Ledger as Ledger, Parts as Parts, open_ledger as open_ledger
    )
    from .samples import (
        example as example
    )
    from .plan import (
        Plan as Plan, Tradeoff as Tradeoff, Workload as Workload, solve_tradeoff as solve_tradeoff, plan_question as
        plan_question, plan_workload as plan_workload
    )
    from .answer import (
        Answer as Answer
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
    parse_sql = _parse

_PACKAGES = {
    "audit": "audit", "data": "data", "engines": "engines", "events": "privacy.events",
    "learn": "learn", "local": "local", "noise": "noise", "privacy": "privacy", "query": "query",
    "synthetic": "synthetic", "testing": "testing",
}
_HOMES = {
    "errors": """
        BudgetExceeded Cancelled ClaimRefuted DiscreetError EngineFailure InvalidArgument LedgerConflict LedgerCorrupt
        LedgerUnavailable NoRandomness NotAllowed SchemaMismatch ServiceUnavailable TooSlow UnboundedSensitivity
        Unreachable UnsupportedQuery
    """,
    "privacy": """
        ApproxDP Curve GaussianDP Measure PureDP RenyiDP ZCDP advise amplify compose dp_sgd group_privacy implies
        least_budget meaning most_queries
    """,
    "privacy.filters.filter": """
        Filter open_filter
    """,
    "mechanisms": """
        Binomial DiscreteGaussian DiscreteLaplace Exponential Gaussian GaussianThreshold Geometric GridResponse
        InverseQuantile Laplace LaplaceThreshold MWEM MultiplicativeWeights NoisyMax PartitionSelection
        PermuteAndFlip PrivateMode ProposeTestRelease ProposedQuantile RandomizedResponse Sensitivity
        SmoothQuantile SmoothTrimmedMean SparseVector TopK TruncatedGeometric
    """,
    "data": """
        Boolean Category Date Integer People Real Rows Schema Text Timestamp read_schemas write_schemas
    """,
    "audit": """
        verify
    """,
    "query": """
        Question Table col parse_sql=parse
    """,
    "engines": """
        Csv DuckDB Memory Postgres Spark prepare
    """,
    "ledger": """
        Entry Ledger Parts open_ledger
    """,
    "samples": """
        example
    """,
    "plan": """
        Plan Tradeoff Workload solve_tradeoff plan_question plan_workload
    """,
    "answer": """
        Answer
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

# A word "new=old" is a name whose home calls it otherwise.
_HOME_OF = {
    word.partition("=")[0]: (home, word.rpartition("=")[2])
    for home, words in _HOMES.items()
    for word in words.split()
}

_FORMERLY = {
    "Third": "Tradeoff",
    "answer_question": "answer.answer_question",
    "bounds": "mechanisms.bounds",
    "classic_gaussian": "mechanisms.classic_gaussian",
    "find_third": "solve_tradeoff",
    "group": "group_privacy",
    "parse": "parse_sql",
    "sample": "example",
    "sensitivity": "mechanisms.sensitivity",
    "stability_histogram": "mechanisms.stability_histogram",
    "suggest_bounds": "answer.suggest_bounds",
}
"""Names of version 0.1 and what they are called now: here, or in their room. They go with version 0.3."""

__version__: str
"""Version of the installed package, read when it is first used. Only pyproject.toml states it."""

__all__ = [*_PACKAGES, *_HOME_OF]  # noqa: PLE0604


def __getattr__(name: str) -> object:
    """Import a public name when it is first touched."""
    if name in _FORMERLY:
        return _former(name)
    if name == "__version__":
        found: object = import_module("importlib.metadata").version(__name__)
    elif name in _PACKAGES:
        found = import_module(f".{_PACKAGES[name]}", __name__)
    elif name in _HOME_OF:
        home, own = _HOME_OF[name]
        found = getattr(import_module(f".{home}", __name__), own)
    else:
        raise AttributeError(f"discreet has no {name!r}; see dir(discreet)")
    globals()[name] = found
    return found


def _former(name: str) -> object:
    """Return what a name of version 0.1 stands for, with a warning."""
    now = _FORMERLY[name]
    warnings.warn(
        f"discreet.{name} is now discreet.{now}; version 0.3 drops it",
        DeprecationWarning,
        stacklevel=3,
    )
    room, _, own = now.rpartition(".")
    if not room:
        return __getattr__(now)
    module = import_module(f".{room}", __name__)
    return getattr(module, own, None) or import_module(f".{now}", __name__)


def __dir__() -> list[str]:
    return sorted(__all__)
