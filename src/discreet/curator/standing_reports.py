"""Standing reports of a curator: methods that open a stream, plan one, and list all of a ledger.

A stream is one charge for a count or sum by day; each day is answered when it closes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from ..arithmetic.rational import whole
from ..privacy.measures import Measure
from ..query.algebra.tree import Question
from ..query.text.question import describe
from . import verbs
from .context import CuratorContext
from .pay import Locks
from .signing import Signer

if TYPE_CHECKING:
    # Most questions need none of these: `verbs` loads them when they are used.
    from ..streams.plan import StreamPlan
    from ..streams.report import StreamReport
    from ..streams.seal import Seal
    from .verbs.stream import StreamWords


class StandingReports:
    """The part of a curator that opens streams; `Curator` is its one user.

    Law: tests/streams/test_stream.py::TestAStream
    """

    __slots__ = ()

    who: str
    signer: Signer | None
    context: CuratorContext
    locks: Locks

    def stream(
        self,
        sql: str | Question,
        spend: Measure,
        *,
        name: str,
        seal: Seal | None = None,
        why: str = "",
        **words: Unpack[StreamWords],
    ) -> StreamReport:
        """Open a standing report of a count or sum by day: one charge, then every day its answer.

        `start` is the first day, `periods` the number of days. A day closes `late` days after it
        has ended in the time zone `zone`. `per_person` caps the days on which a person counts.
        `matters` weighs the errors of days, weeks, months, quarters, years and running totals.
        `seal` is the key file that encrypts the stream's state, by default the curator's own. The
        same call again returns the stream and costs nothing.

        Refuses: no key file, a ledger with windows, keys that are not public, people without caps, and
        a name that has a stream of other terms.
        """
        text = sql if isinstance(sql, str) else describe(sql)
        return verbs.stream.open_stream(
            self.context, text, spend, name, words, seal=seal, who=self.who, why=why
        )

    def plan_stream(
        self, sql: str | Question, spend: Measure, **words: Unpack[StreamWords]
    ) -> StreamPlan:
        """Return the strategy, the noise and the errors of a stream, for free."""
        text = sql if isinstance(sql, str) else describe(sql)
        return verbs.stream.plan_of(self.context.planner, text, spend, words)

    def rehearse_stream(
        self,
        sql: str | Question,
        spend: Measure,
        *,
        rows: int = 1_000,
        **words: Unpack[StreamWords],
    ) -> StreamReport:
        """Return the stream with made-up rows, all of its days closed, for free.

        No private row is read, nothing is written. Noise and intervals are those of the stream.
        """
        text = sql if isinstance(sql, str) else describe(sql)
        count = whole(rows, "rows", least=0, most=100_000)
        return verbs.stream.rehearse_stream(self.context, text, spend, words, count)

    def streams(self, seal: Seal | None = None) -> dict[str, StreamReport]:
        """Return all streams of the ledger by name; `seal`, or the curator's own, lets them close."""
        return verbs.stream.find_streams(self.context, seal)
