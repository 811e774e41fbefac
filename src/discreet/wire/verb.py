"""Verb: the one definition of a request to a curator over HTTP, with its reply and its work.

From the table in `verbs/table.py` follow the routes of the service, the OpenAPI schemas of requests
and replies, the check of a request in a worker process, and the runs of its jobs. Only methods of
`Curator` and `Remote` and commands are written by hand, for their signatures and docstrings.

Law: tests/wire/test_verbs.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import TYPE_CHECKING, Generic, TypeVar

from ..errors import InvalidArgument
from ..frozen import field, frozen
from ..json_shape import JsonObject, JsonSchema, Record
from ..privacy.budget_text import budget_to_table
from ..privacy.measures import Measure

if TYPE_CHECKING:
    from ..curator import Curator


class Request:
    """Base of requests: frozen values whose fields have the names of their JSON."""

    __slots__ = ()

    def arguments(self) -> JsonObject:
        """Return the arguments by their names in JSON; None stands for one that is not given."""
        given: JsonObject = {}
        for part in fields(self):  # type: ignore[arg-type]
            given[part.name] = getattr(self, part.name)
        return given

    def to_json(self) -> JsonObject:
        """Return the given arguments as plain JSON, as clients send and jobs store them.

        Law: tests/wire/test_verbs.py::test_what_is_written_is_read_back
        """
        written: JsonObject = {}
        for name, value in self.arguments().items():
            if value is not None:
                written[name] = plain(value)
        return written


R = TypeVar("R", bound=Request)


def plain(value: object) -> object:
    """Return an argument as plain JSON: budgets as objects, numbers with a fraction as exact text."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Measure):
        return budget_to_table(value)
    if isinstance(value, Mapping):
        return {name: plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(inner) for inner in value]
    # As text a fraction stays exact, and a float has the decimals that read back alike.
    return str(value)


@frozen
class RequestFormat(Generic[R]):
    """Format of a request: its name in the OpenAPI document, its fields, and its class.

    `make` takes the fields that were sent as keyword arguments, so its defaults hold for all others.
    """

    name: str
    record: Record
    make: Callable[..., R]

    def read(self, body: object) -> R:
        """Read a request from JSON.

        Refuses: unknown fields, wrong types and violated rules, by `InvalidArgument`.
        """
        given = self.record.read(body)
        return self.make(**given)


@frozen
class ReplyFormat:
    """Format of a reply: its name in the OpenAPI document, its fields, and schemas of its parts."""

    name: str
    record: Record
    parts: Mapping[str, JsonSchema] = field(default_factory=dict)


@frozen
class Verb(Generic[R]):
    """Verb of a curator as a service offers it, under `POST /api/v1/datasets/{dataset}/{path}`.

    | field | holds |
    |---|---|
    | `name` | the verb of its jobs, and the method of `Curator` and `Remote` |
    | `operation_id` | the name of the operation in OpenAPI, on which generated clients build |
    | `summary` | one sentence for OpenAPI |
    | `request`, `reply` | formats of the bodies |
    | `free_run` | work on public facts alone, in a worker process: `(curator, request, max_cells)` |
    | `charged_run` | work of a job, which charges the ledger: `(curator, request)`; None if free |
    | `path` | the last part of the path; the name if it is empty |

    `free_run` returns the reply of a free verb. Of a charged verb it is the check: what it refuses
    is refused before anything is written or charged. `max_cells` limits the noisy numbers of a
    reply.
    """

    name: str
    operation_id: str
    summary: str
    request: RequestFormat[R]
    reply: ReplyFormat
    free_run: Callable[[Curator, R, int], JsonObject | None]
    charged_run: Callable[[Curator, R], JsonObject] | None = None
    path: str = ""

    @property
    def charged(self) -> bool:
        """True if the verb spends budget; it then runs as a job."""
        return self.charged_run is not None

    def run_job(self, curator: Curator, body: object) -> JsonObject:
        """Run the charged work on the stored body of a job."""
        if self.charged_run is None:
            raise InvalidArgument(f"{self.name} is free: it runs without a job")
        return self.charged_run(curator, self.request.read(body))


def check_count(asked: int, max_cells: int) -> None:
    """Refuse an answer with more noisy numbers than the service gives at once."""
    if asked > max_cells:
        raise InvalidArgument(
            f"the answer would have {asked} noisy numbers; at most {max_cells} are given at once"
        )
