"""A service's parts in this process: their limits edited, their jobs waited for."""

from __future__ import annotations

import json
import time

from discreet.service.config import read_config
from service.deployment import COUNT

BODY = json.dumps(
    {"sql": COUNT, "spend": {"epsilon": "1/10"}, "level": "0.95", "nonnegative": False, "why": ""}
)


def edited(deployment, **limits):
    """Change limits in the configuration of a deployment."""
    text = deployment.config.read_text()
    for name, value in limits.items():
        text = text.replace("[limits]\n", f"[limits]\n{name} = {value}\n")
        text = "\n".join(
            line
            for line in text.splitlines()
            if line == f"{name} = {value}" or not line.startswith(f"{name} =")
        )
    deployment.config.write_text(text)
    return read_config(deployment.config)


def ended(state, job, patience=30):
    end = time.monotonic() + patience
    while (found := state.jobs.job_store.get(job.id)).open:
        assert time.monotonic() < end
        time.sleep(0.02)
    return found
