"""Tables for Spark: names of its catalogue, data frames, and files whose types no row decides.

Spark guesses the type of a partition column from the names of all folders, so that one folder zip=0A changes how all
others are read; and one file whose columns have other types fails a question. Files are therefore read here without
guessing, once it is known that all have the same columns. A frame that somebody else read is refused where a type of it
could have been guessed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from uuid import uuid4

from ...errors import InvalidArgument, SchemaMismatch
from ..sql.table_name import read_table_name
from .dialect import SPARK
from .log_filter import quiet

_MODES = tuple(
    f"spark.sql.{mode}RebaseModeInRead"
    for mode in ("parquet.datetime", "parquet.int96", "avro.datetime")
)
_GUESSES = "spark.sql.sources.partitionColumnTypeInference.enabled"


def is_path(source: object) -> bool:
    """Return whether a source names files rather than a table.

    >>> from discreet.engines.spark.source import is_path
    >>> is_path("hr.staff"), is_path("people.parquet"), is_path("s3a://store/people")
    (False, True, True)
    """
    return isinstance(source, Path) or (
        isinstance(source, str) and ("/" in source or source.lower().endswith((".parquet", ".csv")))
    )


def place_of(name: str, source: Any) -> str:  # noqa: ANN401
    """Return what stands after FROM for a name or a data frame."""
    if isinstance(source, str) and "${" not in source:
        return ".".join(map(SPARK.quote, read_table_name(source, 3)))
    if not callable(getattr(source, "createOrReplaceTempView", None)):
        raise InvalidArgument(
            f"{name} is no table of Spark; give a data frame, a path, or the name of a table without ${{"
        )
    return view_of(source)


def view_of(frame: Any, name: str = "") -> str:  # noqa: ANN401
    """Make a data frame a view with a name of its own."""
    view = name or f"discreet_{uuid4().hex}"
    frame.createOrReplaceTempView(view)
    return SPARK.quote(view)


def read_files(session: Any, path: str | Path, name: str) -> Any:  # noqa: ANN401
    """Read Parquet, or CSV with all columns as text, as a frame; the list of files is that of this moment.

    Refuses files that cannot be read, and files whose columns or types differ.
    """
    place = str(path)
    with quiet():
        before = session.conf.get(_GUESSES)
        session.conf.set(_GUESSES, "false")
        try:
            read = _csv if ".csv" in place.lower() else _parquet
            frame = read(session, place)
            alike = all(_is_alike(read(session, file), frame, file) for file in frame.inputFiles())
        except Exception:  # noqa: BLE001 what Spark says may hold what a file holds
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


def _csv(session: Any, place: str) -> Any:  # noqa: ANN401
    return session.read.csv(place, header=True, inferSchema=False)


def _parquet(session: Any, place: str) -> Any:  # noqa: ANN401
    """Days before 1582 are as they are stored: by the session's own mode one of them could fail every question."""
    corrected = {"datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED"}
    return session.read.options(mergeSchema="false", **corrected).parquet(place)


def _is_alike(own: Any, whole: Any, file: str) -> bool:  # noqa: ANN401
    """Return whether a file has the columns of the whole, in order, but for those that its folders name."""
    return bool(
        own.dtypes == [(column, kind) for column, kind in whole.dtypes if f"/{column}=" not in file]
    )


def is_guessed(frame: Any) -> bool:  # noqa: ANN401
    """Return whether a frame reads folders such as zip=10115 as anything but text: the type may have been guessed."""
    try:
        columns = [column for column, kind in frame.dtypes if kind != "string"]
        return any(f"/{column}=" in file for file in frame.inputFiles() for column in columns)
    except Exception:  # noqa: BLE001 what cannot be looked into may have been guessed
        return True


def failing_setting(session: Any) -> str | None:  # noqa: ANN401
    """Return the setting of a session by which one stored day before 1582 would fail every question, if any."""
    return next(
        (mode for mode in _MODES if str(session.conf.get(mode)).upper() == "EXCEPTION"), None
    )
