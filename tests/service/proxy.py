"""Debian's nginx before a service, set up as the page about deployment says, word for word."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

SETUP = Path(__file__).parent / "setup_nginx.sh"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "deploy.md"
FRAME = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/nginx.txt crit;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fast;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{ listen 127.0.0.1:{port}; {location} }}
}}
"""


@dataclass
class Proxy:
    """An nginx that listens on one port and passes on to another."""

    folder: Path
    port: int
    program: str
    process: subprocess.Popen | None = None

    def start(self):
        command = [self.program, "-p", str(self.folder), "-c", str(self.folder / "nginx.conf")]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
        end = time.monotonic() + 30
        while True:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return self
            assert self.process.poll() is None and time.monotonic() < end, "nginx does not start"
            time.sleep(0.05)

    def stop(self):
        if self.process is not None:
            self.process.send_signal(signal.SIGTERM)
            self.process.wait(30)
            self.process = None


def set_up(folder: Path, port: int, service: int) -> Proxy:
    """Write the configuration; skips the test where there is no nginx."""
    subprocess.run([SETUP], capture_output=True, check=False)
    program = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if program is None:
        pytest.skip("there is no nginx here, and it could not be installed")
    folder.mkdir()
    [location] = re.findall(r"```nginx\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert "http://127.0.0.1:8000;" in location
    location = location.replace("127.0.0.1:8000", f"127.0.0.1:{service}")
    (folder / "nginx.conf").write_text(FRAME.format(folder=folder, port=port, location=location))
    return Proxy(folder, port, program)
