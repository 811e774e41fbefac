"""Report sent by a device, with the hash of its parameters: a JSON line, or a block of bytes.

    one line    {"v":1,"metric":"browser","params":"9f86d081884c7d65","report":3}
    a block     4 bytes "DLR1" · 8 bytes of the hash · 1 byte width · 1 byte length of the name ·
                name · reports

A report of other parameters was drawn by another law: adding it up would be wrong and nobody would
see it. So the hash of the parameters is sent with every report, and the reader says which hash is
expected.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import InvalidArgument
from ...frozen import frozen

VERSION = 1
HEX = re.compile("[0-9a-f]+")
"""Hexadecimal bytes of a report: lower case, no separators, so that a report has one form."""
_MAGIC = b"DLR1"
# A block begins with the magic bytes, 8 bytes of hash, the width, and the length of the name.
_HASH_START = 4
_WIDTH_AT = 12
_NAME_LENGTH_AT = 13
_NAME_START = 14
# Characters of one line; longer input of a device is refused before it is parsed.
_MAX_LINE = 1 << 16


@frozen
class LocalReport:
    """One report: its metric, the hash of its parameters, and the value drawn (JSON types)."""

    metric: str
    params: str
    report: Any


def params_hash(parameters: Mapping[str, object]) -> str:
    """Return the first 16 hex digits of SHA-256 over the canonical JSON of the parameters.

    Canonical JSON has sorted keys, no spaces and UTF-8, so that a device computes the same hash.

    >>> from discreet.local import params_hash
    >>> params_hash({"b": 1, "a": "é"}) == params_hash({"a": "é", "b": 1})
    True

    Law: `tests/local/test_report.py::test_a_hash_names_the_law`
    """
    text = _written(parameters, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_text(text: object, name: str) -> str:
    """Read a public text, such as the name of a metric.

    >>> from discreet.local.reports.report import read_text
    >>> read_text("browser", "metric")
    'browser'

    Refuses: `InvalidArgument` for anything but text, and for text that UTF-8 cannot write.
    """
    # Surrogates are code points that no UTF-8 text contains.
    if isinstance(text, str) and not any("\ud800" <= letter <= "\udfff" for letter in text):
        return text
    raise InvalidArgument(f"{name} must be text that UTF-8 can write")


def pack(report: LocalReport) -> str:
    """Write one report as one JSON line.

    >>> from discreet.local import LocalReport, pack
    >>> pack(LocalReport("browser", "9f86d081884c7d65", 3))
    '{"v":1,"metric":"browser","params":"9f86d081884c7d65","report":3}'
    """
    fields = {
        "v": VERSION,
        "metric": report.metric,
        "params": report.params,
        "report": report.report,
    }
    return _written(fields)


def _written(fields: Mapping[str, object], *, sort_keys: bool = False) -> str:
    """Write fields as compact JSON; refuses other types than JSON's, and text that is no UTF-8."""
    try:
        text = json.dumps(
            fields, sort_keys=sort_keys, separators=(",", ":"), ensure_ascii=False, allow_nan=False
        )
    except (TypeError, ValueError):
        raise InvalidArgument(
            "only JSON types travel: text, finite numbers, lists of them"
        ) from None
    return read_text(text, "what travels")


def unpack(line: str | bytes, *, params: str, metric: str | None = None) -> LocalReport:
    """Read one JSON line written by `pack`.

    >>> from discreet.local import unpack
    >>> unpack('{"v":1,"metric":"browser","params":"9f86d081884c7d65","report":3}', params="9f86d081884c7d65").report
    3

    Refuses: `InvalidArgument` for other parameters, another metric, another version, and anything
    that is no report. No refusal carries the report.
    Law: `tests/local/test_report.py::test_others_are_refused`
    """
    given = _parsed(line)
    _check_same(given["params"], params, given["metric"], metric)
    return LocalReport(given["metric"], given["params"], given["report"])


def pack_block(reports: NDArray[Any], *, metric: str, params: str, width: int) -> bytes:
    """Write many reports of one metric as bytes, `width` bytes each, behind one short header.

    Reports are whole numbers (one axis), little-endian, or rows of `width` bytes (two axes).

    >>> import numpy as np
    >>> from discreet.local import pack_block
    >>> len(pack_block(np.array([1, 300, 70_000]), metric="m", params="9f86d081884c7d65", width=3))
    24

    Refuses: `InvalidArgument` for numbers that do not fit, a metric's name beyond 255 bytes, and
    params that are no hash.
    Law: `tests/local/test_report.py::test_blocks_that_do_not_fit`
    """
    name = read_text(metric, "metric").encode()
    if not isinstance(params, str) or not HEX.fullmatch(params) or len(params) != 16:
        raise InvalidArgument("params must be the hash of the parameters, 16 hexadecimal digits")
    if len(name) > 255 or type(width) is not int or not 1 <= width <= 255:
        raise InvalidArgument(
            "a block holds a metric's name of at most 255 bytes and reports of 1 to 255 bytes each"
        )
    header = _MAGIC + bytes.fromhex(params) + bytes([width, len(name)]) + name
    return header + _bytes_of(np.asarray(reports), width).tobytes()


