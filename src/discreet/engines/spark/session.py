"""Spark session for the command line, by its address.

Addresses are sc://host (Spark Connect), spark://host:7077, and spark:local[4] for this machine.
"""

from __future__ import annotations

from typing import Any

from ...connection import masked
from ...errors import InvalidArgument
from ...optional import load


def is_address(source: str) -> bool:
    """Return whether a source is the address of Spark.

    Addresses are sc://host (Spark Connect), spark://host:7077 and spark:local[4].

    >>> from discreet.engines.spark.session import is_address
    >>> is_address("sc://cluster:15002"), is_address("spark:local[2]"), is_address("spark.csv")
    (True, True, False)
    """
    return source.startswith(("sc://", "spark:"))


def open_session(address: str) -> Any:  # noqa: ANN401
    """Open a session, or join the one that runs in this process.

    Java's log is switched off, except over Spark Connect, where the server keeps it.

    Refuses: an address that Spark cannot open.
    """
    builder = load("pyspark.sql", "spark").SparkSession.builder
    try:
        if address.startswith("sc://"):
            return builder.remote(address).getOrCreate()
        master = address
        if not address.startswith("spark://"):
            master = address.removeprefix("spark:") or "local[*]"
        session = builder.master(master).getOrCreate()
        # Java would log rows of failed queries.
        session.sparkContext.setLogLevel("OFF")
    except Exception:  # noqa: BLE001 of Python, Java or the network
        raise InvalidArgument(
            f"Spark cannot be reached at {masked(address)}; give sc://host, spark://host:7077 or spark:local[4]"
        ) from None
    return session
