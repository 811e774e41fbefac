"""One way in: a method, a path, who may use it, what it takes and gives; the table of them is in `api`."""

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


@frozen
class ApiCall:
    """A request that came through the door."""

    person: Member
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes
    mark: str = ""
    gone: threading.Event = field(default_factory=threading.Event, compare=False)
    """Set when whoever asked has hung up."""

    @property
    def dataset(self) -> str:
        """The data set of the path, as it was written there; a handler checks it before use."""
        return self.path["name"]

    def json(self) -> object:
        """Read the body strictly."""
        return read_json(self.body)

    def number(self, name: str, most: int) -> int | None:
        """Read a whole number of the query string, if it is there."""
        given = self.query.get(name)
        if given is not None and (len(given) > 12 or not given.isascii() or not given.isdigit()):
            raise InvalidArgument(f"{name} must be a whole number from 1 to {most}")
        return None if given is None else whole(given, name, least=1, most=most)


@frozen
class Reply:
    """What is sent back: JSON, or text as it stands."""

    body: Mapping[str, object] | str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str = "application/json"
    pad: bool = False

    def content(self) -> bytes:
        """Write the body; with `pad` it is filled with spaces to a multiple of 1 KiB, so its length says less."""
        text = (
            self.body
            if isinstance(self.body, str)
            else json.dumps(self.body, ensure_ascii=False, allow_nan=False)
        )
        content = text.encode()
        return content + b" " * (-len(content) % 1024) if self.pad else content


Handler = Callable[[State, ApiCall], Reply]
Waiter = Callable[[State, ApiCall], Awaitable[Reply]]
Who = Literal["anybody", "person", "steward"]


@frozen
class Endpoint:
    """A method and a path; `handler` blocks and runs in a thread, `waiter` waits in the event loop.

    `takes` and `gives` name the shapes of the body and of the reply; the handler's own name names the operation.
    """

    method: str
    path: str
    words: str
    handler: Handler | None = None
    waiter: Waiter | None = None
    who: Who = "person"
    takes: str = ""
    gives: str = ""
    query: tuple[str, ...] = ()
    status: tuple[int, ...] = (200,)

    @property
    def tag(self) -> str:
        """What the way is about: questions, jobs, books, datasets or people."""
        first, _, rest = self.path.removeprefix("/").partition("/")
        if first != "datasets":
            return {"me": "people"}.get(first, first)
        verb = rest.partition("/")[2].partition("/")[0]
        if self.takes and self.who == "person":
            return "questions"
        return "datasets" if verb in ("", "values") else "books"

    @property
    def at_desk(self) -> bool:
        """Whether clerks work it out, in a line of their own: what may take long, and costs nothing."""
        return self.tag == "questions" or self.gives == "History"

    @property
    def name(self) -> str:
        """The name of the operation."""
        return (self.handler or self.waiter).__name__  # type: ignore[union-attr]