def _bytes_of(reports: NDArray[Any], width: int) -> NDArray[np.uint8]:
    """Return each report as a row of `width` bytes, little-endian."""
    if reports.ndim == 2:
        if reports.dtype != np.uint8 or reports.shape[1] != width:
            raise InvalidArgument(f"rows of a block must be {width} bytes each")
        return reports
    if reports.dtype.kind not in "iu" or width > 8 or (reports.size and reports.min() < 0):
        raise InvalidArgument("reports must be whole numbers of at most 8 bytes, or rows of bytes")
    if reports.size and int(reports.max()) >> (8 * width):
        raise InvalidArgument(f"a report does not fit in {width} bytes")
    all_bytes = reports.astype("<u8").view(np.uint8).reshape(-1, 8)
    return all_bytes[:, :width]


def unpack_block(data: bytes, *, params: str, metric: str | None = None) -> NDArray[np.uint8]:
    """Read a block written by `pack_block` as rows of bytes, one row a report, little-endian.

    >>> import numpy as np
    >>> from discreet.local import pack_block, unpack_block
    >>> block = pack_block(np.array([1, 300]), metric="m", params="9f86d081884c7d65", width=2)
    >>> unpack_block(block, params="9f86d081884c7d65").tolist()
    [[1, 0], [44, 1]]

    Refuses: `InvalidArgument` for other parameters, another metric, and a truncated block.
    Law: `tests/local/test_report.py::test_blocks_come_back`
    """
    if not _has_header(data):
        raise InvalidArgument("this is no block of reports in version 1")
    width = data[_WIDTH_AT]
    start = _NAME_START + data[_NAME_LENGTH_AT]
    found_params = data[_HASH_START:_WIDTH_AT].hex()
    found_metric = data[_NAME_START:start].decode(errors="replace")
    _check_same(found_params, params, found_metric, metric)
    if (len(data) - start) % width:
        raise InvalidArgument("the block of reports is cut off; send it again")
    return np.frombuffer(data, dtype=np.uint8, offset=start).reshape(-1, width)


def _has_header(data: bytes) -> bool:
    """Return whether a block has a complete header; a width of 0 would divide by zero."""
    if not isinstance(data, bytes) or data[:_HASH_START] != _MAGIC or len(data) < _NAME_START:
        return False
    return data[_WIDTH_AT] > 0 and len(data) >= _NAME_START + data[_NAME_LENGTH_AT]


def _parsed(line: str | bytes) -> dict[str, Any]:
    """Parse one line strictly: exactly the four fields, each once, of this version."""
    if not isinstance(line, str | bytes):
        raise InvalidArgument("a report must be one line of JSON, text or bytes")
    if len(line) > _MAX_LINE:
        raise InvalidArgument(f"a report has at most {_MAX_LINE} characters")
    try:
        # Text goes through UTF-8 too, which refuses surrogates.
        data = line if isinstance(line, bytes) else line.encode()
        given = json.loads(data.decode(), object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise InvalidArgument(
            "a report must be one line of JSON in UTF-8, every field once"
        ) from None
    if not isinstance(given, dict) or set(given) != {"v", "metric", "params", "report"}:
        raise InvalidArgument(
            'a report has exactly the fields "v", "metric", "params" and "report"'
        )
    if type(given["v"]) is not int or given["v"] != VERSION:
        raise InvalidArgument(
            f"the report is of another version; this release reads version {VERSION}"
        )
    if not isinstance(given["metric"], str) or not isinstance(given["params"], str):
        raise InvalidArgument('"metric" and "params" of a report must be text')
    return given


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a field that occurs twice: two readers could take different ones."""
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError
    return fields


def _check_same(params: str, expected: str, metric: str, wanted: str | None) -> None:
    """Refuse a report of other parameters or, if `wanted` is given, of another metric."""
    if params != expected:
        raise InvalidArgument(
            "the report was drawn under other parameters; "
            "estimate it with those, or have the device load the new ones"
        )
    if wanted is not None and metric != wanted:
        raise InvalidArgument("the report belongs to another metric")
