"""`discreet serve`: HTTP server with API and web pages, and listener for PostgreSQL's clients."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

import typer

from ...errors import InvalidArgument
from ...service.config import CONFIG_VARIABLE, POSTGRES_VARIABLE, Config, read_config
from ...service.demo import make_demo
from ...service.postgres.address import check_address
from ..refusal import refusals


def serve(
    config: Annotated[
        Path | None, typer.Option(help="The service's configuration, a curator.toml.")
    ] = None,
    *,
    demo: Annotated[
        bool, typer.Option("--demo", help="Serve bundled data; prints one-time tokens.")
    ] = False,
    host: Annotated[
        str | None, typer.Option(help="The address to listen on; that of service.url if left out.")
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="The port to listen on; that of service.url if left out.")
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes that answer side by side.")
    ] = 1,
    postgres: Annotated[
        int | None,
        typer.Option(help="A port for PostgreSQL's clients, such as 5433; none if left out."),
    ] = None,
) -> None:
    """Serve the curator over HTTP: an API under /api/v1 and pages for people.

    Example: discreet serve --config curator.toml --workers 4
    """
    with refusals():
        if demo == (config is not None):
            raise InvalidArgument(
                "say --config curator.toml, or --demo for bundled data, one of the two"
            )
        _check_installed()
        if config is not None:
            _run(config, host, port, workers, postgres)
            return
        with _exit_on_sigterm(), tempfile.TemporaryDirectory(prefix="discreet-demo-") as folder:
            demo_config = _make_demo(Path(folder), host, port)
            _run(demo_config, host, port, workers, postgres)


@contextmanager
def _exit_on_sigterm() -> Iterator[None]:
    """Turn SIGTERM into an ordinary exit, so that the temporary folder is removed in every case."""
    before = signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _check_installed() -> None:
    """Refuse to serve where a package of `discreet[service]` is missing."""
    missing = [name for name in ("starlette", "uvicorn", "jinja2") if find_spec(name) is None]
    if missing:
        raise InvalidArgument(
            f"{', '.join(missing)} is not installed: pip install 'discreet[service]'"
        )


def _make_demo(folder: Path, host: str | None, port: int | None) -> Path:
    """Set up the demo service in a folder, and print its tokens."""
    made = make_demo(folder, f"http://{host or '127.0.0.1'}:{port or 8000}")
    typer.echo("A demonstration on bundled census data, until you stop it; nothing is kept.")
    typer.echo(f"steward (stella): {made.steward}")
    typer.echo(f"analyst (ana): {made.analyst}")
    typer.echo("Sign in with one of these tokens; they are not shown again.")
    return made.config


def _run(
    path: Path, host: str | None, port: int | None, workers: int, postgres: int | None
) -> None:
    """Check the configuration by opening everything once, then serve."""
    # These need starlette and uvicorn, which come with discreet[service].
    import uvicorn

    from ...service.http.request_timeout import RequestTimeoutProtocol
    from ...service.state import open_state

    config = read_config(path)
    # Opened here, so that a missing file is refused before workers start.
    open_state(config).close()
    # The workers are processes of their own: they find the configuration by this variable.
    os.environ[CONFIG_VARIABLE] = str(path)
    url = urlsplit(config.url)
    default_port = 443 if config.secure else 80
    address = host or url.hostname or "127.0.0.1"
    os.environ.pop(POSTGRES_VARIABLE, None)
    if postgres is not None:
        check_address(address, config.wire)
        os.environ[POSTGRES_VARIABLE] = f"{address}:{postgres}"
        typer.echo(f"PostgreSQL clients connect to {address}, port {postgres}")
        typer.echo("dbname is the data set, user the person's name, the password their token")
    typer.echo(f"serving {', '.join(config.datasets)} at {config.url}")
    uvicorn.run(
        "discreet.service.app:from_environment",
        factory=True,
        host=address,
        port=port or url.port or default_port,
        workers=workers,
        http=RequestTimeoutProtocol,
        **_uvicorn_options(config),  # type: ignore[arg-type]
    )


def _uvicorn_options(config: Config) -> dict[str, object]:
    """Return options of uvicorn: no server headers; proxy headers of named proxies only."""
    return {
        "proxy_headers": bool(config.proxies),
        "forwarded_allow_ips": list(config.proxies),
        "server_header": False,
        "date_header": False,
        "access_log": False,
        "log_level": "warning",
        "timeout_keep_alive": 30,
        # Long enough that a busy worker is not taken for a dead one.
        "timeout_worker_healthcheck": 30,
        "timeout_graceful_shutdown": int(config.drain_seconds) + 5,
    }
