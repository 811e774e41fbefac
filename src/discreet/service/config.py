"""Configuration of the service: strict reader of the steward's `curator.toml`.

Unknown keys are refused by their path, so a misspelt limit cannot pass for a default.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..arithmetic.rational import positive, whole
from ..connection import is_server
from ..data.blocks import Blocks
from ..errors import InvalidArgument
from ..frozen import field, frozen, replace
from ..json_shape import check_known
from ..privacy.budget_text import parse_budget
from ..privacy.measures import Measure
from .addresses import is_private_address

CONFIG_VARIABLE = "DISCREET_CONFIG"
"""Environment variable that names the configuration file to the workers of a server."""
POSTGRES_VARIABLE = "DISCREET_POSTGRES"
"""Environment variable that names address and port of the PostgreSQL listener, as `127.0.0.1:5433`."""


@frozen
class RequestBounds:
    """Limits of requests, the table `[limits]`; every number is public.

    | field | limits |
    |---|---|
    | `requests_per_minute` | requests of a user to one worker; without a session, of an address |
    | `failures_per_minute` | failed sign-ins from one address, at one worker |
    | `body_bytes` | body of a request |
    | `query_seconds` | run of a charged request |
    | `cells` | noisy numbers in one reply |
    | `jobs_per_person` | open jobs of a user; also free requests, and pages, at one worker |
    | `threads` | jobs side by side in one worker |
    | `free_seconds`, `free_megabytes` | time and memory of one free request |
    | `free_processes` | free requests side by side in one worker |
    """

    requests_per_minute: int = 120
    failures_per_minute: int = 20
    body_bytes: int = 65_536
    query_seconds: int = 60
    cells: int = 20_000
    jobs_per_person: int = 16
    threads: int = 8
    free_seconds: int = 10
    free_processes: int = 2
    free_megabytes: int = 1024


@frozen
class DataSource:
    """Source of the rows: engine, its tables or connection, and the tables that the steward trusts.

    `places` has the server's names of the declared tables, for PostgreSQL.
    """

    engine: str
    tables: Mapping[str, str] | str = field(repr=False)
    """Files by table, or a server's connection string. It may hold a password, so it is never shown."""
    places: Mapping[str, str] = field(default_factory=dict)
    trusted: tuple[str, ...] = ()


@frozen
class DataSet:
    """Configuration of one data set: its schema file, its ledger and its source.

    `terms` are the terms of a new ledger: budget, kind, allowances and others.
    """

    name: str
    schema: Path
    ledger: str = field(repr=False)
    """A path or a connection string. It may hold a password, so it is never shown."""
    source: DataSource
    terms: Mapping[str, object] = field(default_factory=dict)
    share_questions: bool = False
    """True if analysts may see the questions of others."""
    share_dashboards: bool = False
    """True if analysts may share dashboards of their answers with all who may ask here."""
    siblings: bool = True
    """Whether a charge also measures related counts that cost nothing more, for later questions."""
    keep: str = ""
    """Path of the store that keeps the rows last read successfully; "" if none is kept."""
    seal: str = ""
    """Path of the key file of its standing reports; "" if it has none."""
    show_intake: bool = False
    """True if stewards see on their pages how the tables were read: exact counts from the data."""


@frozen
class WireOptions:
    """Options of the PostgreSQL listener, the table `[wire]`; every number is public.

    `certificate` and `key` are files for TLS. `connections` and `connections_per_person` are limits
    of each worker. A connection is closed after `idle_minutes` without a message.
    """

    certificate: str = ""
    key: str = field(default="", repr=False)
    spend: Measure | None = None
    """Spend of questions for which a session says nothing; None refuses them."""
    per_day: Measure | None = None
    """Daily limit (UTC) of each person: this listener then refuses, HTTP and pages do not.

    Charges over HTTP and on pages count too.
    """
    preview: bool = False
    """True if `SELECT * FROM people LIMIT 10` gives made-up rows; otherwise it is refused."""
    connections: int = 200
    connections_per_person: int = 32
    idle_minutes: int = 60


@frozen
class OpenIdOptions:
    """OpenID provider by which people sign in to the pages, the table `[oidc]`.

    `label` is its name on the page.
    """

    issuer: str
    client_id: str
    secret: str = field(default="", repr=False)
    """Secret of the client, from a file or the environment; "" for a public client."""
    label: str = "your organisation"


