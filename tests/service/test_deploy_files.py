"""Files in `deploy/`: they agree with each other, and their commands, ports and folders start as they stand."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
import yaml

from service.deployment import Server, build, free_port
from service.tls import write_certificate

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
COMPOSE = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
CONTAINER = (ROOT / "Containerfile").read_text()


def _unit(name):
    words = (DEPLOY / name).read_text()
    return dict(re.findall(r"^(\w+)=(.*)$", words, re.MULTILINE))


def test_users_ports_and_folders_agree():
    service, unit = COMPOSE["services"]["service"], _unit("discreet.service")
    assert "USER curator" in CONTAINER and unit["User"] == "curator"
    assert "VOLUME /curator" in CONTAINER and unit["WorkingDirectory"] == "/curator"
    assert service["volumes"][0].endswith(":/curator") and service["read_only"]
    command = service["command"]
    published = {port.rpartition(":")[2] for port in service["ports"]}
    asked = {command[command.index(option) + 1] for option in ("--port", "--postgres")}
    # What is published is exposed; HTTP is reached through the proxy alone.
    assert published == {"5433"} and asked == {"8000", "5433"}
    assert "EXPOSE 8000 5433" in CONTAINER
    proxy = (DEPLOY / "nginx.conf").read_text()
    assert "proxy_pass http://service:8000;" in proxy
    # The tested block of the page, word for word.
    page = (ROOT / "docs/how-to/deploy.md").read_text()
    [block] = re.findall(r"    proxy_set_header Host.*?proxy_read_timeout 120s;", page, re.DOTALL)
    assert [line.strip() for line in block.splitlines()] == [
        line.strip() for line in proxy[proxy.index("proxy_set_header") :].splitlines()[:4]
    ]


def test_the_configuration_is_read_and_names_the_services():
    config = tomllib.loads((DEPLOY / "curator.toml").read_text())
    [subnet] = [part["subnet"] for part in COMPOSE["networks"]["default"]["ipam"]["config"]]
    assert config["service"]["proxies"] == [subnet]
    dsn = config["service"]["store"]
    environment = COMPOSE["services"]["database"]["environment"]
    assert dsn == "postgresql://{POSTGRES_USER}@database/{POSTGRES_DB}".format(**environment)
    assert {"database", "service", "proxy"} == set(COMPOSE["services"])


def test_lists_have_a_hash_for_each_package_and_no_host():
    constraints = (ROOT / "constraints.txt").read_text().lower()
    needed = {re.match(r"[\w.-]+", name)[0] for name in _needed()}
    for name in ("requirements.txt", "build-requirements.txt"):
        words = (DEPLOY / name).read_text()
        assert "//" not in words and "--index" not in words
        packages = re.findall(
            r"^([\w.-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}.*\n)+)", words, re.MULTILINE
        )
        assert len(packages) == len(re.findall(r"==", words))
        for package, version, _ in packages:
            pinned = re.search(rf"^{re.escape(package.lower())}==(.*)$", constraints, re.MULTILINE)
            assert pinned is None or pinned[1] == version, package
        if name == "requirements.txt":
            assert needed <= {package.lower() for package, _, _ in packages}
    assert CONTAINER.count("--require-hashes") == 2 and "@sha256:" not in CONTAINER.replace(
        "@sha256:…", ""
    )


def _needed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    return [
        *project["dependencies"],
        *extras["service"],
        *extras["postgres"],
        *extras["sign"],
        *extras["parquet"],
    ]


@pytest.mark.parametrize(
    "name", ["discreet.service", "discreet-verify.service", "discreet-verify.timer"]
)
def test_units_are_valid(tmp_path, name):
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("there is no systemd-analyze here")
    # The program of the image stands in for itself: only its path is checked.
    words = (DEPLOY / name).read_text().replace("/opt/discreet/bin/discreet", "/bin/true")
    (tmp_path / name).write_text(words)
    if name.endswith(".timer"):
        shutil.copy(DEPLOY / "discreet-verify.service", tmp_path)
        service = tmp_path / "discreet-verify.service"
        service.write_text(service.read_text().replace("/opt/discreet/bin/discreet", "/bin/true"))
    checked = subprocess.run(
        [tool, "verify", "--man=no", str(tmp_path / name)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0 and str(tmp_path) not in checked.stderr, checked.stderr


@pytest.mark.slow
@pytest.mark.parametrize("source", ["compose", "unit"])
def test_commands_start_as_they_stand(tmp_path, source):
    """Folders and ports are replaced by free ones, the program by this one; nothing else."""
    command = COMPOSE["services"]["service"]["command"]
    if source == "unit":
        command = _unit("discreet.service")["ExecStart"].split()[1:]
    ports = {port: str(free_port()) for port in ("8000", "5433")}
    deployment = build(tmp_path / "curator", port=int(ports["8000"]), service=_tls(tmp_path))
    words = []
    for word in command:
        words.append(ports.get(word, word.replace("/curator/", f"{tmp_path}/curator/")))
    script = "from discreet.cli.app import app; app()"
    with (tmp_path / "server.txt").open("w") as log:
        process = subprocess.Popen([sys.executable, "-c", script, *words], stdout=log, stderr=log)
    server = Server(deployment, process)
    try:
        _until_healthy(deployment, process)
        if source == "compose":
            with socket.create_connection(("127.0.0.1", int(ports["5433"])), 10) as line:
                # A request for TLS is answered by S: the listener has its certificate.
                line.sendall(b"\0\0\0\x08\x04\xd2\x16\x2f")
                assert line.recv(1) == b"S"
    finally:
        server.stop()
    assert "Traceback" not in (tmp_path / "server.txt").read_text()


def _until_healthy(deployment, process):
    end = time.monotonic() + 120
    with deployment.client() as client:
        while time.monotonic() < end and process.poll() is None:
            with suppress(httpx.TransportError):
                if client.get("/health").status_code == 200:
                    return
            time.sleep(0.2)
    raise AssertionError("it did not start")


def _tls(folder):
    """The table [wire] of deploy/curator.toml, with a certificate made here."""
    wire = tomllib.loads((DEPLOY / "curator.toml").read_text())["wire"]
    (folder / "tls").mkdir()
    write_certificate(folder / "tls")
    lines = [f'{key} = "{folder}{path}"' for key, path in wire.items()]
    return "\n".join(["[wire]", *lines])
