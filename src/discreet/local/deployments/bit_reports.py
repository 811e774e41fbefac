"""Reports of a row and some bits, as RAPPOR and count-mean sketches send them.

One report is (row, bits as hexadecimal text), the first bit lowest in the first byte. Many reports
are two arrays.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...arithmetic.rational import whole
from ...errors import InvalidArgument
from ...frozen import frozen
from ..reports.report import HEX

BitReport: TypeAlias = tuple[int, str]

# Bits that are unpacked at a time: a bound on memory.
_CHUNK = 1 << 22


@frozen(eq=False)
class BitReports:
    """Reports of many people: `rows[i]` and the packed bits of person i, lowest bit first."""

    rows: NDArray[np.int64]
    packed: NDArray[np.uint8]
    width: int

    def __len__(self) -> int:
        return int(self.rows.size)

    def __getitem__(self, index: int) -> BitReport:
        return int(self.rows[index]), self.packed[index].tobytes().hex()

    def bits(self) -> NDArray[np.uint8]:
        """Return the bits, one row a report."""
        return np.unpackbits(self.packed, axis=1, count=self.width, bitorder="little")

    def to_list(self) -> list[list[object]]:
        """Return the reports as plain JSON types."""
        return [list(self[i]) for i in range(len(self))]


def pack_bits(rows: NDArray[np.int64], bits: NDArray[np.bool_] | NDArray[np.uint8]) -> BitReports:
    """Pack rows of bits."""
    packed = np.packbits(bits, axis=1, bitorder="little")
    return BitReports(rows, packed, int(bits.shape[1]))


def read_bit_reports(reports: Any, *, rows: int, width: int) -> BitReports:  # noqa: ANN401 - of the wire
    """Read reports and check that a device with these parameters could have sent them.

    >>> from discreet.local.deployments.bit_reports import read_bit_reports
    >>> read_bit_reports([(0, "03")], rows=1, width=4).bits().tolist()
    [[1, 1, 0, 0]]

    Refuses: `InvalidArgument` for no reports, a row out of range, and a wrong number of bits. The
    message carries no report.
    Law: `tests/local/test_rappor.py::TestRefusals`
    """
    size = (width + 7) // 8
    read = reports if isinstance(reports, BitReports) else _parse(reports, size, width)
    if read.width != width or read.packed.shape != (len(read), size):
        raise InvalidArgument(f"every report must have {width} bits")
    if len(read) == 0:
        raise InvalidArgument("at least one report is needed")
    if read.rows.min() < 0 or read.rows.max() >= rows:
        raise InvalidArgument(f"the row of a report must be a whole number from 0 to {rows - 1}")
    # Bits of the last byte beyond the width must be 0: one report has one form.
    if width % 8 and (read.packed[:, -1] >> (width % 8)).any():
        raise InvalidArgument(f"a report sets bits beyond the {width} it has")
    return read


def _parse(reports: Any, size: int, width: int) -> BitReports:  # noqa: ANN401
    """Read pairs of a row and hexadecimal text."""
    rows = []
    data = []
    try:
        for row, text in reports:
            rows.append(_row(row))
            data.append(_bytes(text))
    except (TypeError, ValueError):
        raise InvalidArgument("a report must be a row and its bits as hexadecimal text") from None
    if any(len(bits) != size for bits in data):
        raise InvalidArgument(f"every report must have {width} bits")
    packed = np.frombuffer(b"".join(data), dtype=np.uint8).reshape(len(rows), size)
    # Checked before NumPy would overflow.
    if any(row >= 1 << 62 for row in rows):
        raise InvalidArgument("the row of a report is out of range")
    return BitReports(np.array(rows, dtype=np.int64), packed, width)


def _row(row: object) -> int:
    if isinstance(row, str):
        raise TypeError
    return whole(row, "row")


def _bytes(text: str) -> bytes:
    if not HEX.fullmatch(text):
        raise ValueError
    return bytes.fromhex(text)


def column_counts(reports: BitReports, rows: int) -> NDArray[np.int64]:
    """Count the set bits of each column, for each row of the sketch: shape (rows, width).

    >>> from discreet.local.deployments.bit_reports import column_counts, read_bit_reports
    >>> column_counts(read_bit_reports([(0, "03"), (0, "01")], rows=1, width=4), 1).tolist()
    [[2, 1, 0, 0]]
    """
    order = np.argsort(reports.rows, kind="stable")
    table = np.zeros((rows, reports.width), dtype=np.int64)
    step = max(1, _CHUNK // reports.width)
    for start in range(0, len(reports), step):
        chunk = order[start : start + step]
        packed = reports.packed[chunk]
        bits = np.unpackbits(packed, axis=1, count=reports.width, bitorder="little")
        row = reports.rows[chunk]
        # Sorted by row, the reports of a row are contiguous and begin at an edge.
        edges = np.flatnonzero(np.r_[True, row[1:] != row[:-1]])
        table[row[edges]] += np.add.reduceat(bits, edges, axis=0, dtype=np.int64)
    return table