@frozen
class Config:
    """Configuration of a worker process.

    | field | meaning |
    |---|---|
    | `url` | address by which users reach the service |
    | `grid` | base length of the timing grid of answers, in seconds |
    | `lease` | seconds without renewal after which another worker may take over a job |
    | `session_hours` | longest time for which somebody stays signed in to the pages |
    | `catch_up` | seconds between two overdue days of a stream that close; 0 closes all at a full minute |
    | `drain_seconds` | time for running jobs when the process ends |
    | `log` | path of the audit log; "" for standard error |
    | `signing_key` | path of the key that signs receipts; "" for none |
    | `proxies` | addresses whose forwarding headers are trusted |
    """

    url: str
    store: str = field(repr=False)
    """A path or a connection string. It may hold a password, so it is never shown."""
    datasets: Mapping[str, DataSet]
    grid: float = 0.25
    lease: float = 15.0
    session_hours: float = 12.0
    drain_seconds: float = 20.0
    catch_up: float = 0.0
    log: str = ""
    signing_key: str = ""
    proxies: tuple[str, ...] = ()
    documents: str = ""
    """Address of the documentation, to which the lessons link; "" if the steward gives none."""
    bounds: RequestBounds = field(default_factory=RequestBounds)
    wire: WireOptions = field(default_factory=WireOptions)
    openid: OpenIdOptions | None = None

    @property
    def secure(self) -> bool:
        """True if users reach the service by https."""
        return self.url.startswith("https://")

    @property
    def host(self) -> str:
        """Host name, with its port if it has one, under which users reach the service."""
        return urlsplit(self.url).netloc


_DURATIONS = ("grid", "lease", "session_hours", "drain_seconds", "catch_up")
_SERVICE = (
    "url",
    "store",
    *_DURATIONS,
    "log",
    "signing_key",
    "proxies",
    "documents",
)
_SPEND = ("epsilon", "delta", "rho", "mu")
_TERMS = ("budget", "kind", "delta", "neighbours", "allowances", "window", "blocks")
_ENGINES = ("duckdb", "postgres", "spark")
_DATASET = (
    "schema",
    "ledger",
    "tables",
    "trusted",
    "share_questions",
    "share_dashboards",
    "siblings",
    "keep",
    "seal",
    "show_intake",
    *_TERMS,
    *_ENGINES,
)


def read_config(path: str | Path) -> Config:
    """Read a configuration; relative paths are relative to the file's own folder.

    Refuses: a file that is missing, unreadable or no TOML, by its path; unknown keys and values
    out of range, by their key (InvalidArgument).
    """
    file = Path(path)
    try:
        text = file.read_text(encoding="utf-8")
        # Budgets are exact: a binary float would round the decimal that the steward wrote.
        facts = tomllib.loads(text, parse_float=Decimal)
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(f"{file} cannot be read; give the path of a curator.toml") from None
    except tomllib.TOMLDecodeError as refusal:
        raise InvalidArgument(f"{file} is no TOML: {refusal}") from None
    return _config(facts, file.resolve().parent)


def _config(facts: Mapping[str, object], folder: Path) -> Config:
    """Read the parsed TOML of a configuration; relative paths are resolved against `folder`."""
    check_known(facts, ("service", "limits", "wire", "oidc", "datasets"))
    service = _table(facts.get("service", {}), "service")
    check_known(service, _SERVICE, "service")
    tables = _table(facts.get("datasets", {}), "datasets")
    if not tables:
        raise InvalidArgument(
            "datasets is empty; write [datasets.people] with schema, ledger and duckdb"
        )
    durations = {}
    for name in _DURATIONS:
        if name in service:
            durations[name] = float(positive(service[name], f"service.{name}"))
    url = _url(service.get("url", "http://127.0.0.1:8000"))
    store = _path_or_server(service.get("store", "service.db"), "service.store", folder)
    datasets = {name: _dataset(name, table, folder) for name, table in tables.items()}
    return Config(
        url=url,
        store=store,
        datasets=datasets,
        log=_optional_path(service, "log", folder),
        signing_key=_optional_path(service, "signing_key", folder),
        proxies=_texts(service.get("proxies", []), "service.proxies"),
        documents=_documents(service.get("documents", "")),
        bounds=_bounds(_table(facts.get("limits", {}), "limits")),
        wire=_wire(_table(facts.get("wire", {}), "wire"), folder),
        openid=_openid(_table(facts.get("oidc", {}), "oidc"), folder, url),
        **durations,
    )


def _optional_path(service: Mapping[str, object], key: str, folder: Path) -> str:
    if key not in service:
        return ""
    return _path_or_server(service[key], f"service.{key}", folder)


def _documents(value: object) -> str:
    """Read the address of the documentation, without a slash at its end; "" if none is given."""
    if not isinstance(value, str) or (value and not value.startswith(("https://", "http://", "/"))):
        raise InvalidArgument(
            "service.documents must be an address such as https://docs.example/discreet"
        )
    return value.rstrip("/")


