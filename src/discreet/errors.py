"""Exceptions of discreet, as a tree; most are refusals made before any effect.

    DiscreetError
    ├── InvalidArgument (also a ValueError)   a parameter is out of range, of the wrong type, or missing
    ├── SchemaMismatch                        the data or the question does not fit the declared schema
    ├── UnsupportedQuery                      a question that cannot be answered privately as asked
    │   └── UnboundedSensitivity              … because one person could change the answer without limit
    ├── BudgetExceeded                        the ledger cannot grant what was asked
    ├── LedgerConflict                        another writer was first, or the ledger was closed
    │   └── LedgerUnavailable                 … or its store is out of reach, locked or full
    ├── LedgerCorrupt                         the ledger's chain does not verify; nothing is answered
    ├── EngineFailure                         the store failed; the message never depends on data
    │   ├── Cancelled                         … because somebody stopped the query
    │   └── TooSlow                           … because it needed more time or memory than the service gives
    ├── Unreachable                           the line to a service broke; something may have been spent
    │   └── ServiceUnavailable                … or the service is away; nothing was spent, ask again
    ├── NotAllowed                            this person may not do that
    ├── NoRandomness                          the source of secure bits failed; nothing was drawn
    └── ClaimRefuted                          the auditor caught a promise that does not hold

A refusal says what was asked, why not, and what would work. It never carries or depends on a data value.
"""

from __future__ import annotations

__all__ = [
    "BudgetExceeded",
    "Cancelled",
    "ClaimRefuted",
    "DiscreetError",
    "EngineFailure",
    "InvalidArgument",
    "LedgerConflict",
    "LedgerCorrupt",
    "LedgerUnavailable",
    "NoRandomness",
    "NotAllowed",
    "SchemaMismatch",
    "ServiceUnavailable",
    "TooSlow",
    "UnboundedSensitivity",
    "Unreachable",
    "UnsupportedQuery",
]


class DiscreetError(Exception):
    """The root of all exceptions of discreet."""


class InvalidArgument(DiscreetError, ValueError):
    """A parameter is out of range, of the wrong type, or missing."""


class SchemaMismatch(DiscreetError):
    """The data or the question does not fit the declared schema."""


class UnsupportedQuery(DiscreetError):
    """A question that cannot be answered privately as asked."""


class UnboundedSensitivity(UnsupportedQuery):
    """One person could change the answer without limit."""


class BudgetExceeded(DiscreetError):
    """The ledger cannot grant the amount asked for; nothing was spent.

    `asked` and `left` are the amount asked for and the amount that is left.

    >>> import discreet as dp
    >>> raise dp.BudgetExceeded("asked for ε = 1, 1/2 is left", asked=1, left=0.5)
    Traceback (most recent call last):
    ...
    discreet.errors.BudgetExceeded: asked for ε = 1, 1/2 is left
    """

    def __init__(self, message: str, *, asked: object, left: object) -> None:
        super().__init__(message)
        self.asked = asked
        self.left = left

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_budget_exceeded, (self.args[0], self.asked, self.left)


def _rebuild_budget_exceeded(message: str, asked: object, left: object) -> BudgetExceeded:
    return BudgetExceeded(message, asked=asked, left=left)


class LedgerConflict(DiscreetError):
    """Somebody else wrote to the ledger first; nothing was spent, ask again."""


class LedgerUnavailable(LedgerConflict):
    """The ledger cannot be used now: its store is out of reach, locked or full, or the clock is wrong.

    It is a LedgerConflict because 0.1.0 documents that one for all of this; a race is a LedgerConflict and not this.

    >>> import discreet as dp
    >>> issubclass(dp.LedgerUnavailable, dp.LedgerConflict)
    True
    """


class LedgerCorrupt(DiscreetError):
    """The ledger's chain does not verify; nothing is answered until it does."""


class EngineFailure(DiscreetError):
    """The store failed; the message never depends on data."""


class Cancelled(EngineFailure):
    """The query was stopped before it was answered; what was charged stays charged.

    >>> from discreet.errors import Cancelled
    >>> Cancelled()
    Cancelled('the query was cancelled before it was answered')
    """

    def __init__(self, message: str = "the query was cancelled before it was answered") -> None:
        super().__init__(message)


class TooSlow(EngineFailure):
    """The question needed more time or memory than the service gives to one; what was charged stays charged.

    >>> from discreet.errors import TooSlow
    >>> TooSlow()
    TooSlow('the query took longer than is allowed and was stopped; what was charged stays charged')
    """

    def __init__(
        self,
        message: str = "the query took longer than is allowed and was stopped; what was charged stays charged",
    ) -> None:
        super().__init__(message)


class Unreachable(DiscreetError):
    """The connection to a service broke, or no answer came in time.

    `spent` is the most that may have been charged; None if the request charges nothing. `key` is
    the idempotency key: the same request sent again with it is charged once.

    >>> import discreet as dp
    >>> dp.Unreachable("no answer came", spent=dp.PureDP(1), key="k").spent
    PureDP(1)
    """

    def __init__(self, message: str, *, spent: object = None, key: str = "") -> None:
        super().__init__(message)
        self.spent = spent
        self.key = key

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuild_unreachable, (self.args[0], self.spent, self.key)


def _rebuild_unreachable(message: str, spent: object, key: str) -> Unreachable:
    return Unreachable(message, spent=spent, key=key)


class ServiceUnavailable(Unreachable):
    """A service cannot be reached, or answers HTTP 503; nothing was spent.

    It is an Unreachable because 0.1.0 raises that one for a service that cannot be reached; `spent` is always None.

    >>> import discreet as dp
    >>> dp.ServiceUnavailable("the service cannot be reached; nothing was spent").spent is None
    True
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)

    def __reduce__(self) -> tuple[object, ...]:
        return ServiceUnavailable, (self.args[0],)


class NotAllowed(DiscreetError):
    """This person may not do that."""


class NoRandomness(DiscreetError):
    """The source of secure bits failed or fell short; nothing was drawn."""


class ClaimRefuted(DiscreetError):
    """The auditor caught a promise that does not hold."""
