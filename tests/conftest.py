"""Real stores for every folder: a PostgreSQL server and a Spark session, started when a test asks for them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import pytest

SETUP = Path(__file__).parent / "setup_postgres.sh"


@pytest.fixture(scope="session")
def postgres_dsn():
    """A throw-away server on a socket of its own; it ends with the tests, also when they are killed."""
    if subprocess.run([SETUP, "install"], capture_output=True, check=False).returncode:
        pytest.skip("there is no PostgreSQL server here, and it could not be installed")
    home = tempfile.mkdtemp(prefix="pg")
    # The watch stops the server when its input closes, which the kernel does for us if we are killed.
    watch = subprocess.Popen([SETUP, "watch", home], stdin=subprocess.PIPE, start_new_session=True)
    started = subprocess.run([SETUP, "start", home], capture_output=True, check=True, text=True)
    yield started.stdout.strip()
    watch.communicate()
    assert watch.returncode == 0


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
        builder = SparkSession.builder.master("local[2]").appName("tests")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        session.stop()
    shutil.rmtree(settings["spark.sql.warehouse.dir"], ignore_errors=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """Keep what needs Spark on one worker: one session is enough, and two would starve each other.

    A test that needs Spark says so in its id. Marks of groups get lost between xdist 3.8 and pytest 9.2.
    """
    if config.getvalue("dist") != "loadgroup":
        return None
    from xdist.scheduler import LoadGroupScheduling

    class ByStore(LoadGroupScheduling):
        def _split_scope(self, nodeid):
            return "spark" if "spark" in nodeid.lower() else super()._split_scope(nodeid)

    return ByStore(config, log)
