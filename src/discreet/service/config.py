"""What a steward writes in `curator.toml`, read strictly: unknown keys are refused by their path."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlsplit

from ..arithmetic.rational import positive, whole
from ..connection import is_server
from ..errors import InvalidArgument
from ..frozen import field, frozen, replace
from ..privacy.budget_text import budget_from_words
from ..privacy.measures import Measure

CONFIG_VARIABLE = "DISCREET_CONFIG"
"""Names the configuration to the workers of a server, in the environment."""


@frozen
class RequestBounds:
    """How much one person may ask for, and how large a request may be; every number is public."""

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
    """Where the rows are: an engine by name, what it is opened with, and the tables that the steward vouches for."""

    engine: str
    tables: Mapping[str, str] | str = field(repr=False)
    """Files by table, or the connection string of a server, which may hold a password: never shown."""
    places: Mapping[str, str] = field(default_factory=dict)
    trusted: tuple[str, ...] = ()


@frozen
class DataSet:
    """One data set: its public facts, its ledger and its store."""

    name: str
    schema: Path
    ledger: str = field(repr=False)
    """A path, or a connection string, which may hold a password: never shown."""
    source: DataSource
    terms: Mapping[str, object] = field(default_factory=dict)
    share_questions: bool = False
    """Whether analysts may know what others have asked."""
    keep: str = ""
    """Where a store of what was last read is kept; "" if none is."""
    show_intake: bool = False
    """Whether stewards see on their pages how the tables were read: exact counts, from the data."""


@frozen
class Config:
    """Everything a worker needs to start."""

    url: str
    store: str = field(repr=False)
    """A path, or a connection string, which may hold a password: never shown."""
    datasets: Mapping[str, DataSet]
    grid: float = 0.25
    lease: float = 15.0
    session_hours: float = 12.0
    drain_seconds: float = 20.0
    log: str = ""
    signing_key: str = ""
    proxies: tuple[str, ...] = ()
    documents: str = ""
    """Where people read the documents, if the steward says: lessons lead there."""
    bounds: RequestBounds = field(default_factory=RequestBounds)

    @property
    def secure(self) -> bool:
        """Whether people reach the service by https."""
        return self.url.startswith("https://")

    @property
    def host(self) -> str:
        """The name, with its port if it has one, under which people reach the service."""
        return urlsplit(self.url).netloc


_SERVICE = (
    "url", "store", "grid", "lease", "session_hours", "drain_seconds", "log", "signing_key", "proxies", "documents",
)  # fmt: skip
_TERMS = ("budget", "kind", "delta", "neighbours", "allowances", "window")
_ENGINES = ("duckdb", "postgres", "spark")
_DATASET = (
    "schema",
    "ledger",
    "tables",
    "trusted",
    "share_questions",
    "keep",
    "show_intake",
    *_TERMS,
    *_ENGINES,
)


def read_config(path: str | Path) -> Config:
    """Read a configuration; relative paths are read from the file's own folder.

    Refuses a file that is not there or no TOML, keys it does not know, values out of range: by path and key.
    """
    place = Path(path)
    try:
        facts = tomllib.loads(place.read_text(encoding="utf-8"), parse_float=Decimal)
    except (OSError, UnicodeDecodeError):
        raise InvalidArgument(f"{place} cannot be read; give the path of a curator.toml") from None
    except tomllib.TOMLDecodeError as refusal:
        raise InvalidArgument(f"{place} is no TOML: {refusal}") from None
    return _config(facts, place.resolve().parent)


def _config(facts: Mapping[str, object], folder: Path) -> Config:
    _check_known(facts, ("service", "limits", "datasets"), "")
    service = _table(facts.get("service", {}), "service")
    _check_known(service, _SERVICE, "service")
    tables = _table(facts.get("datasets", {}), "datasets")
    if not tables:
        raise InvalidArgument(
            "datasets is empty; write [datasets.people] with schema, ledger and duckdb"
        )
    seconds = {
        name: float(positive(service[name], f"service.{name}"))
        for name in ("grid", "lease", "session_hours", "drain_seconds")
        if name in service
    }
    return Config(
        url=_url(service.get("url", "http://127.0.0.1:8000")),
        store=_place(service.get("store", "service.db"), "service.store", folder),
        datasets={name: _dataset(name, found, folder) for name, found in tables.items()},
        log=_place(service["log"], "service.log", folder) if "log" in service else "",
        signing_key=_place(service["signing_key"], "service.signing_key", folder)
        if "signing_key" in service
        else "",
        proxies=_texts(service.get("proxies", []), "service.proxies"),
        documents=_documents(service.get("documents", "")),
        bounds=_bounds(_table(facts.get("limits", {}), "limits")),
        **seconds,
    )


def _documents(value: object) -> str:
    """Read where the documents are: an address, without its last stroke; nothing if nobody says."""
    if not isinstance(value, str) or (value and not value.startswith(("https://", "http://", "/"))):
        raise InvalidArgument(
            "service.documents must be an address such as https://docs.example/discreet"
        )
    return value.rstrip("/")


def _bounds(facts: Mapping[str, object]) -> RequestBounds:
    _check_known(facts, RequestBounds.__match_args__, "limits")
    return RequestBounds(
        **{name: whole(value, f"limits.{name}", least=1) for name, value in facts.items()}
    )


def _dataset(name: str, value: object, folder: Path) -> DataSet:
    where = f"datasets.{name}"
    if not name.isidentifier() or not name.isascii() or len(name) > 63:
        raise InvalidArgument(
            f"{where}: a data set's name must be an identifier of at most 63 letters"
        )
    facts = _table(value, where)
    _check_known(facts, _DATASET, where)
    source = replace(
        _source(facts, where, folder), trusted=_texts(facts.get("trusted", []), f"{where}.trusted")
    )
    if "keep" in facts and (source.engine != "duckdb" or isinstance(source.tables, str)):
        raise InvalidArgument(
            f"{where}.keep belongs to files that are read, such as duckdb = {{ people = 'people.csv' }}"
        )
    return DataSet(
        name,
        folder / _text(facts.get("schema"), f"{where}.schema"),
        _place(facts.get("ledger"), f"{where}.ledger", folder),
        source,
        {key: _term(key, facts[key], where) for key in _TERMS if key in facts},
        _flag(facts.get("share_questions", False), f"{where}.share_questions"),
        _file(facts["keep"], f"{where}.keep", folder) if "keep" in facts else "",
        _flag(facts.get("show_intake", False), f"{where}.show_intake"),
    )


def _term(key: str, value: object, where: str) -> object:
    if key == "budget":
        return budget_from_words(value, f"{where}.budget")
    if key == "allowances":
        return _allowances(_table(value, f"{where}.allowances"), where)
    return value if key == "delta" else _text(value, f"{where}.{key}")


def _allowances(facts: Mapping[str, object], where: str) -> dict[str, Measure]:
    return {
        who: budget_from_words(budget, f"{where}.allowances.{who}") for who, budget in facts.items()
    }


def _source(facts: Mapping[str, object], where: str, folder: Path) -> DataSource:
    engines = [engine for engine in _ENGINES if engine in facts]
    if len(engines) != 1:
        raise InvalidArgument(
            f"{where} needs one store: {', '.join(_ENGINES)}, such as duckdb = {{ people = 'people.csv' }}"
        )
    engine, given = engines[0], facts[engines[0]]
    places = _table(facts.get("tables", {}), f"{where}.tables")
    if engine == "postgres":
        named = {table: _text(place, f"{where}.tables.{table}") for table, place in places.items()}
        return DataSource(engine, _text(given, f"{where}.postgres"), named)
    if places:
        raise InvalidArgument(
            f"{where}.tables belongs to postgres; {engine} names its tables itself"
        )
    if isinstance(given, str):
        return DataSource(engine, str(folder / given))
    files = _table(given, f"{where}.{engine}")
    return DataSource(
        engine,
        {table: _file(file, f"{where}.{engine}.{table}", folder) for table, file in files.items()},
    )


def _file(value: object, where: str, folder: Path) -> str:
    return str(folder / _text(value, where))


def _place(value: object, where: str, folder: Path) -> str:
    """Read a path beside the configuration, or a PostgreSQL connection string as it stands."""
    text = _text(value, where)
    try:
        return text if is_server(text) or text == ":memory:" else str(folder / text)
    except InvalidArgument as refusal:  # it may be either; it does not say which key
        raise InvalidArgument(f"{where}: {refusal}") from None


def _url(value: object) -> str:
    url = urlsplit(_text(value, "service.url"))
    if (
        url.scheme not in ("http", "https")
        or not url.netloc
        or url.path not in ("", "/")
        or url.query
        or "@" in url.netloc
    ):
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
    return tuple(_text(one, where) for one in value)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidArgument(f"{where} is missing or no text; write it in quotes")
    return value


def _check_known(facts: Mapping[str, object], names: Iterable[str], where: str) -> None:
    for key in facts:
        if key not in names:
            path = f"{where}.{key}" if where else key
            raise InvalidArgument(
                f"{path} is not known here; what may stand here: {', '.join(names)}"
            )
