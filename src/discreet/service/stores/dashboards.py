"""Dashboards: one author's texts, answers and streams (standing reports) in a chosen order."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import asdict

from ...arithmetic.canonical import digest
from ...errors import InvalidArgument, NotAllowed
from ...frozen import frozen, replace
from ..jobs.steady_clock import steady
from .store import ServiceStore

MAX_DASHBOARDS = 50
"""Dashboards of one author, so that nobody fills the store."""

MAX_PARTS = 40
MAX_TEXT_LENGTH = 4_000
MAX_TITLE_LENGTH = 100
UNKNOWN = "there is no such dashboard among yours and those shared with you; ask its author"

_COLUMNS = "id, person, dataset, title, parts, shared, withdrawn, changed"
_SELECT = "SELECT " + _COLUMNS + " FROM discreet_dashboards "  # noqa: S608 - the columns are a constant


@frozen
class DashboardPart:
    """Part of a dashboard: a text, an answer by its job, or a standing report by its name.

    `fresh` is the job of its last refresh, which is shown once it has an answer; `answer` until
    then. `by` names the periods of a standing report.
    """

    text: str = ""
    answer: str = ""
    fresh: str = ""
    stream: str = ""
    by: str = ""


@frozen
class Dashboard:
    """Dashboard of an author, `person`; `changed` is in seconds since 1970, UTC.

    `shared` is the author's choice, `withdrawn` the steward's: a withdrawn dashboard is its
    author's alone.
    """

    id: str
    person: str
    dataset: str
    title: str
    parts: tuple[DashboardPart, ...]
    shared: bool
    withdrawn: bool
    changed: float

    @property
    def version(self) -> str:
        """Hash of what an author can change, to find out whether it has changed meanwhile."""
        return digest(json.dumps([self.title, _write(self.parts), self.shared]))


class Dashboards:
    """Dashboards of all authors in the service's store."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def add(self, person: str, dataset: str, title: str) -> Dashboard:
        """Make an empty dashboard, which nobody else sees.

        Refuses: a title that is empty, long or not printable, and more than MAX_DASHBOARDS.
        """
        checked = check_title(title)
        # Shared ones count too: the limit is on what one author can fill the store with.
        if len(self.of(person)) >= MAX_DASHBOARDS:
            raise InvalidArgument(
                f"you have {MAX_DASHBOARDS} dashboards already; delete one of them first"
            )
        made = Dashboard(
            secrets.token_urlsafe(12), person, dataset, checked, (), False, False, steady()
        )
        self._store.ask(
            "INSERT INTO discreet_dashboards (id, person, dataset, title, parts, shared, "
            "withdrawn, changed) VALUES (?, ?, ?, ?, '[]', 0, 0, ?) ON CONFLICT DO NOTHING",
            made.id,
            person,
            dataset,
            checked,
            made.changed,
        )
        return made

    def get(self, name: str) -> Dashboard | None:
        """Find a dashboard by its id alone; who may see it is checked by the caller."""
        rows = self._store.ask(_SELECT + "WHERE id = ?", name)
        return _read(rows[0]) if rows else None

    def of(self, person: str) -> tuple[Dashboard, ...]:
        """List the dashboards of an author by title."""
        return self._list("WHERE person = ? ORDER BY title, id", person)

    def shared(self, dataset: str) -> tuple[Dashboard, ...]:
        """List the shared dashboards of a data set by title, with those that were taken back."""
        return self._list("WHERE dataset = ? AND shared = 1 ORDER BY title, id", dataset)

    def save(self, before: Dashboard, after: Dashboard) -> Dashboard:
        """Replace title, parts and sharing of an author's dashboard, if it is still as before.

        Refuses: a dashboard of which one of these changed meanwhile, such as in another window,
        and one that was deleted.
        """
        # Checked here as well, so that no caller can store what cannot be shown.
        check_title(after.title)
        _check_parts(after.parts)
        after = replace(after, changed=steady())
        # Compared with what was there: of two windows the second one is refused (optimistic locking).
        self._store.ask(
            "UPDATE discreet_dashboards SET title = ?, parts = ?, shared = ?, changed = ? "
            "WHERE id = ? AND person = ? AND title = ? AND parts = ? AND shared = ?",
            after.title,
            _write(after.parts),
            int(after.shared),
            after.changed,
            before.id,
            before.person,
            before.title,
            _write(before.parts),
            int(before.shared),
        )
        found = self.get(before.id)
        if found is None:
            raise NotAllowed(UNKNOWN)
        # Compared by contents: a statement that was sent twice finds its own first run.
        if found.version != after.version:
            raise InvalidArgument("this dashboard changed meanwhile; load it again, then change it")
        return found

    def delete(self, board: Dashboard) -> None:
        """Delete a dashboard; its answers stay with their author."""
        self._store.ask("DELETE FROM discreet_dashboards WHERE id = ?", board.id)

    def withdraw(self, board: Dashboard, *, withdrawn: bool) -> None:
        """Take a dashboard back from everybody but its author, or let it be shared again."""
        self._store.ask(
            "UPDATE discreet_dashboards SET withdrawn = ? WHERE id = ?", int(withdrawn), board.id
        )

    def _list(self, condition: str, value: str) -> tuple[Dashboard, ...]:
        return tuple(map(_read, self._store.ask(_SELECT + condition, value)))


def check_title(title: str) -> str:
    """Return a title without spaces around it; refuse one that is empty, long or not printable."""
    stripped = title.strip()
    if not stripped or len(title) > MAX_TITLE_LENGTH or not title.isprintable():
        raise InvalidArgument(
            f"a dashboard has a title of 1 to {MAX_TITLE_LENGTH} characters; give it one"
        )
    return stripped


def _check_parts(parts: Sequence[DashboardPart]) -> None:
    if len(parts) > MAX_PARTS:
        raise InvalidArgument(f"a dashboard has at most {MAX_PARTS} parts; make another one")
    for part in parts:
        if len(part.text) > MAX_TEXT_LENGTH:
            raise InvalidArgument(f"a text has at most {MAX_TEXT_LENGTH} characters; shorten it")


def _write(parts: Sequence[DashboardPart]) -> str:
    """Write parts as JSON, without their empty fields."""
    listed = []
    # Empty fields are left out, so that a later release may add some.
    for part in parts:
        listed.append({name: value for name, value in asdict(part).items() if value})
    return json.dumps(listed, ensure_ascii=False)


def _read(row: tuple[object, ...]) -> Dashboard:
    name, person, dataset, title, parts, shared, withdrawn, changed = row
    listed = tuple(DashboardPart(**part) for part in json.loads(str(parts)))
    return Dashboard(
        str(name),
        str(person),
        str(dataset),
        str(title),
        listed,
        bool(shared),
        bool(withdrawn),
        float(str(changed)),
    )
