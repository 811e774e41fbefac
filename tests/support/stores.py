"""Real stores for every folder: one PostgreSQL for all workers and one Spark, started when a test asks for them."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

from support.profile import DEEP

QUICK = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
"""Spark without the compiling and sharing out that pays off on large data only; in `make deep` it runs as it comes."""
SETUP = Path(__file__).parents[1] / "setup_postgres.sh"
WATCH = '"$0" watch "$1" <"$1/line" >/dev/null 2>&1 &'
"""Stops the server and removes its folder when the last writer has let go of the line, which the kernel does for us
if we are killed."""


@pytest.fixture(scope="session")
def postgres_dsn(request, tmp_path_factory):
    """A database of this worker's own on the server of this run, which ends with the tests, also when they are killed."""
    if subprocess.run([SETUP, "install"], capture_output=True, check=False).returncode:
        pytest.skip("there is no PostgreSQL server here, and it could not be installed")
    base = tmp_path_factory.getbasetemp()
    worker = getattr(request.config, "workerinput", {}).get("workerid")
    folder = base.parent if worker else base  # the folder that all workers have in common
    with (folder / "postgres.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        held, home = join_postgres(folder / "postgres.txt") or start_postgres(
            folder / "postgres.txt"
        )
        dsn = create_database(home, f"tests_{worker or 'alone'}")
    yield dsn
    os.close(held)


def join_postgres(note: Path) -> tuple[int, str] | None:
    """Take hold of the server that another worker started, unless there is none or it has ended."""
    try:
        home = note.read_text()
        return os.open(f"{home}/line", os.O_WRONLY | os.O_NONBLOCK), home
    except OSError:
        return None


def start_postgres(note: Path) -> tuple[int, str]:
    """Start a throw-away server on a socket of its own and note where it is."""
    home = tempfile.mkdtemp(prefix="pg")
    os.mkfifo(f"{home}/line")
    held = os.open(f"{home}/line", os.O_RDWR)
    subprocess.run(["/bin/sh", "-c", WATCH, SETUP, home], check=True, start_new_session=True)
    subprocess.run([SETUP, "start", home], capture_output=True, check=True, text=True)
    note.write_text(home)
    return held, home


def create_database(home: str, name: str) -> str:
    """Make an empty database and return how to connect to it."""
    import psycopg

    with psycopg.connect(f"host={home} user=tester dbname=postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"host={home} user=tester dbname={name}"


@pytest.fixture(scope="session")
def spark_session():
    """A local session, in a time zone that is not UTC, since no answer may depend on it."""
    if shutil.which("java") is None:
        pytest.skip("Spark needs Java, and there is none on the path")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Spark's own remarks about the versions beside it
        from pyspark.sql import SparkSession

        settings = {
            "spark.ui.enabled": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.memory": "1g",
            "spark.sql.session.timeZone": "America/New_York",
            "spark.sql.warehouse.dir": tempfile.mkdtemp(prefix="spark"),
        }
        settings |= {} if DEEP else QUICK
        builder = SparkSession.builder.master("local[2]" if DEEP else "local[1]").appName("tests")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.stop()
    shutil.rmtree(settings["spark.sql.warehouse.dir"], ignore_errors=True)
