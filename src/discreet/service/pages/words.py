"""Numbers as people read them: short, with a space between thousands; an error is never shown smaller than it is."""

from __future__ import annotations

import math

from ...privacy.rounding import shown
from .chart import plain

__all__ = ["error_words", "percent", "value_words"]


def error_words(error: float, unit: str = "") -> str:
    r"""Write how far off something may be, rounded up to three digits.

    >>> error_words(6543.21), error_words(0.12341), error_words(31.2, "rows")
    ('± 6\u202f550', '± 0.124', '± 31.2 rows')
    """
    words = f"± {plain(float(shown(error, 3)))}" if math.isfinite(error) else "no bound"
    return f"{words} {unit}".strip()


def value_words(value: object) -> str:
    r"""Write one value of a table; NULL is said.

    >>> value_words(1234.5678), value_words(486.0), value_words(None), value_words("N"), value_words(True)
    ('1\u202f234.57', '486', 'NULL', 'N', 'yes')
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return plain(value) if isinstance(value, int | float) else str(value)


def percent(level: float) -> str:
    """Write a level.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:.6g} %"
