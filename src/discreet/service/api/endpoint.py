"""API endpoint: a method, a path, its permission, its request and its reply.

`routes.py` has the table of all endpoints; the routes and the OpenAPI document follow from it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...frozen import field, frozen
from ...wire.json_text import read_json
from ..state import State
from ..stores.people import Member

# Replies are padded to whole kibibytes: their length then tells less about the numbers in them.
_PADDING_BYTES = 1024


@frozen
class ApiCall:
    """Authenticated request to an endpoint: person, parameters of path and query, and body."""

    person: Member
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes
    idempotency_key: str = ""
    gone: threading.Event = field(default_factory=threading.Event, compare=False)
    """Set when the client has closed the connection."""

    @property
    def dataset(self) -> str:
        """Data set of the path; the person may ask about it.

        That is checked before a handler runs; waiters and handlers of one dashboard check it
        themselves.
        """
        return self.path["name"]

    def json(self) -> object:
        """Read the body strictly."""
        return read_json(self.body)

    def number(self, name: str, most: int) -> int | None:
        """Read a whole number of the query string, or None where the query has no such name."""
        given = self.query.get(name)
        if given is None:
            return None
        # isdigit alone also takes digits of other scripts and powers such as ².
        if len(given) > 12 or not given.isascii() or not given.isdigit():
            raise InvalidArgument(f"{name} must be a whole number from 1 to {most}")
        return whole(given, name, least=1, most=most)


@frozen
class Reply:
    """Reply of an endpoint: a JSON object, or text of another media type `kind`.

    With `pad` its length is a multiple of 1 KiB, so that it tells less about the numbers inside.
    """

    body: Mapping[str, object] | str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    pad: bool = False

    def content(self) -> bytes:
        """Encode the body; with `pad` spaces fill it to a multiple of 1 KiB.

        Law: tests/service/test_questions.py::TestCharged
        """
        if isinstance(self.body, str):
            content = self.body.encode()
        else:
            content = json.dumps(self.body, ensure_ascii=False, allow_nan=False).encode()
        if self.pad:
            missing = -len(content) % _PADDING_BYTES
            content += b" " * missing
        return content


Handler = Callable[[State, ApiCall], Reply]
Waiter = Callable[[State, ApiCall], Awaitable[Reply]]
Who = Literal["anybody", "person", "steward"]


@frozen
class Endpoint:
    """Method and path with its function: a blocking `handler` or an asynchronous `waiter`.

    A handler runs in a thread, a waiter in the event loop. `takes` and `gives` name the OpenAPI
    schemas of the request body and of the reply, `query` the parameters of the query string, and
    `status` the statuses of success. The operation id in OpenAPI is `operation`, or the name of the
    function where none is given: renaming the function breaks generated clients.
    A handler that is `keyed` takes an Idempotency-Key, as every waiter does.
    """

    method: str
    path: str
    summary: str
    handler: Handler | None = None
    waiter: Waiter | None = None
    who: Who = "person"
    takes: str = ""
    gives: str = ""
    query: tuple[str, ...] = ()
    status: tuple[int, ...] = (200,)
    operation: str = ""
    keyed: bool = False

    @property
    def tag(self) -> str:
        """Subject of the endpoint in OpenAPI: questions, jobs, books, dashboards, datasets or people.

        "books" are the endpoints of ledgers and standing reports.
        """
        first, _, remainder = self.path.removeprefix("/").partition("/")
        if first == "me":
            return "people"
        if first != "datasets":
            return first
        verb = remainder.partition("/")[2].partition("/")[0]
        if verb == "dashboards":
            return verb
        if self.takes and self.who == "person":
            return "questions"
        if verb in ("", "values"):
            return "datasets"
        return "books"

    @property
    def in_planning_pool(self) -> bool:
        """Whether worker processes for free requests run it: possibly long work without charge."""
        return self.tag == "questions" or self.gives == "History"

    @property
    def operation_id(self) -> str:
        """Operation id in OpenAPI."""
        function = self.handler or self.waiter
        return self.operation or function.__name__  # type: ignore[union-attr]
