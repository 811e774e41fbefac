"""A service with a PostgreSQL listener, in this process, and ways to talk to it."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from fractions import Fraction

import psycopg
import pytest

from service.deployment import House, build, free_port, serving


@dataclass(frozen=True)
class Wire:
    """Where the listener is, and who may connect."""

    deployment: House
    port: int

    def dsn(self, who="ana", database="people", **more):
        facts = {
            "host": "127.0.0.1",
            "port": self.port,
            "user": who,
            "password": self.deployment.tokens[who],
            "dbname": database,
        }
        return psycopg.conninfo.make_conninfo(**(facts | more))

    def connect(self, who="ana", *, spend="1/10", **more):
        options = more.pop("options", f"-c discreet.epsilon={spend}" if spend else "")
        autocommit = more.pop("autocommit", True)
        return psycopg.connect(self.dsn(who, options=options, **more), autocommit=autocommit)

    def psql(self, *commands, who="ana", options="-c discreet.epsilon=1/10"):
        words = [word for command in commands for word in ("-c", command)]
        environment = os.environ | {
            "PGPASSWORD": self.deployment.tokens[who],
            "PGOPTIONS": options,
            "PGCONNECT_TIMEOUT": "20",
        }
        where = f"host=127.0.0.1 port={self.port} user={who} dbname=people"
        return subprocess.run(
            ["psql", "-X", "-A", "-t", where, *words],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def answers(self):
        """Whether somebody who comes now is answered."""
        with self.connect() as line:
            return line.execute("SELECT 1").fetchone() == (1,)

    def spent(self, who="ana"):
        with self.deployment.client(who) as client:
            spent = client.get("/datasets/people/spent").json()["spent"]
        return Fraction(spent["epsilon"])


@pytest.fixture(scope="session")
def wire(tmp_path_factory):
    """A service that stays for all tests of this process."""
    folder = tmp_path_factory.mktemp("wire")
    # Time enough for planning workers beside many other tests.
    limits = "free_seconds = 60"
    deployment = build(folder, port=free_port(), service='grid = "0.05"', limits=limits)
    port = free_port()
    with serving(deployment, postgres=f"127.0.0.1:{port}"):
        yield Wire(deployment, port)


@pytest.fixture
def own_wire(tmp_path):
    """Make a service of a test's own, with other options."""
    running = []

    def make(wire_options="", **options):
        service = options.pop("service", 'grid = "0.05"') + f"\n[wire]\n{wire_options}"
        before, after = options.pop("change", ("", ""))
        host = options.pop("host", "127.0.0.1")
        deployment = build(tmp_path, port=free_port(), service=service, **options)
        config = deployment.config.read_text()
        deployment.config.write_text(config.replace(before, after) if before else config)
        port = free_port()
        context = serving(deployment, postgres=f"{host}:{port}")
        context.__enter__()
        running.append(context)
        return Wire(deployment, port)

    yield make
    for context in running:
        context.__exit__(None, None, None)
