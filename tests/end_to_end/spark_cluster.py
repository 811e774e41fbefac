"""Ask a few questions on a real Spark cluster, and print what it said as JSON; run by `test_cluster.py` on its own."""

from __future__ import annotations

import json
import sys
import warnings

QUESTIONS = {
    "all": "SELECT COUNT(*) AS n, COUNT(DISTINCT user_id) AS people, SUM(spent) AS s, AVG(minutes) AS m FROM visits",
    "joined": "SELECT city, region, COUNT(*) AS n, SUM(spent) AS s FROM visits v JOIN users u ON v.user_id = u.user_id JOIN wards w ON v.ward = w.ward GROUP BY city, region",
    "per person": "SELECT COUNT(*) AS n, SUM(t) AS t FROM (SELECT user_id, SUM(spent) AS t FROM visits GROUP BY user_id HAVING COUNT(*) > 1) x",
}


def main(master: str) -> None:
    warnings.simplefilter("ignore")
    from pyspark.sql import SparkSession

    from discreet.engines import Spark
    from end_to_end.compare import ask, rows_of
    from end_to_end.stores import QUICK, Beside
    from end_to_end.world import SCHEMAS, world
    from engines.tables import spark_frames

    settings = {
        "spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1",
        "spark.executor.memory": "512m", "spark.cores.max": "2", "spark.executor.cores": "1",
        **QUICK, "spark.sql.shuffle.partitions": "2", "spark.driver.memory": "512m",
        "spark.scheduler.minRegisteredResourcesRatio": "1.0", "spark.scheduler.maxRegisteredResourcesWaitingTime": "40s",
    }  # fmt: skip
    builder = SparkSession.builder.master(master).appName("cluster")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    tables = {
        name: table for name, table in world().items() if name in ("visits", "users", "wards")
    }
    engine = Spark(
        session,
        {name: frame.repartition(4) for name, frame in spark_frames(tables, session).items()},
    )
    beside = Beside("spark", engine, lambda sql: [])
    found = {name: rows_of(ask(sql, beside, SCHEMAS)) for name, sql in QUESTIONS.items()}
    executors = (
        session.sparkContext._jsc.sc().getExecutorMemoryStatus().size() - 1
    )  # the driver is one of them
    print(  # noqa: T201
        json.dumps({"executors": executors, "master": session.sparkContext.master, "found": found})
    )
    session.stop()


if __name__ == "__main__":
    main(sys.argv[1])
