"""Text of numbers and days on pages: thin spaces between thousands; prices and errors round up."""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime
from fractions import Fraction

from ...arithmetic.rounding import shown
from .charts.chart import plain


def day_of(seconds: float) -> str:
    """Write the UTC day of a time in seconds since 1970.

    >>> from discreet.service.pages.number_text import day_of
    >>> day_of(86_399.9), day_of(86_400)
    ('1970-01-01', '1970-01-02')
    """
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d")


def price_words(price: float, digits: int = 4) -> str:
    """Write a price, rounded up to so many significant digits.

    A float counts as the shortest decimal that reads back as it, so 0.2 stays 0.2.

    >>> from discreet.service.pages.number_text import price_words
    >>> price_words(0.1 + 0.1), price_words(2**0.5, 3)
    ('0.2', '1.42')
    """
    return shown(Fraction(repr(price)), digits)


def error_words(error: float, unit: str = "") -> str:
    r"""Write an error as ± and three significant digits, rounded up; "no bound" if it is infinite.

    >>> from discreet.service.pages.number_text import error_words
    >>> error_words(6543.21), error_words(0.12341), error_words(31.2, "rows")
    ('± 6\u202f550', '± 0.124', '± 31.2 rows')
    """
    words = "no bound"
    if math.isfinite(error):
        # `shown` rounds up: an error must never look smaller than it is.
        words = f"± {plain(float(shown(error, 3)))}"
    return f"{words} {unit}".strip()


def sentence(words: str) -> str:
    """Make a sentence of words: capital first letter unless it is Greek, full stop at the end.

    >>> from discreet.service.pages.number_text import sentence
    >>> sentence("it is so"), sentence("ε must be above 0"), sentence("Really?")
    ('It is so.', 'ε must be above 0.', 'Really?')
    """
    first = words[:1]
    if first.isascii():
        first = first.upper()
    end = "" if words.endswith((".", "?", "!")) else "."
    return first + words[1:] + end


_CODE = (
    (r": ledger\.allow\(.*\)", ""),
    (r"\bspend=", ""),
    (r"(?:dp\.)?ApproxDP\(([^(),]+), ([^()]+)\)", r"ε = \1 and δ = \2"),
    (r"(?:dp\.)?PureDP\(([^()]+)\)", r"ε = \1"),
    (r"(?:dp\.)?ZCDP\(([^()]+)\)", r"ρ = \1"),
    (r"(?:dp\.)?GaussianDP\(([^()]+)\)", r"μ = \1"),
    (r"\bApproxDP\b", "(ε, δ)"),
    (r"\bPureDP\b", "ε"),
    (r"\bZCDP\b", "ρ"),
    (r"\bGaussianDP\b", "μ"),
)
"""Budgets as Python writes them, and as pages do."""


def without_code(words: str) -> str:
    """Write budgets in a message by their symbols: people on pages write no Python.

    >>> from discreet.service.pages.number_text import without_code
    >>> without_code("spend dp.ApproxDP(1, 1e-6), ZCDP or GaussianDP"), without_code("spend=dp.PureDP(1/2)")
    ('spend ε = 1 and δ = 1e-6, ρ or μ', 'ε = 1/2')
    """
    for code, plain_text in _CODE:
        words = re.sub(code, plain_text, words)
    return words


def value_words(value: object) -> str:
    r"""Write one value of a table: a number with six significant digits, None as NULL, yes or no.

    >>> from discreet.service.pages.number_text import value_words
    >>> value_words(1234.5678), value_words(486.0), value_words(None), value_words("N"), value_words(False)
    ('1\u202f234.57', '486', 'NULL', 'N', 'no')
    """
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return plain(value)
    return str(value)


def key_words(value: object) -> str:
    """Write the value of a grouping key: numbers have no separators, since a key may be a year.

    >>> from discreet.service.pages.number_text import key_words
    >>> key_words(2024), key_words(0.5), key_words(None), key_words(True)
    ('2024', '0.5', 'NULL', 'yes')
    """
    if isinstance(value, float):
        return f"{value:.15g}"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value_words(value)


def percent(level: float) -> str:
    """Write a confidence level as a percentage.

    >>> from discreet.service.pages.number_text import percent
    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:.6g} %"
