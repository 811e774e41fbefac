"""Steward's page of the public record of a data set, made from its ledger.

The form takes the steward's statements as TOML and the numbers of entries whose questions are
shown. Its reply is the folder of the record as a zip file.
"""

from __future__ import annotations

import io
import tomllib
import zipfile
from collections.abc import Mapping

from starlette.responses import Response
from starlette.routing import Route

from ...errors import InvalidArgument
from ...record.words import entry_numbers
from ..api.record import record_of
from ..state import State
from .page_request import PageRequest, for_stewards, table_routes
from .render import HEADERS
from .workbench import dataset_of

_DAY = (1980, 1, 1, 0, 0, 0)
"""Time of every file in the zip file, so that equal records are equal files."""


def record_routes(state: State) -> list[Route]:
    """Return the routes of the public record: its form, and the record as a file."""
    path = "/steward/{dataset}/record"
    return table_routes(
        state,
        for_stewards,
        ("GET", path, _form),
        ("POST", path, _download),
    )


def _form(visit: PageRequest) -> Response:
    return visit.show("record.html", here="Steward", dataset=dataset_of(visit))


def _download(visit: PageRequest) -> Response:
    """Make the public record from the ledger and the form, and send it as a zip file."""
    dataset = dataset_of(visit)
    state = visit.state
    # Counted twice, by the page and here: the whole ledger is read.
    state.limits.request(visit.person.name)
    words = _words(visit.form.get("words", ""))
    made = record_of(state, dataset, words, entry_numbers(visit.form.get("questions", "")))
    state.log.write("record", who=visit.person.name, dataset=dataset, status=200)
    headers = HEADERS | {"Content-Disposition": f'attachment; filename="record-{dataset}.zip"'}
    return Response(_zipped(made.files), media_type="application/zip", headers=headers)


def _words(text: str) -> Mapping[str, object]:
    try:
        return tomllib.loads(text.replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as problem:
        raise InvalidArgument(f"the words are no TOML: {problem}") from None


def _zipped(files: Mapping[str, str]) -> bytes:
    """Return texts by file name as a zip file; equal texts give equal bytes."""
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as folder:
        for name, text in files.items():
            folder.writestr(zipfile.ZipInfo(f"record/{name}", _DAY), text.encode())
    return held.getvalue()
