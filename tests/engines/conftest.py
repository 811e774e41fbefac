"""Every store of the suite, loaded with the same tables."""

from __future__ import annotations

import warnings

import pytest

from engines.tables import in_duckdb, in_postgres, in_spark
from support.profile import DEEP


@pytest.fixture(params=["duckdb", "postgres", "spark"])
def load(request):
    """Put tables into a store; whatever is opened is closed.

    `load.some` thins out tallies for Spark, which takes long and runs the text that the others run, and outside deep for
    PostgreSQL. No step divides the length of a list of parameters, so that each value of each of them is met. `load.few`
    thins out short lists of Spark's outside deep.
    """
    opened, step = (
        [],
        {"duckdb": 1, "postgres": 1 if DEEP else 5, "spark": 5 if DEEP else 7}[request.param],
    )

    def loaded(tables):
        if request.param == "duckdb":
            opened.append(in_duckdb(tables))
        elif request.param == "postgres":
            opened.append(in_postgres(tables, request.getfixturevalue("postgres_dsn")))
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return in_spark(tables, request.getfixturevalue("spark_session"))
        return opened[-1]

    loaded.name, loaded.some = request.param, lambda tallies: tallies[::step]
    loaded.few = lambda asked, step: (
        asked[::step] if request.param == "spark" and not DEEP else asked
    )
    yield loaded
    for engine in opened:
        engine.close()
