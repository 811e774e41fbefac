"""Parquet file as a stream of Arrow batches in which every cell is total.

One reader reads every file. Which types its columns have follows from the Parquet schema in the
footer, never from a cell, and not from the schema of Arrow that some writers add: a duration is the
whole number that Parquet stores. Cells outside the range of their type are settled one by one
(`intake.arrow`), so the reader has no error to fall back from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from ..errors import InvalidArgument
from ..optional import OptionalPackage, load

MakeTotal: TypeAlias = Callable[[Any], Any]

pa = OptionalPackage("pyarrow", "parquet")
BATCH_ROWS = 1 << 17
"""Rows of a batch: more than a row group of DuckDB, few enough for little memory."""


class ParquetFile:
    """A Parquet file: its columns by name, with the Arrow types in which they are read.

    Refuses: a file that is not there or is none of Parquet's.
    """

    def __init__(self, path: Path) -> None:
        parquet = load("pyarrow.parquet", "parquet")
        self.path = path
        try:
            # Times of 96 bits reach from 1677 to 2262 in nanoseconds only.
            self._file = parquet.ParquetFile(
                path, coerce_int96_timestamp_unit="us", arrow_extensions_enabled=False
            )
            schema = self._file.schema_arrow
        except (pa.ArrowException, OSError):
            raise unreadable(path) from None
        self.names: list[str] = list(schema.names)
        self.types = {field.name: _parquet_type(field.type) for field in schema}

    def batches(self, columns: Mapping[str, tuple[str, MakeTotal]], schema: Any) -> Iterator[Any]:  # noqa: ANN401
        """Yield batches of columns, each named anew and made total by its own function."""
        wanted = list(dict.fromkeys(name for name, _ in columns.values()))
        for batch in self._file.iter_batches(BATCH_ROWS, columns=wanted):
            arrays = []
            for name, make_total in columns.values():
                # Of the same bits, so that nothing is converted.
                cells = batch.column(name).view(self.types[name])
                total = make_total(pa.chunked_array([cells]))
                arrays.append(total.combine_chunks())
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


class ParquetStream:
    """Columns of a Parquet file that a store can scan several times (the Arrow C stream interface).

    `columns` gives for each new name the stored one, and the function that makes its cells total.
    """

    def __init__(self, file: ParquetFile, columns: Mapping[str, tuple[str, MakeTotal]]) -> None:
        self._file = file
        self._columns = columns
        fields = []
        for label, (name, make_total) in columns.items():
            # The type that a column of no cells gets is that of any other.
            empty = pa.chunked_array([], file.types[name])
            fields.append(pa.field(label, make_total(empty).type))
        self._schema = pa.schema(fields)

    def __arrow_c_schema__(self) -> object:
        """Return the schema as a capsule."""
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return a new stream over all rows as a capsule."""
        batches = self._file.batches(self._columns, self._schema)
        reader = pa.RecordBatchReader.from_batches(self._schema, batches)
        return reader.__arrow_c_stream__(requested_schema)


def unreadable(path: Path) -> InvalidArgument:
    """Return the refusal of a file that cannot be read as Parquet."""
    return InvalidArgument(f"{path.name} cannot be read as Parquet")


def _parquet_type(stored: Any) -> Any:  # noqa: ANN401
    """Return the type by Parquet's own schema: it has no durations, only whole numbers."""
    if pa.types.is_duration(stored):
        return pa.int64()
    return stored
