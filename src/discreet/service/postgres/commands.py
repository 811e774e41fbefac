"""Commands of a PostgreSQL session, run by the same planning, jobs and limits as over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from starlette.concurrency import run_in_threadpool

from ...curator.explanation import after
from ...errors import BudgetExceeded, EngineFailure
from ...plan.asked.terms import Terms
from ...privacy.measures import Measure
from ...wire.json_text import write_json
from ...wire.reply import refusal_from_json
from ...wire.verbs.question import Ask
from ..api.verbs import first_tick
from ..jobs.job import Job
from ..state import State
from .catalog import CatalogSession
from .client import mark_of
from .copy_out import read_format
from .messages import Bind, parameter_status
from .questions import Asked, Studied, study
from .refusals import FEATURE, READ_ONLY, SYNTAX, WireError, notice
from .results import ResultColumn, Row, StatementResult, answer_rows, keep, text_result
from .settings import PREFIX, SHOWN, Settings
from .sign_in import Admitted
from .statements import Statement, read_statement
from .types import TEXT

Columns: TypeAlias = Sequence[ResultColumn]
_SELECTS = ("select", "explain", "copy", "declare")
_MAX_CURSORS = 64
_ROUNDED = 0.001
"""Seconds to which a job rounds the time of its next tick."""
_REPORTED = {"application_name": "application_name", "timezone": "TimeZone"}


class Commands:
    """Settings, transaction and cursors of a session, and the run of its statements.

    `transaction` is I (none), T (open) or E (failed).
    """

    def __init__(
        self, state: State, admitted: Admitted, key: bytes, write: Callable[[bytes], None]
    ) -> None:
        self._state = state
        self._admitted = admitted
        self._write = write
        self._mark = mark_of(key)
        self._asked = 0
        self._warned = False
        self._cursors: dict[str, tuple[StatementResult, int]] = {}
        self._allowance: tuple[str, Measure | None] = ("", None)
        self._price = ""
        self.settings = admitted.settings
        self.transaction = "I"

    def fail(self) -> None:
        """Note an error: an open transaction has failed."""
        if self.transaction == "T":
            self.transaction = "E"

    async def check_person(self) -> None:
        """Look the person up anew, as every request does, and count the request.

        Refuses: somebody who was revoked, or whose token has ended, since the sign-in.
        """
        admitted = self._admitted
        found = await run_in_threadpool(
            self._state.people.find_signed, admitted.person.name, admitted.token
        )
        if found is None or not found.may(admitted.dataset):
            raise WireError("28000", "this token has ended", "connect again with a new one")
        # The same bucket as over HTTP: both ways together have one limit.
        self._state.limits.request(admitted.person.name)

    async def plan(self, statements: Sequence[Statement]) -> list[tuple[Studied | None, Settings]]:
        """Plan all statements of a query before the first runs; return each plan with its settings.

        Refuses: the whole query if one of its statements is refused.
        """
        for statement in statements:
            _check_answered(statement)
        # Settings are changed for planning only; the run sets them again, in order.
        before = self.settings
        planned: list[tuple[Studied | None, Settings]] = []
        try:
            for statement in statements:
                if statement.verb == "set":
                    # A setting holds for the questions after it.
                    self.settings = self.settings.set(statement.name, statement.value)
                planned.append((await self.study(statement), self.settings))
        finally:
            self.settings = before
        return planned

    async def study(
        self,
        statement: Statement,
        oids: tuple[int, ...] = (),
        bind: Bind | None = None,
        *,
        described: bool = False,
    ) -> Studied | None:
        """Plan the SELECT of a statement in a planning worker; None for other commands.

        `described`: only columns are wanted, so examples stand for parameters.
        """
        if statement.verb not in _SELECTS:
            return None
        # Options are refused here, before the question behind them is charged.
        if statement.verb == "copy":
            read_format(statement.value)
        if statement.inner:
            _check_inner(statement)
        values: tuple[bytes | None, ...] | None = bind.values if bind else ()
        settings = self.settings
        options = self._state.config.wire
        limited = settings.flag("confirm") or settings.own("allowance") or options.per_day
        asked = Asked(
            sql=statement.inner or statement.text,
            types=oids,
            values=None if described else values,
            formats=bind.formats if bind else (),
            terms=settings.terms(),
            intervals=settings.flag("intervals"),
            priced=bool(limited),
            per_day=options.per_day,
            explain=statement.verb == "explain",
            preview=options.preview,
            max_cells=self._state.config.bounds.cells,
            session=self._catalog_session(),
        )
        pool = self._state.planning_pool
        person = self._admitted.person.name
        studied: Studied | WireError = await pool.run(
            pool.ask, person, self._admitted.dataset, study, asked
        )
        if isinstance(studied, WireError):
            raise studied
        return studied

    def _catalog_session(self) -> CatalogSession:
        return CatalogSession(
            self._admitted.person.name, self._admitted.dataset, dict(self.settings.values)
        )

    def columns(self, statement: Statement, studied: Studied | None) -> Columns | None:
        """Return the columns of a statement's rows; None for a command without rows."""
        if statement.verb in ("select", "explain") and studied is not None:
            return studied.columns
        if statement.verb == "show":
            return (ResultColumn(statement.name, TEXT.oid),)
        if statement.verb == "fetch":
            return self.cursor(statement.name).columns
        return None

    def cursor(self, name: str) -> StatementResult:
        """Return the rows of a cursor."""
        if name not in self._cursors:
            raise WireError("34000", "there is no cursor of this name", "DECLARE it first")
        return self._cursors[name][0]

    async def run(self, statement: Statement, studied: Studied | None) -> StatementResult:
        """Run a statement that was planned."""
        _check_answered(statement)
        if studied is not None:
            rows = await self._rows(studied)
            result = StatementResult(f"{statement.tag} {len(rows)}", studied.columns, rows)
            if statement.verb != "declare":
                return result
            return self._declare(statement.name, result)
        match statement.verb:
            case "set":
                self._set(statement)
            case "reset":
                self._reset(statement)
            case "show":
                return await self._show(statement.name)
            case "fetch":
                return self._fetch(statement)
            case "close":
                self._close(statement.name)
            case "begin" | "commit" | "rollback" | "savepoint":
                return self._transact(statement)
        return StatementResult(statement.tag)

    async def _rows(self, studied: Studied) -> Sequence[Row]:
        """Return the rows of a planned SELECT; where they are not free, ask the question."""
        if studied.warning:
            self._write(notice(studied.warning, "WARNING"))
        if studied.rows is not None:
            return studied.rows
        return answer_rows(studied.columns, await self._ask(studied))

    async def _ask(self, studied: Studied) -> dict[str, Any]:
        """Ask a question as a job: charged, run, and shown at a tick of the timing grid."""
        # Both refuse before the job is written, so before any charge.
        self._check_confirmed(studied)
        rest = self._check_allowance(studied)
        state = self._state
        person = self._admitted.person.name
        terms = self.settings.terms()
        ask = Ask(studied.sql, terms or Terms(), self.settings.why)
        self._asked += 1
        # One key for each question: a job that another worker takes over stays one charge.
        mark = f"{self._mark}{self._asked}"
        job = await state.planning_pool.run(
            state.jobs.put, person, self._admitted.dataset, "sql", write_json(ask.to_json()), mark
        )
        try:
            reply = await self._follow(job)
        except EngineFailure:
            # A failure after the charge has spent it; one before is counted too, which errs low.
            self._allowance = (self._allowance[0], rest)
            raise
        self._allowance = (self._allowance[0], rest)
        await self._tell(reply)
        return reply

    async def _follow(self, job: Job) -> dict[str, Any]:
        """Wait for the tick that shows the outcome of a job.

        Guarantee: nothing is sent between the ticks of the grid, whatever the job does.
        Law: tests/service/postgres/test_neighbours.py
        """
        jobs = self._state.jobs
        current, moment = await first_tick(self._state, job.person, job)
        shown, view = jobs.view(current, moment)
        while not shown:
            await asyncio.sleep(seconds_to_tick(view))
            current = await run_in_threadpool(jobs.find, job.person, job.id)
            shown, view = jobs.view(current)
        reply: dict[str, Any] = view["reply"]  # type: ignore[assignment]
        # Refusals of jobs are JSON; here they become errors of the library again.
        if view["status"] != 200:
            raise refusal_from_json(reply)
        return reply

    async def _tell(self, reply: Mapping[str, Any]) -> None:
        """Send a notice with what was spent, what is left, and the number of the receipt."""
        cost = str(reply["caption"]).partition(";")[0]
        if cost.startswith("answered before"):
            cost = f"{cost}, nothing spent"
        elif self.transaction == "T" and not self._warned:
            self._warned = True
            self._write(
                notice("a ROLLBACK refunds nothing: an answer that was given stays charged")
            )
        left = await self._left()
        number = ""
        if reply["receipt"] is not None:
            number = f"; receipt {json.loads(reply['receipt'])['number']}"
        self._price = cost
        self._write(notice(f"{cost}; {left} left{number}"))

    async def _left(self) -> str:
        ledger = self._state.datasets.ledger(self._admitted.dataset)
        return str(await run_in_threadpool(ledger.left, self._admitted.person.name))

    def _check_confirmed(self, studied: Studied) -> None:
        """Refuse a new question in confirm mode; its price is the HINT."""
        if self.settings.flag("confirm") and not studied.stored:
            raise WireError(
                "53400",
                f"this question is new and costs {studied.price}; discreet.confirm is on",
                f"SET discreet.confirm = off spends {studied.price} on it",
            )

    def _check_allowance(self, studied: Studied) -> Measure | None:
        """Return what would be left of the connection's allowance; None where it has none.

        Refuses: a question that costs more than that.
        """
        words = self.settings.own("allowance")
        if not words:
            return None
        if words != self._allowance[0]:
            self._allowance = (words, self.settings.allowance())
        left = self._allowance[1]
        if studied.stored or left is None or studied.price is None:
            return left
        # None if it does not fit, or is in another measure: both are refused.
        rest = after(left, studied.price)
        if rest is None:
            raise BudgetExceeded(
                f"it costs {studied.price}, and this connection's allowance has {left} left; "
                "SET discreet.allowance in the measure of the ledger's budget",
                asked=studied.price,
                left=left,
            )
        return rest

    def _declare(self, name: str, result: StatementResult) -> StatementResult:
        keep(self._cursors, name, (result, 0), _MAX_CURSORS)
        return StatementResult("DECLARE CURSOR")

    def _fetch(self, statement: Statement) -> StatementResult:
        """Return the next rows of a cursor, or skip them (MOVE)."""
        result = self.cursor(statement.name)
        _, start = self._cursors[statement.name]
        count = {"": 1, "NEXT": 1, "ALL": len(result.rows)}.get(statement.value.upper())
        if count is None:
            count = int(statement.value)
        # Rows of a cursor were charged when it was declared.
        rows = result.rows[start : start + count]
        self._cursors[statement.name] = (result, start + len(rows))
        if statement.text.upper().startswith("MOVE"):
            return StatementResult(f"MOVE {len(rows)}")
        return StatementResult(f"FETCH {len(rows)}", result.columns, rows)

    def _close(self, name: str) -> None:
        """Close one cursor, or all."""
        if name == "all":
            self._cursors.clear()
        else:
            self.cursor(name)
            del self._cursors[name]

    def _set(self, statement: Statement) -> None:
        """Change a setting, and report it to the client if drivers follow it."""
        name = statement.name or "timezone"
        self.settings = self.settings.set(name, statement.value)
        reported = _REPORTED.get(name)
        if reported:
            # Drivers follow these; PostgreSQL tells of their changes too.
            self._write(parameter_status(reported, self.settings.values.get(name, "")))

    def _reset(self, statement: Statement) -> None:
        """Set one setting back to its value at the sign-in, or all; all also closes the cursors."""
        # The session goes back to what its connection string said.
        first = self._admitted.settings
        if statement.name == "all":
            self.settings = first
            self._cursors.clear()
        elif statement.name in first.values:
            self.settings = self.settings.set(statement.name, first.values[statement.name])
        else:
            self.settings = self.settings.reset(statement.name)

    async def _show(self, name: str) -> StatementResult:
        """Return the value of a setting as one row."""
        own = name.removeprefix(PREFIX)
        if own in SHOWN and name != own:
            return text_result("SHOW", name, await self._shown(own))
        if name == "all":
            raise WireError(FEATURE, "SHOW ALL", "SHOW one setting, such as discreet.left")
        return text_result("SHOW", name, self.settings.show(" ".join(name.split())))

    async def _shown(self, own: str) -> str:
        """Return the last price, what is left, or what was spent."""
        if own == "price":
            return self._price
        if own == "left":
            return await self._left()
        ledger = self._state.datasets.ledger(self._admitted.dataset)
        return str(await run_in_threadpool(ledger.spent, self._admitted.person.name))

    def _transact(self, statement: Statement) -> StatementResult:
        """Follow BEGIN, COMMIT, ROLLBACK and savepoints, so that drivers find what they expect."""
        tag = statement.tag
        if statement.verb == "begin":
            self.transaction = "T"
        elif statement.verb == "savepoint":
            if self.transaction == "E":
                # ROLLBACK TO a savepoint makes a failed transaction usable again.
                self.transaction = "T"
        else:
            if self.transaction == "E":
                tag = "ROLLBACK"
            self.transaction = "I"
            self._warned = False
            self._cursors.clear()
        return StatementResult(tag)


def seconds_to_tick(view: Mapping[str, object]) -> float:
    """Return how long to wait for the next tick of a job that runs: never too short.

    A wait much longer than that would cost every answer time; one too short would look twice.

    Law: tests/service/postgres/test_waiting.py::TestTicks
    """
    return float(str(view["again_in"])) + _ROUNDED


def _check_inner(statement: Statement) -> None:
    """Refuse EXPLAIN ANALYZE, and EXPLAIN, COPY and DECLARE of anything but a SELECT."""
    if statement.verb == "explain" and "ANALYZE" in statement.value.upper():
        raise WireError(
            FEATURE, "EXPLAIN ANALYZE would ask the question", "write EXPLAIN: it is free"
        )
    if read_statement(statement.inner).verb != "select":
        verb = statement.verb.upper()
        raise WireError(FEATURE, f"{verb} is of a SELECT", f"write {verb} with a SELECT in it")


def _check_answered(statement: Statement) -> None:
    """Refuse statements that write, and those of no kind that is known here."""
    if statement.verb == "write":
        raise WireError(READ_ONLY, "this is a read-only view of private data", "use SELECT")
    if statement.verb in ("refused", "empty"):
        raise WireError(SYNTAX, "this is no statement that is answered here", "use SELECT")
