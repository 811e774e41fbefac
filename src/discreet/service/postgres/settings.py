"""Settings of a session: the terms of its questions (`discreet.*`), and what drivers set and read.

    discreet.epsilon, delta, rho, mu    what a question may spend
    discreet.error                      its largest error instead: 50, or n=50,income=200
    discreet.level                      confidence level of errors and intervals
    discreet.intervals                  on: two columns, n_low and n_high, beside every noisy n
    discreet.confirm                    on: a question that costs is refused with its price as the HINT
    discreet.allowance                  what this connection may spend, such as 1 or epsilon=1,delta=1e-6
    discreet.why                        the reason that the ledger keeps
    discreet.reuse                      on, off or only, as in the library

`discreet.left`, `discreet.spent` and `discreet.price` can be shown only.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...arithmetic.numeral import read_number
from ...errors import InvalidArgument
from ...frozen import field, frozen, replace
from ...plan.asked.terms import Reuse, Terms
from ...privacy.budget_text import parse_budget
from ...privacy.measures import Measure
from ...show.nearest import did_you_mean
from ...wire.fields import MAX_WHY_LENGTH
from .types import TRUTHS

PREFIX = "discreet."
_AMOUNTS = ("epsilon", "delta", "rho", "mu")
_OWN = (*_AMOUNTS, "error", "level", "intervals", "confirm", "allowance", "why", "reuse")
SHOWN = ("left", "spent", "price")
"""What only SHOW knows: from the ledger, and the price of the last question."""
MAX_SETTINGS = 100
DEFAULTS = {
    "server_version": "15.0",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "DateStyle": "ISO, MDY",
    "IntervalStyle": "postgres",
    "TimeZone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "is_superuser": "off",
    "in_hot_standby": "off",
    "default_transaction_read_only": "on",
    "application_name": "",
}
"""Parameters that a server reports at the start of a session."""
_FACTS = {
    "transaction isolation level": "serializable",
    "transaction_isolation": "serializable",
    "default_transaction_isolation": "serializable",
    "transaction_read_only": "on",
    "search_path": '"$user", public',
    "server_version_num": "150000",
    "max_identifier_length": "63",
    "max_index_keys": "32",
    "lc_collate": "C.UTF-8",
    "bytea_output": "hex",
    "extra_float_digits": "1",
    "statement_timeout": "0",
    "time zone": "UTC",
    "default_table_access_method": "heap",
    "ssl": "on",
    "jit": "off",
}
# Other values would change how text is written: all texts are UTF-8, all days ISO.
_FIXED = {"client_encoding": ("utf8", "utf-8", "unicode", "sql_ascii"), "datestyle": ("iso",)}


@frozen
class Settings:
    """Values of one session by name in small letters.

    `default_spend` is the steward's; it is spent on questions where the session sets no amount and
    no error.
    """

    default_spend: Measure | None = None
    values: Mapping[str, str] = field(default_factory=dict)

    def set(self, name: str, value: str) -> Settings:
        """Return the settings with a changed value.

        Refuses: an unknown `discreet.` name and a value that is none of its kind.
        """
        name = name.lower()
        given = _bare(value)
        if given.upper() == "DEFAULT":
            return self.reset(name)
        allowed = _FIXED.get(name)
        if allowed and not given.lower().startswith(allowed):
            raise InvalidArgument(f"{name} is {allowed[0].upper()} here; leave it as it is")
        if len(self.values) >= MAX_SETTINGS and name not in self.values:
            raise InvalidArgument(f"a session has at most {MAX_SETTINGS} settings; RESET some")
        changed = replace(self, values={**self.values, name: given})
        if name.startswith(PREFIX):
            _check_own(name.removeprefix(PREFIX))
            # Read once here, so that a wrong value is refused where it is set.
            changed.check()
        return changed

    def reset(self, name: str) -> Settings:
        """Return the settings without a value, or without all of them."""
        if name.lower() == "all":
            return replace(self, values={})
        kept = {known: value for known, value in self.values.items() if known != name.lower()}
        return replace(self, values=kept)

    def show(self, name: str) -> str:
        """Return a value as text; unknown names are refused as PostgreSQL does."""
        name = name.lower()
        if name.startswith(PREFIX):
            _check_own(name.removeprefix(PREFIX))
            return self.values.get(name, "")
        known = {key.lower(): value for key, value in DEFAULTS.items()} | _FACTS | dict(self.values)
        if name not in known:
            raise InvalidArgument(f"unrecognized configuration parameter {name[:63]!r}")
        return known[name]

    def own(self, name: str) -> str:
        """Return the value of a `discreet.` setting, "" where there is none."""
        return self.values.get(PREFIX + name, "")

    def check(self) -> None:
        """Refuse values that are none of their kind."""
        self.flag("intervals")
        self.flag("confirm")
        self.allowance()
        # A delta alone waits for its epsilon, which may be set next.
        if not self.own("delta") or self.own("epsilon"):
            self.terms()

    def flag(self, name: str, default: str = "off", choice: str = "on or off") -> bool:
        """Return whether a switch is on."""
        given = self.own(name).lower() or default
        if given not in TRUTHS:
            raise InvalidArgument(f"discreet.{name} must be {choice}")
        return TRUTHS[given]

    def allowance(self) -> Measure | None:
        """Return what this connection may spend; None without a limit."""
        given = self.own("allowance")
        return parse_budget(given, "discreet.allowance") if given else None

    @property
    def why(self) -> str:
        """The reason for the ledger: the one that was given, else the name of the program."""
        reason = self.own("why") or self.values.get("application_name", "")
        return reason[:MAX_WHY_LENGTH]

    def terms(self) -> Terms | None:
        """Return the terms of a question; without spend and error those of the steward, or None."""
        error = self._error()
        amounts = {name: self.own(name) for name in _AMOUNTS if self.own(name)}
        spend = self.default_spend
        if amounts:
            spend = parse_budget(amounts, "discreet settings")
        if error is not None and amounts:
            raise InvalidArgument(
                "discreet.error and discreet.epsilon are both set; RESET one of the two"
            )
        level = self.own("level")
        options: dict[str, object] = {"reuse": self._reuse()}
        if level:
            options["level"] = read_number(level, "discreet.level")
        if error is not None:
            options["error"] = error
        else:
            options["spend"] = spend
        # Made also where it is not returned: a wrong level is refused where it is set.
        terms = Terms(**options)  # type: ignore[arg-type]
        if spend is None and error is None:
            return None
        return terms

    def _error(self) -> object:
        """Return the error that is set: one number, or numbers by column; None without one."""
        given = self.own("error")
        if not given:
            return None
        if "=" not in given:
            return read_number(given, "discreet.error")
        errors = {}
        for part in given.split(","):
            column, _, amount = part.partition("=")
            errors[column.strip()] = read_number(amount.strip(), "discreet.error")
        return errors

    def _reuse(self) -> Reuse:
        """Return the reuse that is set: True, False or "only"."""
        if self.own("reuse").lower() == "only":
            return "only"
        return self.flag("reuse", "on", "on, off or only")


def _check_own(name: str) -> None:
    if name not in _OWN:
        known = ", ".join(PREFIX + own for own in _OWN)
        near = did_you_mean(name, _OWN) or f"there are {known}"
        raise InvalidArgument(f"there is no setting discreet.{name[:40]}; {near}")


def _bare(value: str) -> str:
    """Return the value of SET without its quotes."""
    given = value.strip()
    if len(given) >= 2 and given[0] == given[-1] and given[0] in "'\"":
        quote = given[0]
        return given[1:-1].replace(quote * 2, quote)
    return given
