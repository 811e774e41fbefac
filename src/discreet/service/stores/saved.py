"""Saved questions: each user keeps questions under names of their own.

No other user sees them, but for the names of answers on a dashboard that their author shares.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from urllib.parse import urlencode

from ...errors import InvalidArgument, NotAllowed
from ...frozen import frozen
from ..jobs.steady_clock import steady
from .store import ServiceStore

MAX_SAVED = 200
"""Saved questions of one user, so that nobody fills the store."""

MAX_NAME_LENGTH = 100

_COLUMNS = "id, dataset, name, fields, job"
_MINE = "SELECT " + _COLUMNS + " FROM discreet_saved WHERE person = ? "  # noqa: S608 - the columns are a constant
_SAVE = (
    "INSERT INTO discreet_saved (id, person, dataset, name, fields, job, created) "
    "VALUES (?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (person, dataset, name) DO UPDATE SET fields = excluded.fields, job = excluded.job"
)


@frozen
class SavedQuestion:
    """Question under its name: the fields of the form, and the job of its answer if it has one."""

    id: str
    dataset: str
    name: str
    fields: Mapping[str, str]
    job: str

    @property
    def link(self) -> str:
        """Address of the workbench with this question in its form."""
        return f"/workbench/{self.dataset}?{urlencode(self.fields)}"


class SavedQuestions:
    """Saved questions of all users in the service's store."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def save(
        self, person: str, dataset: str, name: str, fields: Mapping[str, str], job: str = ""
    ) -> None:
        """Save a question of a user; it replaces one of the same name and data set.

        Refuses: a name that is empty, longer than a hundred characters or not printable, and a new name beyond
        MAX_SAVED.
        """
        stripped = name.strip()
        if not stripped or len(name) > MAX_NAME_LENGTH or not name.isprintable():
            raise InvalidArgument(
                f"a question is saved under a name of 1 to {MAX_NAME_LENGTH} characters; give it one"
            )
        # Saving under a name used before replaces that question, so it does not count.
        others = 0
        for question in self.of(person):
            if (question.dataset, question.name) != (dataset, stripped):
                others += 1
        if others >= MAX_SAVED:
            raise InvalidArgument(
                f"{MAX_SAVED} questions are saved already; forget one of them first"
            )
        text = json.dumps(dict(fields), ensure_ascii=False)
        saved_id = secrets.token_urlsafe(12)
        self._store.ask(_SAVE, saved_id, person, dataset, stripped, text, job, steady())

    def of(self, person: str, dataset: str = "") -> tuple[SavedQuestion, ...]:
        """List the questions of a user by name, all or those of one data set."""
        rows = self._store.ask(
            _MINE + "AND (dataset = ? OR ? = '') ORDER BY dataset, name", person, dataset, dataset
        )
        return tuple(map(_read, rows))

    def name_of(self, person: str, job: str) -> str:
        """Return the name under which a user saved an answer; "" if there is none."""
        rows = self._store.ask(_MINE + "AND job = ? ORDER BY created DESC LIMIT 1", person, job)
        if not rows:
            return ""
        return _read(rows[0]).name

    def forget(self, person: str, saved: str) -> SavedQuestion:
        """Delete a question of a user and return it.

        Refuses: a question of another user in the same way as one that never was, with NotAllowed.
        """
        rows = self._store.ask(_MINE + "AND id = ?", person, saved)
        if not rows:
            raise NotAllowed("you have saved no such question")
        self._store.ask("DELETE FROM discreet_saved WHERE person = ? AND id = ?", person, saved)
        return _read(rows[0])


def _read(row: tuple[object, ...]) -> SavedQuestion:
    saved_id, dataset, name, fields, job = map(str, row)
    return SavedQuestion(saved_id, dataset, name, json.loads(fields), job)
