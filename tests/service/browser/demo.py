"""The demo behind a real service, as `discreet serve --demo` starts it."""

from __future__ import annotations

import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from discreet.service.app import build_app
from discreet.service.config import read_config
from discreet.service.demo import make_demo
from discreet.service.state import State, open_state


@dataclass(frozen=True)
class Demo:
    """A running demo and the tokens of its people."""

    url: str
    state: State
    steward: str
    analyst: str


@contextmanager
def running(folder: Path):
    """Serve the demo on a free port of this machine until the block ends."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    made = make_demo(folder, url)
    config = read_config(made.config)
    state = open_state(config)
    app = build_app(config, state)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_level="warning", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield Demo(url, state, made.steward, made.analyst)
    finally:
        server.should_exit = True
        thread.join()
