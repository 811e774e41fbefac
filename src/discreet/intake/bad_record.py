r"""Records that break the grammar, left out or emptied by the steward's word.

A record is the shortest well-formed one that begins here. Where none does (a stray or open quote, too many or too few
fields, a bare CR, NUL, text that is not UTF-8), the bytes up to the next LF are one bad record, and the next line
begins anew. So a bad record takes at most its own line with it; but a quote that is opened by mistake and closed by
another one later still joins the lines between, if they make one record of the right width.
"""

from __future__ import annotations

import re


def mended(
    data: bytes, delimiter: str, quote: str, fields: int, *, keep: bool
) -> tuple[bytes, int]:
    r"""Return a file without its bad records, or with nothing in them (`keep`), and how many there were.

    >>> from discreet.intake.bad_record import mended
    >>> mended(b'a,b\n1,2\n3\n"4,5\n6,"7"\n', ",", '"', 2, keep=False)
    (b'a,b\n1,2\n6,"7"\n', 2)
    >>> mended(b'a,b\n3\n', ",", '"', 2, keep=True)
    (b'a,b\n,\n', 1)
    """
    pattern = _record(delimiter, quote, fields)
    empty = delimiter.encode() * (fields - 1) if fields > 1 else (quote * 2).encode()
    parts: list[bytes] = []
    place = bad = 0
    while place < len(data):
        found = pattern.match(data, place)
        if found and _is_text(found[0]):
            parts.append(found[0])
            place = found.end()
            continue
        bad += 1
        end = data.find(b"\n", place)
        place = len(data) if end < 0 else end + 1
        if keep:
            parts.append(empty + b"\n")
    return b"".join(parts), bad


def _record(delimiter: str, quote: str, fields: int) -> re.Pattern[bytes]:
    """Match one record of so many fields; atomic groups, so that no record is tried in several ways."""
    d, q = re.escape(delimiter), re.escape(quote)
    field = rf"(?>{q}(?>[^{q}\0]+|{q}{q})*+{q}|[^{d}{q}\r\n\0]*+)"
    more = rf"(?:{d}{field}){{{fields - 1}}}" if fields > 1 else ""
    some = r"(?!\r?\n|\Z)" if fields == 1 else ""
    return re.compile(rf"{some}{field}{more}(?:\r?\n|\Z)".encode())


def _is_text(record: bytes) -> bool:
    try:
        record.decode()
    except UnicodeDecodeError:
        return False
    return True
