"""One request sent many times at once is one request (D6)."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

from .deployment import COUNT, ONE, build, free_port, serving


def test_one_key_at_once_is_one_request(tmp_path):
    deployment = build(tmp_path, port=free_port(), service='grid = "0.05"')
    # As it is by default, which the tests' own service is not.
    text = deployment.config.read_text()
    deployment.config.write_text(text.replace("jobs_per_person = 1000", "jobs_per_person = 16"))
    together = threading.Barrier(24)

    def ask(_):
        with deployment.client("ana") as client:
            together.wait(60)
            headers = {"Idempotency-Key": "monday"}
            return client.post(
                "/datasets/people/sql", json={"sql": COUNT, "spend": ONE}, headers=headers
            )

    with serving(deployment), ThreadPoolExecutor(24) as pool:
        replies = list(pool.map(ask, range(24)))
        with deployment.client("ana") as client:
            spent = client.get("/datasets/people/spent").json()["spent"]
    assert {reply.status_code for reply in replies} <= {200, 202}
    assert Fraction(spent["epsilon"]) == 1
    shown = {str(reply.json()["rows"]) for reply in replies if reply.status_code == 200}
    assert len(shown) <= 1
