"""Connection to a service: `connect` signs in, chooses a data set and reads its public facts."""

from __future__ import annotations

from ..arithmetic.rational import Number, rational
from ..data.schema import Schema
from ..errors import InvalidArgument
from ..optional import load
from ..privacy.filters.filter import Filter
from .http import Connection
from .remote import Remote


def connect(
    url: str,
    token: str,
    *,
    dataset: str | None = None,
    patience: Number = 60,
    deadline: Number = 3600,
) -> Remote:
    """Connect to a service: `dp.connect("https://curator.example", token="dsc_…").sql(…)`.

    `dataset` names one of this person's data sets; a person with just one may leave it out.
    `patience` is the time in seconds for retries while the service is busy, restarting or away.
    `deadline` is the time in seconds to wait for the answer to one question, an hour by default.

    Guarantee: no retry is charged twice.

    Refuses: other texts than a URL and a token, and data sets of others, by `InvalidArgument`; an
    unknown token by `NotAllowed`. This and every later request raises `Unreachable` if the service
    stays silent; the error says which amount may have been spent. If it stays busy, its last
    refusal is raised.

    Law: tests/client/test_client.py::TestConnecting
    """
    httpx = load("httpx", "client")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise InvalidArgument(
            f"a service has an address such as https://curator.example, got {str(url)[:60]!r}"
        )
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise InvalidArgument("a token is text such as dsc_…, as a steward gave it to you")
    headers = {"Authorization": f"Bearer {token}"}
    # No proxies of the environment: a token goes to the named service only.
    try:
        http = httpx.Client(base_url=url, headers=headers, trust_env=False)
    except httpx.InvalidURL:
        raise InvalidArgument(f"{url[:60]!r} is no address of a service") from None
    try:
        patience_seconds = float(rational(patience, "patience"))
        deadline_seconds = float(rational(deadline, "deadline"))
        line = Connection(http, patience_seconds, deadline_seconds)
        return _remote(line, dataset)
    except BaseException:
        http.close()
        raise


def _remote(line: Connection, dataset: str | None) -> Remote:
    """Read person, data sets and public facts from a service, and return the remote curator."""
    person = line.get("/api/v1/me")
    names = line.get("/api/v1/datasets")["datasets"]
    yours = ", ".join(names) or "none"
    if dataset is None:
        if len(names) != 1:
            raise InvalidArgument(f"say which data set: dataset= one of {yours}")
        dataset = names[0]
    # Checked here, as the name becomes a part of every path.
    if dataset not in names:
        raise InvalidArgument(f"{dataset!r} is not among your data sets; yours: {yours}")
    facts = line.get(f"/api/v1/datasets/{dataset}")
    schemas = {schema.name: schema for schema in map(Schema.from_dict, facts["tables"])}
    filter_ = Filter.from_json(facts["filter"])
    return Remote(line, str(dataset), person["name"], schemas, filter_)
