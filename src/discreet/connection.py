r"""Connection strings of PostgreSQL: one rule tells them from paths; passwords are never shown.

The first row that fits decides:

| text                                                           | taken as     |
|----------------------------------------------------------------|--------------|
| begins with `/`, `./`, `../`, `~`, `C:\`, `\\`; or a `Path`    | a path       |
| `postgresql://…`, `postgres://…`, the scheme in any case       | a server     |
| only `keyword=value` pairs, every keyword one of libpq         | a server     |
| an address of something else: `mysql://…`, `user:secret@host`  | refused      |
| holds `password=` or a keyword of libpq, but not only pairs    | refused      |
| holds `://`, `:…@` or `secret=`, also percent-encoded          | refused      |
| everything else, such as `year=2024.ledger` and `:memory:`     | a path       |

A text that may be meant as either is refused, because a file would be named after a password. A
server whose host, port or database may hide an unencoded password is refused too. The library, the
command line, the service and its configuration all decide by this module.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from .errors import InvalidArgument
from .optional import load

HIDDEN = "***"
"""Text shown in place of a secret."""
SECRETS = frozenset(
    {"password", "sslpassword", "oauth_client_secret", "scram_client_key", "scram_server_key"}
)
"""Keywords of libpq whose values are never shown. `passfile` is the path of a file, which may be."""
_PLAIN = """
    host hostaddr port dbname user passfile require_auth channel_binding connect_timeout client_encoding options
    application_name fallback_application_name keepalives keepalives_idle keepalives_interval keepalives_count
    tcp_user_timeout replication gssencmode gssdelegation gsslib krbsrvname sslmode requiressl sslnegotiation
    sslcompression sslcert sslkey sslkeylogfile sslcertmode sslrootcert sslcrl sslcrldir sslsni requirepeer
    ssl_min_protocol_version ssl_max_protocol_version min_protocol_version max_protocol_version service servicefile
    target_session_attrs load_balance_hosts oauth_issuer oauth_client_id oauth_scope authtype tty