def _bounds(facts: Mapping[str, object]) -> RequestBounds:
    check_known(facts, RequestBounds.__match_args__, "limits")
    bounds = {name: whole(value, f"limits.{name}", least=1) for name, value in facts.items()}
    return RequestBounds(**bounds)


def _wire(facts: Mapping[str, object], folder: Path) -> WireOptions:
    """Read the table [wire], the options of the PostgreSQL listener."""
    amounts = {name: facts[name] for name in _SPEND if name in facts}
    sizes = ("connections", "connections_per_person", "idle_minutes")
    check_known(facts, ("certificate", "key", "per_day", "preview", *sizes, *_SPEND), "wire")
    options: dict[str, Any] = {}
    for name in ("certificate", "key"):
        if name in facts:
            options[name] = _file(facts[name], f"wire.{name}", folder)
    for name in sizes:
        if name in facts:
            options[name] = whole(facts[name], f"wire.{name}", least=1)
    if len(options.keys() & {"certificate", "key"}) == 1:
        raise InvalidArgument("wire.certificate and wire.key belong together; give both or none")
    if amounts:
        options["spend"] = parse_budget(amounts, "wire")
    if "per_day" in facts:
        options["per_day"] = parse_budget(facts["per_day"], "wire.per_day")
    preview = facts.get("preview", "refused")
    if preview not in ("refused", "made-up"):
        raise InvalidArgument("wire.preview must be 'refused' or 'made-up'")
    return WireOptions(preview=preview == "made-up", **options)


def _openid(facts: Mapping[str, object], folder: Path, url: str) -> OpenIdOptions | None:
    """Read the table [oidc], the provider by which people sign in to the pages at `url`."""
    if not facts:
        return None
    check_known(facts, ("issuer", "client_id", "secret_file", "secret_variable", "label"), "oidc")
    issuer = _text(facts.get("issuer"), "oidc.issuer")
    # Codes and tokens go to both addresses: nobody between may read them.
    for key, address in (("oidc.issuer", issuer), ("service.url, with [oidc],", url)):
        if not is_private_address(address) or "?" in address:
            raise InvalidArgument(f"{key} must be an address with https, without a query")
    label = OpenIdOptions.label
    if "label" in facts:
        label = _text(facts["label"], "oidc.label")
    client_id = _text(facts.get("client_id"), "oidc.client_id")
    return OpenIdOptions(issuer, client_id, _secret(facts, folder), label)


def _secret(facts: Mapping[str, object], folder: Path) -> str:
    """Read the client's secret from its file or variable; it is never part of a refusal."""
    if {"secret_file", "secret_variable"} <= facts.keys():
        raise InvalidArgument("give oidc.secret_file or oidc.secret_variable, one of the two")
    secret = ""
    if "secret_file" in facts:
        where = "oidc.secret_file"
        try:
            secret = Path(_file(facts["secret_file"], where, folder)).read_text("utf-8").strip()
        except (OSError, UnicodeDecodeError):
            raise InvalidArgument(f"{where} cannot be read; give a file with the secret") from None
    elif "secret_variable" in facts:
        where = "oidc.secret_variable"
        secret = os.environ.get(_text(facts["secret_variable"], where), "").strip()
    else:
        return ""
    if not secret:
        raise InvalidArgument(f"{where} names nothing, or something empty")
    return secret


def _dataset(name: str, value: object, folder: Path) -> DataSet:
    """Read the table of one data set; `name` must be an identifier of at most 63 letters."""
    where = f"datasets.{name}"
    # Names become part of addresses and of log lines, so they are plain ASCII and short.
    if not name.isidentifier() or not name.isascii() or len(name) > 63:
        raise InvalidArgument(
            f"{where}: a data set's name must be an identifier of at most 63 letters"
        )
    facts = _table(value, where)
    check_known(facts, _DATASET, where)
    source = _source(facts, where, folder)
    trusted = _texts(facts.get("trusted", []), f"{where}.trusted")
    reads_files = source.engine == "duckdb" and not isinstance(source.tables, str)
    if "keep" in facts and not reads_files:
        example = "duckdb = { people = 'people.csv' }"
        raise InvalidArgument(f"{where}.keep belongs to files that are read, such as {example}")
    schema = folder / _text(facts.get("schema"), f"{where}.schema")
    ledger = _path_or_server(facts.get("ledger"), f"{where}.ledger", folder)
    terms = {key: _term(key, facts[key], where) for key in _TERMS if key in facts}
    share_questions = _flag(facts.get("share_questions", False), f"{where}.share_questions")
    keep = ""
    if "keep" in facts:
        keep = _file(facts["keep"], f"{where}.keep", folder)
    return DataSet(
        name=name,
        schema=schema,
        ledger=ledger,
        source=replace(source, trusted=trusted),
        terms=terms,
        share_questions=share_questions,
        share_dashboards=_flag(facts.get("share_dashboards", False), f"{where}.share_dashboards"),
        siblings=_flag(facts.get("siblings", True), f"{where}.siblings"),
        keep=keep,
        seal=_file(facts["seal"], f"{where}.seal", folder) if "seal" in facts else "",
        show_intake=_flag(facts.get("show_intake", False), f"{where}.show_intake"),
    )


