"""Sources of tables for Spark: its catalogue, data frames, and files whose types no row decides.

Spark guesses the type of a partition column from the names of all folders, so that one folder
zip=0A changes how all others are read. One file whose columns have other types fails a question.
Files are therefore read here without guessing, after a check that all have the same columns. A
frame of the caller is refused where one of its types could have been guessed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from ...errors import InvalidArgument, SchemaMismatch
from ..sql.table_name import read_table_name
from .dialect import SPARK
from .log_filter import quiet

_REBASE_SETTINGS = (
    "spark.sql.parquet.datetimeRebaseModeInRead",
    "spark.sql.parquet.int96RebaseModeInRead",
    "spark.sql.avro.datetimeRebaseModeInRead",
)
_GUESSES = "spark.sql.sources.partitionColumnTypeInference.enabled"


def is_path(source: object) -> bool:
    """Return whether a source names files rather than a table.

    >>> from discreet.engines.spark.source import is_path
    >>> is_path("hr.staff"), is_path("people.parquet"), is_path("s3a://store/people")
    (False, True, True)
    """
    if not isinstance(source, str):
        return isinstance(source, Path)
    return "/" in source or source.lower().endswith((".parquet", ".csv"))


def table_sql(name: str, source: Any) -> str:  # noqa: ANN401
    """Return the SQL after FROM for the name of a table, or for a data frame, made a view.

    Refuses: other objects, and names with "${", which Spark would replace.
    """
    if isinstance(source, str) and "${" not in source:
        return ".".join(map(SPARK.quote, read_table_name(source, 3)))
    if not callable(getattr(source, "createOrReplaceTempView", None)):
        raise InvalidArgument(
            f"{name} is no table of Spark; give a data frame, a path, or the name of a table without ${{"
        )
    return view_of(source)


def view_of(frame: Any, name: str = "") -> str:  # noqa: ANN401
    """Make a data frame a view, and return its name in quotes."""
    view = name or f"discreet_{uuid4().hex}"
    frame.createOrReplaceTempView(view)
    return SPARK.quote(view)


def read_files(session: Any, path: str | Path, name: str) -> Any:  # noqa: ANN401
    """Read Parquet, or CSV with all columns as text, as a frame.

    Files that appear later are not in it.

    Refuses: files that cannot be read, and files whose columns or types differ.
    """
    location = str(path)
    with quiet():
        # The setting belongs to the caller's session, so it is restored in any case.
        before = session.conf.get(_GUESSES)
        session.conf.set(_GUESSES, "false")
        try:
            read = _csv if ".csv" in location.lower() else _parquet
            frame = read(session, location)
            alike = all(_is_alike(read(session, file), frame, file) for file in frame.inputFiles())
        except Exception:  # noqa: BLE001 a message of Spark may show the content of a file
            raise SchemaMismatch(
                f"the files of {name} cannot be read by Spark as Parquet or CSV"
            ) from None
        finally:
            session.conf.set(_GUESSES, before)
    if not alike:
        raise SchemaMismatch(
            f"the files of {name} differ in their columns or types, and one of another type fails every question; "
            "write them again with one schema"
        )
    return frame


def _csv(session: Any, location: str) -> Any:  # noqa: ANN401
    return session.read.csv(location, header=True, inferSchema=False)


def _parquet(session: Any, location: str) -> Any:  # noqa: ANN401
    """Read Parquet with days before 1582 as they are stored.

    By the session's own mode one such day could fail every question.
    """
    corrected = {"datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED"}
    reader = session.read.options(mergeSchema="false", **corrected)
    return reader.parquet(location)


def _is_alike(own: Any, frame: Any, file: str) -> bool:  # noqa: ANN401
    """Return whether a file has the frame's columns in order, without those that folders name."""
    expected = []
    for name, kind in frame.dtypes:
        if f"/{name}=" not in file:
            expected.append((name, kind))
    return bool(own.dtypes == expected)


def is_guessed(frame: Any) -> bool:  # noqa: ANN401
    """Return whether a frame reads folders such as zip=10115 as anything but text.

    The type of such a column may have been guessed.
    """
    try:
        folders = [f"/{name}=" for name, kind in frame.dtypes if kind != "string"]
        for file in frame.inputFiles():
            if any(folder in file for folder in folders):
                return True
    except Exception:  # noqa: BLE001 a frame that cannot be inspected may have been guessed
        return True
    return False


def failing_setting(session: Any) -> str | None:  # noqa: ANN401
    """Return the setting by which one stored day before 1582 would fail every question, if any."""
    for setting in _REBASE_SETTINGS:
        if str(session.conf.get(setting)).upper() == "EXCEPTION":
            return setting
    return None
