"""Session of one client: simple and extended queries, portals, cursors, transactions.

    message       what is done                                       what it costs
    ------------  -------------------------------------------------  --------------------------------
    Parse         the statement is kept                              nothing
    Describe      its columns are planned (planning worker)          nothing
    Bind          its values are kept                                nothing
    Execute, Q    a question becomes a job; rows leave on one tick   its price, or nothing if stored

Transactions are accepted and mean nothing: an answer is given out once it is charged. After an error
in a transaction everything is refused until it ends, as drivers expect.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Sequence

from ...errors import DiscreetError
from ..http.rate_limit import TooMany
from ..jobs.planning_pool import WorkerFailed
from ..state import State
from . import messages
from .client import Client
from .commands import Commands
from .copy_out import copy_rows
from .messages import (
    Bind,
    Close,
    Describe,
    Execute,
    Message,
    Parse,
    Plain,
    ProtocolViolation,
    Query,
    cells,
    message,
)
from .questions import Studied
from .refusals import FAILED_TRANSACTION, PROTOCOL, WireError, error_message, wire_error
from .results import ResultColumn, StatementResult, keep
from .settings import DEFAULTS, Settings
from .sign_in import Admitted
from .statements import Statement, read_statement, split
from .types import encode, size_of

MAX_PREPARED = 256
"""Most prepared statements of a session, and most portals; cursors have a limit in `commands`."""
_REFUSALS = (WireError, DiscreetError, TooMany, WorkerFailed)
_ENDS_TRANSACTION = ("commit", "rollback")


class _Prepared:
    """A prepared statement with the types of its parameters.

    `studied` is its plan once it was described, `settings` those it was planned under.
    """

    def __init__(self, statement: Statement, types: tuple[int, ...] = ()) -> None:
        self.statement = statement
        self.types = types
        self.studied: Studied | None = None
        self.settings: Settings | None = None

    def holds(self, settings: Settings) -> bool:
        """Whether the plan may be run: under the same settings, and where no price was checked.

        A price is compared with what is left at that moment, so it is found again for each run.
        """
        unpriced = self.studied is None or self.studied.price is None
        return unpriced and self.settings == settings


class _Portal:
    """A statement with its values; its result, once it has run, and how many rows were sent."""

    def __init__(self, prepared: _Prepared, bind: Bind) -> None:
        self.prepared = prepared
        self.bind = bind
        self.planned = _Prepared(prepared.statement, prepared.types)
        self.result: StatementResult | None = None
        self.sent = 0


class WireSession:
    """Session of one person on one data set."""

    def __init__(self, state: State, client: Client, admitted: Admitted) -> None:
        self._state = state
        self._client = client
        # Number and secret of a cancellation, 64 random bits together.
        self._key = secrets.token_bytes(8)
        self._commands = Commands(state, admitted, self._key, client.write)
        self._prepared: dict[str, _Prepared] = {}
        self._portals: dict[str, _Portal] = {}
        self._skipping = False
        self._unchecked: str | None = None
        """Name of the statement that the last message has parsed."""

    async def run(self) -> None:
        """Answer messages until the client leaves, is silent for too long or breaks the protocol.

        The session also ends with the service. Somebody who was revoked is refused each question.
        """
        for name, value in DEFAULTS.items():
            shown = self._commands.settings.values.get(name.lower(), value)
            self._client.write(messages.parameter_status(name, shown))
        self._client.write(message(b"K", self._key))
        self._ready()
        idle = self._state.config.wire.idle_minutes * 60.0
        self._client.patience = idle
        try:
            while True:
                await self._client.flush()
                async with asyncio.timeout(idle):
                    received = await self._client.receive()
                if isinstance(received, Plain) and received.kind == "terminate":
                    return
                await self._answer(received)
        except TimeoutError:
            await self._client.fatal(WireError("57P05", "the connection was idle for too long"))
        except ProtocolViolation as violation:
            await self._client.fatal(WireError(PROTOCOL, str(violation)))
        except asyncio.CancelledError:
            await self._client.fatal(WireError("57P01", "the service is shutting down"))

    def _ready(self) -> None:
        self._client.write(messages.ready(self._commands.transaction))

    async def _answer(self, received: Message) -> None:
        """Handle one message, and tell the client of a refusal.

        After a refusal in the extended protocol skip all messages up to Sync.
        """
        # A client that waits after Parse expects refusals now: it does not read two of them later.
        unchecked, self._unchecked = self._unchecked, None
        if isinstance(received, Plain):
            if received.kind == "sync":
                if unchecked is not None and not self._skipping:
                    await self._check(unchecked)
                self._skipping = False
                if self._commands.transaction == "I":
                    # As in PostgreSQL, a portal lives as long as its transaction.
                    self._portals.clear()
                self._ready()
            return
        # After an error everything up to Sync belongs to what failed.
        if self._skipping:
            return
        try:
            await self._handle(received)
        except _REFUSALS as refusal:
            self._refuse(wire_error(refusal), extended=not isinstance(received, Query))
        if isinstance(received, Query):
            self._ready()

    async def _check(self, name: str) -> None:
        try:
            await self._study_prepared(name)
        except _REFUSALS as refusal:
            self._refuse(wire_error(refusal), extended=True)

    def _refuse(self, error: WireError, *, extended: bool) -> None:
        # The message comes first: the state that follows belongs to the next Ready.
        self._client.write(error_message(error))
        self._commands.fail()
        self._skipping = extended

    async def _handle(self, received: Message) -> None:
        """Carry out one message by its kind."""
        match received:
            case Query():
                await self._query(received.sql)
            case Parse():
                self._parse(received)
            case Bind():
                self._bind(received)
            case Describe():
                await self._describe(received)
            case Execute():
                await self._execute(received)
            case Close():
                if received.kind == "S":
                    self._prepared.pop(received.name, None)
                else:
                    self._portals.pop(received.name, None)
                self._client.write(messages.CLOSE_COMPLETE)
            case _:
                raise ProtocolViolation("a message that does not belong here")

    async def _query(self, sql: str) -> None:
        """Answer a simple query: all its statements are planned first, then run one by one."""
        statements = [_Prepared(read_statement(text)) for text in split(sql)]
        if not statements:
            self._client.write(messages.EMPTY_QUERY)
            return
        # Before any planning: a failed transaction costs nobody any work.
        self._check_transaction(statements[0].statement)
        await self._commands.check_person()
        planned = await self._commands.plan([prepared.statement for prepared in statements])
        for prepared, (studied, settings) in zip(statements, planned, strict=True):
            statement = prepared.statement
            self._check_transaction(statement)
            prepared.studied, prepared.settings = studied, settings
            if len(statements) > 1 and not prepared.holds(self._commands.settings):
                # A statement before it has changed settings, or spent of what is left.
                prepared.studied = await self._commands.study(statement)
            result = await self._commands.run(statement, prepared.studied)
            if statement.verb == "copy":
                self._client.write(copy_rows(statement, result))
            elif result.columns is not None:
                self._client.write(_description(result.columns, ()))
                self._send(result, 0, len(result.rows), ())
            # A slow reader is waited for here, so that answers do not pile up in memory.
            await self._client.flush()
            self._client.write(messages.command_complete(result.tag))

    def _check_transaction(self, statement: Statement) -> None:
        """Refuse every statement in a failed transaction but those that end it."""
        ends = statement.verb in _ENDS_TRANSACTION or statement.tag == "ROLLBACK"
        if self._commands.transaction == "E" and not ends:
            raise WireError(
                FAILED_TRANSACTION,
                "the transaction has failed; nothing runs in it",
                "ROLLBACK first",
            )

    def _parse(self, received: Parse) -> None:
        """Keep one statement under a name, unplanned."""
        texts = split(received.sql)
        if len(texts) > 1:
            raise WireError(
                "42601", "a prepared statement is one statement", "send them one by one"
            )
        statement = read_statement(texts[0] if texts else "")
        self._check_transaction(statement)
        # Nothing is planned here: types are asked for by Describe, if at all.
        keep(self._prepared, received.name, _Prepared(statement, received.types), MAX_PREPARED)
        self._unchecked = received.name
        self._client.write(messages.PARSE_COMPLETE)

    def _bind(self, received: Bind) -> None:
        prepared = self._known(received.statement)
        self._check_transaction(prepared.statement)
        keep(self._portals, received.portal, _Portal(prepared, received), MAX_PREPARED)
        self._client.write(messages.BIND_COMPLETE)

    async def _describe(self, received: Describe) -> None:
        """Describe the columns of a portal, or parameters and columns of a statement."""
        if received.kind == "P":
            await self._describe_portal(received.name)
            return
        prepared = await self._study_prepared(received.name)
        studied = prepared.studied
        parameters = studied.parameters if studied is not None else ()
        self._client.write(messages.parameter_description(parameters))
        self._write_description(self._commands.columns(prepared.statement, studied), ())

    async def _study_prepared(self, name: str) -> _Prepared:
        """Plan a statement with examples in place of its parameters."""
        known = self._known(name)
        known.settings = self._commands.settings
        known.studied = await self._commands.study(known.statement, known.types, described=True)
        return known

    def _known(self, name: str) -> _Prepared:
        if name not in self._prepared:
            raise WireError("26000", "there is no prepared statement of this name")
        return self._prepared[name]

    async def _describe_portal(self, name: str) -> None:
        """Describe the columns of a portal or a cursor."""
        portal = self._portals.get(name)
        if portal is None:
            # A cursor of DECLARE is a portal too.
            self._write_description(self._commands.cursor(name).columns, ())
            return
        studied = await self._study_portal(portal)
        columns = self._commands.columns(portal.prepared.statement, studied)
        self._write_description(columns, portal.bind.result_formats)

    def _write_description(
        self, columns: Sequence[ResultColumn] | None, formats: Sequence[int]
    ) -> None:
        """Send the columns of a result, or that it has none."""
        if columns is None:
            self._client.write(messages.NO_DATA)
        else:
            self._client.write(_description(columns, formats))

    async def _study_portal(self, portal: _Portal) -> Studied | None:
        """Plan a portal with its values; a statement without parameters was planned by Describe."""
        settings = self._commands.settings
        prepared, planned = portal.prepared, portal.planned
        known = prepared.studied
        if planned.studied is not None and planned.holds(settings):
            return planned.studied
        if known is not None and not known.parameters and known.rows is None:
            if prepared.holds(settings):
                return known
        described = planned.studied or known
        studied = await self._commands.study(prepared.statement, prepared.types, portal.bind)
        if described and studied and described.columns != studied.columns:
            raise WireError("0A000", "the columns have changed since they were described")
        planned.studied, planned.settings = studied, settings
        return studied

    async def _execute(self, received: Execute) -> None:
        """Run a portal at its first message, and send its rows, at most `max_rows` at a time."""
        portal = self._portals.get(received.portal)
        if portal is None:
            raise WireError("34000", "there is no portal of this name")
        statement = portal.prepared.statement
        if statement.verb == "empty":
            self._client.write(messages.EMPTY_QUERY)
            return
        # A portal runs once; further messages page through the rows it has.
        if portal.result is None:
            self._check_transaction(statement)
            await self._commands.check_person()
            studied = await self._study_portal(portal)
            portal.result = await self._commands.run(statement, studied)
        result = portal.result
        if statement.verb == "copy":
            self._client.write(copy_rows(statement, result))
        elif result.columns is not None:
            end = len(result.rows)
            # A limit of rows never asks again: all rows of the answer are here.
            if received.max_rows:
                end = min(end, portal.sent + received.max_rows)
            self._send(result, portal.sent, end, portal.bind.result_formats)
            portal.sent = end
            if end < len(result.rows):
                self._client.write(messages.PORTAL_SUSPENDED)
                return
        self._client.write(messages.command_complete(result.tag))

    def _send(self, result: StatementResult, start: int, end: int, formats: Sequence[int]) -> None:
        """Send the rows of a result from `start` to `end`."""
        columns = result.columns or ()
        chosen = _formats(columns, formats)
        for row in result.rows[start:end]:
            encoded = []
            for value, column, form in zip(row, columns, chosen, strict=True):
                encoded.append(encode(value, column.oid, form))
            self._client.write(message(b"D", cells(encoded)))


def _description(columns: Sequence[ResultColumn], formats: Sequence[int]) -> bytes:
    """Return the message that describes columns with their formats."""
    chosen = _formats(columns, formats)
    described = []
    for column, form in zip(columns, chosen, strict=True):
        described.append((column.name, column.oid, size_of(column.oid), form))
    return messages.row_description(described)


def _formats(columns: Sequence[ResultColumn], formats: Sequence[int]) -> tuple[int, ...]:
    """Return the format of each column: text by default, one for all, or one for each."""
    if not formats:
        return (0,) * len(columns)
    if len(formats) == 1:
        return tuple(formats) * len(columns)
    if len(formats) != len(columns):
        raise WireError(PROTOCOL, "there are as many formats as columns, or one, or none")
    return tuple(formats)
