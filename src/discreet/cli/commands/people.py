"""`discreet people`: user management of a service; tokens are shown once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from ...errors import InvalidArgument
from ...service.config import read_config
from ...service.stores.people import Members
from ...service.stores.store import open_store
from ..refusal import refusals

app = typer.Typer(
    name="people", help="Who may use a service: stewards and analysts.", no_args_is_help=True
)

ConfigPath = Annotated[
    Path, typer.Option("--config", help="The service's configuration, a curator.toml.")
]


@contextmanager
def _open_members(path: Path) -> Iterator[Members]:
    """Open the users of the service that a configuration describes."""
    with refusals():
        # The store of the service is shared: a running server sees changes at once.
        store = open_store(read_config(path).store)
        try:
            yield Members(store)
        finally:
            store.close()


@app.command()
def add(
    name: Annotated[str, typer.Argument(help="The name that the ledger will remember.")],
    *,
    config: ConfigPath,
    role: Annotated[str, typer.Option(help="steward or analyst.")] = "analyst",
    dataset: Annotated[
        list[str] | None, typer.Option(help="A data set, several times if needed; '*' for all.")
    ] = None,
    days: Annotated[
        str | None, typer.Option(help="Days until the token expires; never if left out.")
    ] = None,
) -> None:
    """Take in somebody new and print the token, which is not shown again.

    Example: discreet people add ana --config curator.toml --dataset census --days 90
    """
    with _open_members(config) as people:
        known = read_config(config).datasets
        datasets = dataset or []
        unknown = [named for named in datasets if named != "*" and named not in known]
        if unknown:
            raise InvalidArgument(
                f"there is no data set {', '.join(unknown)} here; "
                f"there are {', '.join(known)}, or '*'"
            )
        _, token = people.add(name, role, datasets, days)
    typer.echo(token)


@app.command()
def renew(
    name: Annotated[str, typer.Argument(help="Whose token.")],
    *,
    config: ConfigPath,
    days: Annotated[
        str | None, typer.Option(help="Days until the token expires; never if left out.")
    ] = None,
) -> None:
    """Print a new token for somebody; the old one ends at once.

    Example: discreet people renew ana --config curator.toml --days 90
    """
    with _open_members(config) as people:
        typer.echo(people.renew(name, days))


@app.command()
def bind(
    name: Annotated[str, typer.Argument(help="Who signs in with it.")],
    subject: Annotated[
        str | None,
        typer.Argument(help="The subject of the provider's ID tokens; none if left out."),
    ] = None,
    *,
    config: ConfigPath,
) -> None:
    """Let somebody sign in to the pages by the OpenID provider of the configuration.

    Example: discreet people bind ana 248289761001 --config curator.toml
    """
    with _open_members(config) as people:
        provider = read_config(config).openid
        if provider is None:
            raise InvalidArgument("the configuration names no provider; write the table [oidc]")
        people.bind(name, provider.issuer, subject)
    typer.echo(f"{name} is bound to {subject}" if subject else f"{name} is bound to nobody")


@app.command("list")
def list_people(
    config: ConfigPath, as_json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False
) -> None:
    """List everybody, revoked people too.

    Example: discreet people list --config curator.toml
    """
    with _open_members(config) as people:
        everybody = [person.to_json() for person in people.all()]
    if as_json:
        typer.echo(json.dumps(everybody, indent=2))
        return
    for person in everybody:
        if person["revoked"]:
            end = "revoked"
        elif person["expires"]:
            end = f"until {person['expires']}"
        else:
            end = "no end"
        datasets = ", ".join(person["datasets"])  # type: ignore[arg-type]
        typer.echo(f"{person['name']}  {person['role']}  {datasets}  {end}")


@app.command()
def revoke(
    name: Annotated[str, typer.Argument(help="Who may no longer sign in.")], *, config: ConfigPath
) -> None:
    """Shut somebody out for good, at once, with all their sessions.

    Example: discreet people revoke ana --config curator.toml
    """
    with _open_members(config) as people:
        people.revoke(name)
    typer.echo(f"{name} may no longer sign in")