def _term(key: str, value: object, where: str) -> object:
    """Read one of the ledger's terms, such as its budget; `where` is the key for refusals."""
    if key == "budget":
        return parse_budget(value, f"{where}.budget")
    if key == "allowances":
        return _allowances(_table(value, f"{where}.allowances"), where)
    if key == "blocks":
        return _blocks(_table(value, f"{where}.blocks"), f"{where}.blocks")
    if key == "delta":
        # The ledger checks delta itself, with the refusal that says what a delta is.
        return value
    return _text(value, f"{where}.{key}")


def _allowances(facts: Mapping[str, object], where: str) -> dict[str, Measure]:
    allowances = {}
    for person, budget in facts.items():
        allowances[person] = parse_budget(budget, f"{where}.allowances.{person}")
    return allowances


def _blocks(facts: Mapping[str, object], where: str) -> Blocks:
    """Read blocks of time, such as { table = "visits", column = "day", per = "week", stays = 26 }."""
    check_known(facts, ("table", "column", "per", "stays", "most"), where)
    try:
        return Blocks(**{"table": "", "column": "", "per": "", **facts})  # type: ignore[arg-type]
    except InvalidArgument as refusal:
        raise InvalidArgument(f"{where}: {refusal}") from None


def _source(facts: Mapping[str, object], where: str, folder: Path) -> DataSource:
    """Read the engine of a data set with its files or its connection; exactly one must be given."""
    engines = [engine for engine in _ENGINES if engine in facts]
    if len(engines) != 1:
        known = ", ".join(_ENGINES)
        example = "duckdb = { people = 'people.csv' }"
        raise InvalidArgument(f"{where} needs one store: {known}, such as {example}")
    engine = engines[0]
    given = facts[engine]
    places = _table(facts.get("tables", {}), f"{where}.tables")
    if engine == "postgres":
        server_tables = {
            table: _text(place, f"{where}.tables.{table}") for table, place in places.items()
        }
        return DataSource(engine, _text(given, f"{where}.postgres"), server_tables)
    if places:
        raise InvalidArgument(
            f"{where}.tables belongs to postgres; {engine} names its tables itself"
        )
    if isinstance(given, str):
        return DataSource(engine, str(folder / given))
    files = {}
    for table, file in _table(given, f"{where}.{engine}").items():
        files[table] = _file(file, f"{where}.{engine}.{table}", folder)
    return DataSource(engine, files)


def _file(value: object, where: str, folder: Path) -> str:
    return str(folder / _text(value, where))


def _path_or_server(value: object, where: str, folder: Path) -> str:
    """Read a path relative to the folder, or a PostgreSQL connection string unchanged."""
    text = _text(value, where)
    try:
        unchanged = is_server(text) or text == ":memory:"
    except InvalidArgument as refusal:
        # The text could be either a path or a server. That refusal does not know the key.
        raise InvalidArgument(f"{where}: {refusal}") from None
    if unchanged:
        return text
    return str(folder / text)


def _url(value: object) -> str:
    """Read the address of the service: scheme and host, without path, query and password."""
    url = urlsplit(_text(value, "service.url"))
    is_web = url.scheme in ("http", "https") and bool(url.netloc)
    # The service is mounted at the root of its host, and a password has no place in a public address.
    is_bare = url.path in ("", "/") and not url.query and "@" not in url.netloc
    if not is_web or not is_bare:
        raise InvalidArgument(
            'service.url must be such as "https://curator.example" or "http://127.0.0.1:8000"'
        )
    return f"{url.scheme}://{url.netloc}"


def _table(value: object, where: str) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise InvalidArgument(f"{where} must be a table of names and values")
    return value


def _flag(value: object, where: str) -> bool:
    if not isinstance(value, bool):
        raise InvalidArgument(f"{where} must be true or false")
    return value


def _texts(value: object, where: str) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise InvalidArgument(f"{where} must be a list of texts")
    return tuple(_text(text, where) for text in value)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidArgument(f"{where} is missing or no text; write it in quotes")
    return value
