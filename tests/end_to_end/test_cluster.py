"""A real Spark cluster: one master and two workers on the loopback; its answers are those of plain SQL."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from end_to_end.compare import near
from end_to_end.spark_cluster import QUESTIONS
from end_to_end.stores import duckdb_beside
from end_to_end.world import world

HERE = Path(__file__).parent


def environment(home):
    """Keep every process small, on the loopback, and away from the other Spark of the tests."""
    names = {
        "SPARK_HOME": str(spark_home()), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_DAEMON_MEMORY": "256m",
        "SPARK_LOCAL_DIRS": str(home), "SPARK_WORKER_DIR": str(home), "SPARK_NO_DAEMONIZE": "1",
        "JAVA_TOOL_OPTIONS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",  # six short-lived machines need no optimising
        "PYSPARK_PYTHON": sys.executable, "PYTHONPATH": os.pathsep.join([str(HERE.parent), *filter(None, sys.path)]),
    }  # fmt: skip
    return {**os.environ, **names}


def spark_home():
    import pyspark

    return Path(pyspark.__file__).parent


@contextmanager
def process(home, name, *arguments):
    """Run a part of Spark for as long as the block lasts; its log is a file."""
    log = home / f"{name}.log"
    with log.open("w") as out:
        ending = (
            ["setpriv", "--pdeathsig", "TERM"] if shutil.which("setpriv") else []
        )  # also if we are killed
        command = [*ending, spark_home() / "bin" / "spark-class", *arguments]
        started = subprocess.Popen(command, stdout=out, stderr=out, env=environment(home), cwd=home)
        try:
            yield log
        finally:
            started.terminate()
            try:
                started.wait(20)
            except subprocess.TimeoutExpired:
                started.kill()
                started.wait()


def said(log, pattern, seconds=60):
    """Wait until a log says something."""
    for _ in range(5 * seconds):
        found = re.search(pattern, log.read_text())
        if found:
            return found.group(1)
        time.sleep(0.2)
    raise AssertionError(f"a part of Spark never said {pattern}:\n{log.read_text()[-2000:]}")


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("java") is None, reason="Spark needs Java, and there is none on the path"
)
def test_a_spark_cluster_of_two_workers_says_what_plain_sql_says(tmp_path):
    master = (
        "org.apache.spark.deploy.master.Master",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--webui-port",
        "0",
    )
    worker = (
        "org.apache.spark.deploy.worker.Worker",
        "--host",
        "127.0.0.1",
        "--cores",
        "1",
        "--memory",
        "600m",
        "--webui-port",
        "0",
    )
    with process(tmp_path, "master", *master) as log:
        address = said(log, r"(spark://127\.0\.0\.1:\d+)")
        with (
            process(tmp_path, "one", *worker, address) as one,
            process(tmp_path, "two", *worker, address) as two,
        ):
            for each in (one, two):
                said(each, r"(Successfully registered)")
            told = subprocess.run(
                [sys.executable, HERE / "spark_cluster.py", address],
                env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True, check=False, timeout=300,
            )  # fmt: skip
    assert told.returncode == 0, told.stderr[-3000:]
    answer = json.loads(told.stdout.splitlines()[-1])
    assert answer["master"] == address
    assert answer["executors"] == 2
    compare(answer["found"])


def compare(found):
    with closing(duckdb_beside(world())) as store:
        for name, sql in QUESTIONS.items():
            mine, plain = sorted(map(tuple, found[name])), sorted(store.plain(sql))
            assert [len(row) for row in mine] == [len(row) for row in plain]
            cells = [
                pair for rows in zip(mine, plain, strict=True) for pair in zip(*rows, strict=True)
            ]
            assert all(near(ours, theirs, 0.0) for ours, theirs in cells), cells