"""
KEYWORDS = SECRETS | frozenset(_PLAIN.split())
"""Keywords of a connection string, up to libpq 18."""
_PATH = re.compile(r"\s*(?:[/\\~]|\.{1,2}[/\\]|[A-Za-z]:[/\\])")
_URL = re.compile(r"\s*(postgres(?:ql)?)://", re.IGNORECASE)
_SCHEME = re.compile(r"\s*['\"]?[A-Za-z][A-Za-z0-9+.:-]+:/")
_USERINFO = re.compile(r"[^/\\]*:[^/\\]*@")
_ALIKE = r"\w*(?:pas\w*w|pwd|secret)\w*|pw|pass"
_KNOWN = "|".join(sorted(KEYWORDS))
_PAIRED = re.compile(rf"(?:^|[\s'\";,])(?:{_KNOWN}|{_ALIKE})\s*=", re.IGNORECASE)
_PAIR = re.compile(
    r"\s*(\w+)\s*=\s*(?:'((?:\\.|[^'\\])*)'|((?:\\.|[^\s\\'])(?:\\.|[^\s\\])*)?)(?=\s|$)", re.DOTALL
)
_SECRET = rf"(?:{_ALIKE})\W{{0,3}}="
_SECRET_PAIR = re.compile(_SECRET, re.IGNORECASE)
_DISGUISED = re.compile(rf"://|:\\\\|\bpostgres(?:ql)?:|:[^\s]*@|{_SECRET}", re.IGNORECASE)
"""An address or a password in a spelling that libpq does not read: never the name of a file."""
_SAFE = re.compile(r"[\w.,:/\[\]-]*")
"""Letters of a host, a port and a database that may be shown; others may hide a secret."""
_HOST = re.compile(r"(?:\[[^\[\]]*\]|[^:\[\]]*)(?::[0-9]*)?")
_ONE_HOST = r"(?:[\w.-]*|[/@][^\s:,]*|\[?[0-9A-Fa-f:.]+(?:%\w+)?\]?)"
_LISTED_HOSTS = re.compile(rf"{_ONE_HOST}(?:,{_ONE_HOST})*")
"""Names, sockets and addresses of hosts. libpq tells a host that it cannot find, so nothing else may stand there."""
_FORMS = {
    "host": _LISTED_HOSTS,
    "hostaddr": _LISTED_HOSTS,
    "port": re.compile(r"[0-9,]*"),
    "dbname": re.compile(r"[^:]*"),
}
"""How values must look in a list of pairs or in the query of a URL; others may hold a password after a colon."""
_TABLE = re.compile(r"[\w$]+(?:\.[\w$]+){0,2}")


def server_at(where: object) -> str | None:
    """Return the connection string of a server; None for a path, and for values that are no text.

    >>> from discreet.connection import server_at
    >>> server_at("PostgreSQL://db/curator"), server_at("user=ann host = db"), server_at("year=2024/people.ledger")
    ('postgresql://db/curator', 'user=ann host = db', None)

    Refuses: text that may be meant as a server or as a path, by an InvalidArgument that does not
    quote it.
    """
    if not isinstance(where, str) or _PATH.match(where):
        return None
    if url := _URL.match(where):
        made = f"{url[1].lower()}://{where[url.end() :].rstrip()}"
        _check_url(made)
        return made
    paired = _PAIRED.search(where) is not None
    # A whole list of pairs is read as libpq reads it, whatever letters its values hold.
    if paired and _pairs(where) is not None:
        return _check_pairs(where)
    if _SCHEME.match(where) or _USERINFO.match(where):
        raise _neither("it looks like an address, but of no PostgreSQL server")
    if paired:
        return _check_pairs(where)
    if _DISGUISED.search(_decoded(where)):
        raise _neither(
            "it looks like an address or a connection string, but libpq does not read it"
        )
    return None


def _decoded(where: str) -> str:
    """Return a text without percent-encoding, also twice encoded, and without invisible letters."""
    visible = "".join(letter for letter in where if letter.isprintable())
    return unquote(unquote(visible))


def is_server(where: object) -> bool:
    """Return whether this is a PostgreSQL connection string; refuse text that may be either.

    >>> from discreet.connection import is_server
    >>> is_server("postgresql://db/curator"), is_server("password=x host=db"), is_server("./host=db.ledger")
    (True, True, False)
    """
    return server_at(where) is not None


def require_path(where: object) -> None:
    """Refuse a server where a file is needed, and text that may be either; show no secret.

    >>> from discreet.connection import require_path
    >>> require_path("people.csv")
    >>> require_path("host=db password=x")
    Traceback (most recent call last):
    ...
    discreet.errors.InvalidArgument: a file is needed here, host=db password=*** is a server; Postgres(…) asks one
    """
    if is_server(where):
        raise InvalidArgument(
            f"a file is needed here, {masked(where)} is a server; Postgres(…) asks one"
        )


def server_table(source: object) -> tuple[str, str] | None:
    """Split `ADDRESS#schema.table` into connection string and table; None for a path.

    The table is "" if none is named.

    >>> from discreet.connection import server_table
    >>> server_table("postgresql://db/company#hr.staff"), server_table("people.csv")
    (('postgresql://db/company', 'hr.staff'), None)
    """
    if not isinstance(source, str) or _PATH.match(source):
        return None
    address, mark, table = source.rpartition("#")
    # A `#` at the end names no table; it belongs to the address only if no table could follow it.
    if table and not _TABLE.fullmatch(table):
        mark = ""
    if not mark:
        address = source
        table = ""
    server = server_at(address)
    return None if server is None else (server, table)


def masked(where: object) -> str:
    """Return a path as it is, or a connection string without its secrets, for display.

    >>> from discreet.connection import masked
    >>> masked("people.ledger"), masked("password='a b' host=db"), masked("postgresql://ann:x%40y@db/c?sslpassword=z")
    ('people.ledger', 'password=*** host=db', 'postgresql://ann:***@db/c?sslpassword=***')
    """
    text = str(where)
    if not isinstance(where, str) or _PATH.match(text):
        return text
    if _URL.match(text):
        return _masked_url(text)
    whole_list = _PAIRED.search(text) is not None and _pairs(text) is not None
    if not whole_list and (_SCHEME.match(text) or _USERINFO.match(text)):
        # of another kind of server: its parameters may hold a token
        return "(an address)" if "@" in text else re.split(r"[;?]", text, maxsplit=1)[0]
    if not _PAIRED.search(text):
        return "(an address)" if _DISGUISED.search(_decoded(text)) else text
    pairs = _pairs(text)
    if pairs is None:  # what is a password in it, nobody can tell
        return "(a connection string)"
    if any(keyword not in KEYWORDS for keyword, _ in pairs):
        # A word that is no keyword may be a part of a password that was not quoted.
        return "(a connection string)"
    return " ".join(f"{keyword}={_shown(keyword, value)}" for keyword, value in pairs)


def hide_secrets(message: str, where: str) -> str:
    """Return a driver's message with the secrets of the connection string replaced by `***`.

    Secrets of one or two characters are not replaced: every message has such letters.

    >>> from discreet.connection import hide_secrets
    >>> hide_secrets('no host "s3cret@db"', "postgresql://ann:s3cret%40db@h/c")
    'no host "***"'
    """
    shown = message.replace(where, masked(where))
    # Longest first: a secret may be a part of another.
    for secret in sorted(_secrets(where), key=len, reverse=True):
        if len(secret) >= 3:
            shown = shown.replace(secret, HIDDEN)
    return shown


def why_unconnected(problem: Exception, where: str) -> str:
    """Return libpq's message about a failed connection: one line, 500 characters, without secrets.

    No query has run yet, so the message holds no data. The caller who gave `where` may see it.
    """
    words = " ".join(str(problem).split())
    return hide_secrets(words, where)[:500]


def connection_facts(where: str) -> dict[str, object]:
    """Return the parameters of a connection string, as libpq reads them.

    Refuses: a string that libpq cannot read. libpq's own message is not shown, since it may quote a
    part of a password.
    """
    driver = load("psycopg", "postgres")
    try:
        return dict(driver.conninfo.conninfo_to_dict(where))
    except driver.Error:
        raise InvalidArgument(
            f"libpq cannot read the connection string {masked(where)}; write postgresql://user@host:5432/database, "
            "or host=… dbname=…, with special letters of a URL as %XX and values with spaces in single quotes"
        ) from None


def _pairs(where: str) -> list[tuple[str, str]] | None:
    """Read `keyword = value` pairs as libpq does; None if the text is anything else."""
    found, place = [], 0
    while where[place:].strip():
        pair = _PAIR.match(where, place)
        if pair is None:
            return None
        written = pair[2] if pair[2] is not None else pair[3] or ""
        found.append((pair[1], re.sub(r"\\(.)", r"\1", written, flags=re.DOTALL)))
        place = pair.end()
    return found


def _check_pairs(where: str) -> str:
    """Return a connection string of pairs; refuse unknown keywords and values with a password."""
    pairs = _pairs(where)
    if pairs is None:
        raise _neither(
            "it looks like a connection string, but is no list of keyword=value; quote values with spaces"
        )
    for keyword, value in pairs:
        # host=db;password=… and host=db#password=…: libpq would look for such a host, and tell it.
        hidden_pair = _PAIRED.search(value) or _SECRET_PAIR.search(_decoded(value))
        if keyword != "options" and keyword not in SECRETS and hidden_pair:
            raise _neither(
                "it looks like a connection string, but its pairs are not separated by spaces"
            )
        if keyword not in KEYWORDS:
            # Which one it is, is not shown: after a space it may be a part of a password.
            raise _neither(
                "it looks like a connection string, but one of its keywords is none of libpq, "
                "which writes them in small letters"
            )
        if not _fits(keyword, value):
            raise InvalidArgument(
                f"the {keyword} of this connection string cannot be read as one; write "
                "host=… port=… dbname=… user=… password=…, each by itself, or postgresql://user@host:5432/database"
            )
    return where


def _fits(keyword: str, value: str) -> bool:
    """Return whether a value has the form of its keyword: no host, port or database holds a password."""
    form = _FORMS.get(keyword)
    # A connection string may stand in for the name of a database; libpq then reads it as one.
    if keyword == "dbname" and ("=" in value or _URL.match(value) is not None):
        return True
    return form is None or form.fullmatch(value) is not None


def _check_url(where: str) -> None:
    """Refuse a URL whose password is not encoded: libpq would show a part of it as the host."""
    before_query = where.partition("?")[0]
    rest = before_query.partition("://")[2]
    authority = re.split(r"[/#]", rest, maxsplit=1)[0]
    hosts = authority.rpartition("@")[2].split(",")
    ends_early = rest.count("@") > 1 or ("@" in rest and "@" not in authority)
    # An encoded : or @ would make a password a part of the host, which drivers tell; %2F is a socket.
    ends_early = ends_early or any("%" in re.sub("%2F", "", host, flags=re.I) for host in hosts)
    # libpq ends a value at a space, and tells the rest.
    ends_early = ends_early or re.search(r"\s", where) is not None
    for said in where.partition("?")[2].split("&"):
        name, _, value = said.partition("=")
        ends_early = ends_early or not _fits(unquote(name).strip(), unquote(value))
    if ends_early or not all(_HOST.fullmatch(host) for host in hosts):
        raise InvalidArgument(
            "this postgresql:// address has no host and port that can be read; write user:password@host:5432, "
            "and in a user or a password %40 for @, %2F for /, %23 for #, %3A for : and %20 for a space"
        )


def _masked_url(where: str) -> str:
    """Return a URL without password and secret parameters; doubtful parts become `***`."""
    begin, _, rest = where.strip().partition("://")
    before, mark, query = rest.partition("?")
    if "@" in before:
        # up to the last @: a password that is not encoded is hidden as a whole
        user, _, host = before.rpartition("@")
        name, colon, _ = user.partition(":")
        name = name if _SAFE.fullmatch(name) else HIDDEN
        host = host if _SAFE.fullmatch(host) else HIDDEN
        before = f"{name}:{HIDDEN}@{host}" if colon else f"{name}@{host}"
    elif not all(
        _HOST.fullmatch(host) for host in re.split(r"[/#]", before, maxsplit=1)[0].split(",")
    ) or not _SAFE.fullmatch(before):
        before = HIDDEN
    shown = [_masked_parameter(one) for one in query.split("&")]
    return f"{begin}://{before}{mark}{'&'.join(shown)}"


def _masked_parameter(said: str) -> str:
    name, mark, value = said.partition("=")
    keyword = unquote(name).strip().casefold()
    if not mark or not _SAFE.fullmatch(name):
        # A raw & in a password ends up here.
        return HIDDEN if said else said
    return f"{name}{mark}{_shown(keyword, value)}"


def _shown(keyword: str, value: str) -> str:
    """Return a parameter's value for display; `***` if it is, or may hold, a secret."""
    if keyword in SECRETS or keyword not in KEYWORDS or re.search(r"[=;@#&?%]", value):
        return HIDDEN
    if value != HIDDEN and not _fits(keyword, value):
        return HIDDEN
    return f"'{value}'" if " " in value or not value else value


def _secrets(where: str) -> set[str]:
    """Return the secrets of a connection string: as written, percent-decoded and -encoded."""
    found: set[str] = set()
    if _URL.match(where):
        before, _, query = where.partition("://")[2].partition("?")
        if "@" in before:
            found.add(before.rpartition("@")[0].partition(":")[2])
        for one in query.split("&"):
            name, _, value = one.partition("=")
            if unquote(name).strip().casefold() in SECRETS:
                found.add(value)
    else:
        for keyword, value in _pairs(where) or []:
            if keyword.casefold() in SECRETS:
                found.add(value)
    forms: set[str] = set()
    for secret in found:
        forms |= {secret, unquote(secret), quote(secret, safe="")}
    return forms - {""}


def _neither(why: str) -> InvalidArgument:
    """Return the refusal of text that may be a server or a path; the message does not quote it."""
    return InvalidArgument(
        f"what was given is taken neither for a server nor for a path: {why}. A server is "
        "postgresql://user@host/database or host=… dbname=…; a file whose name looks like that is written ./name"
    )
