"""Questions that people saved under a name, each for themselves: nobody sees what a colleague has saved."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from urllib.parse import urlencode

from ...errors import InvalidArgument, NotAllowed
from ...frozen import frozen
from ..jobs.steady_clock import steady
from .store import ServiceStore

MOST = 200
LONGEST_NAME = 100
_COLUMNS = "id, dataset, name, fields, job"
_MINE = "SELECT " + _COLUMNS + " FROM discreet_saved WHERE person = ? "  # noqa: S608 - the columns are a constant
_SAVE = (
    "INSERT INTO discreet_saved (id, person, dataset, name, fields, job, created) VALUES (?, ?, ?, ?, ?, ?, ?) "
    "ON CONFLICT (person, dataset, name) DO UPDATE SET fields = excluded.fields, job = excluded.job"
)


@frozen
class SavedQuestion:
    """A question under its name: the fields of the form as they stood, and the job of its answer if it has one."""

    id: str
    dataset: str
    name: str
    fields: Mapping[str, str]
    job: str

    @property
    def link(self) -> str:
        """The address of the workbench with this question in its form."""
        return f"/workbench/{self.dataset}?{urlencode(self.fields)}"


class SavedQuestions:
    """The saved questions of all people, in the service's store."""

    def __init__(self, store: ServiceStore) -> None:
        self._store = store

    def save(
        self, person: str, dataset: str, name: str, fields: Mapping[str, str], job: str = ""
    ) -> None:
        """Save a question of a person; a name that was used before now means this one.

        Refuses a name that is empty, longer than a hundred characters or no plain text, and a name too many.
        """
        if not name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
            raise InvalidArgument(
                f"a question is saved under a name of 1 to {LONGEST_NAME} characters; give it one"
            )
        mine = [
            one for one in self.of(person) if (one.dataset, one.name) != (dataset, name.strip())
        ]
        if len(mine) >= MOST:
            raise InvalidArgument(f"{MOST} questions are saved already; forget one of them first")
        text = json.dumps(dict(fields), ensure_ascii=False)
        self._store.ask(
            _SAVE, secrets.token_urlsafe(12), person, dataset, name.strip(), text, job, steady()
        )

    def of(self, person: str, dataset: str = "") -> tuple[SavedQuestion, ...]:
        """List the questions of a person by name, all or those of one data set."""
        rows = self._store.ask(
            _MINE + "AND (dataset = ? OR ? = '') ORDER BY dataset, name", person, dataset, dataset
        )
        return tuple(map(_read, rows))

    def name_of(self, person: str, job: str) -> str:
        """Return the name that a person gave to an answer; nothing if they gave none."""
        rows = self._store.ask(_MINE + "AND job = ? ORDER BY created DESC LIMIT 1", person, job)
        return _read(rows[0]).name if rows else ""

    def forget(self, person: str, saved: str) -> SavedQuestion:
        """Forget a question of a person; refuses what is not theirs like what never was."""
        rows = self._store.ask(_MINE + "AND id = ?", person, saved)
        if not rows:
            raise NotAllowed("you have saved no such question")
        self._store.ask("DELETE FROM discreet_saved WHERE person = ? AND id = ?", person, saved)
        return _read(rows[0])


def _read(row: tuple[object, ...]) -> SavedQuestion:
    name, dataset, called, fields, job = map(str, row)
    return SavedQuestion(name, dataset, called, json.loads(fields), job)
