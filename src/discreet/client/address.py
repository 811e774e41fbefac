"""From an address to a data set: who am I there, what may I ask about, what are its public facts."""

from __future__ import annotations

from ..arithmetic.rational import Number, rational
from ..data.schema import Schema
from ..errors import InvalidArgument
from ..optional import load
from ..privacy.filters.filter import Filter
from .http import Line
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

    `dataset` names one of this person's data sets; if there is just one it may be left out. `patience` is how many
    seconds to keep asking while the service is busy, restarting or away; nothing is charged twice by that. `deadline`
    is how many seconds to wait for the answer to one question, an hour by default.

    Raises Unreachable when either runs out; it says what may have been spent.

    Refuses what is no address, a token that does not open, a data set that is not this person's.
    """
    httpx = load("httpx", "client")
    if not isinstance(url, str) or not url.startswith(("http://", "https://")):
        raise InvalidArgument(
            f"a service has an address such as https://curator.example, got {str(url)[:60]!r}"
        )
    if not isinstance(token, str) or not token.isascii() or not token.isprintable():
        raise InvalidArgument("a token is text such as dsc_…, as a steward gave it to you")
    http = httpx.Client(base_url=url, headers={"Authorization": f"Bearer {token}"}, trust_env=False)
    try:
        line = Line(
            http, float(rational(patience, "patience")), float(rational(deadline, "deadline"))
        )
        return _remote(line, dataset)
    except BaseException:
        http.close()
        raise


def _remote(line: Line, dataset: str | None) -> Remote:
    me, names = line.get("/api/v1/me"), line.get("/api/v1/datasets")["datasets"]
    if dataset is None and len(names) != 1:
        raise InvalidArgument(f"say which data set: dataset= one of {', '.join(names) or 'none'}")
    name = names[0] if dataset is None else dataset
    if name not in names:
        raise InvalidArgument(
            f"{name!r} is not among your data sets; yours: {', '.join(names) or 'none'}"
        )
    facts = line.get(f"/api/v1/datasets/{name}")
    schemas = {schema.name: schema for schema in map(Schema.from_dict, facts["tables"])}
    return Remote(line, name, me["name"], schemas, Filter.from_json(facts["filter"]))
