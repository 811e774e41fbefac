"""Known broken mechanisms, and sound ones that look like them: for tests of auditors, not data.

>>> from discreet.testing.zoo import BROKEN, SOUND, find
>>> len(BROKEN), len(SOUND), find("textbook_laplace").claim
(20, 16, PureDP(1))
"""

from __future__ import annotations

from ...errors import InvalidArgument
from . import additive, selection, sparse, tables
from .specimen import Specimen

__all__ = ["BROKEN", "SOUND", "Specimen", "find"]

BROKEN: tuple[Specimen, ...] = additive.BROKEN + sparse.BROKEN + selection.BROKEN + tables.BROKEN
SOUND: tuple[Specimen, ...] = additive.SOUND + sparse.SOUND + selection.SOUND + tables.SOUND


def find(name: str) -> Specimen:
    """Return the specimen of that name.

    >>> from discreet.testing.zoo import find
    >>> find("unicorn")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: there is no specimen 'unicorn' in the zoo; BROKEN and SOUND list them all
    """
    for specimen in BROKEN + SOUND:
        if specimen.name == name:
            return specimen
    raise InvalidArgument(
        f"there is no specimen {name!r} in the zoo; BROKEN and SOUND list them all"
    )
