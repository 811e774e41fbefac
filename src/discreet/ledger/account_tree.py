"""The roll: by which the chain vouches for the account of every person.

Every entry vouches for the terms, the allowances, everyone's account and the roll. The roll is a tree of two steps, so
that a charge reads and writes little of it however many people there are: its root holds the digest of every page, a
page the digest of the account of each person on it. Who a page belongs to is told by the hash of the name. So an
account that was changed, put back to what it was, or removed is noticed by the next charge, not only by a verification.

The root also holds two numbers: of the last repair (see `life.repair`), before which times may be wrong, and of the
entry up to which answers stayed behind when an export without them was imported (see `life.imports`). Ledgers of
release 0.1.0 have no roll; before the first entry that is written into one it is made (see `life.upgrade`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..arithmetic.canonical import canonical_json, digest
from ..errors import LedgerCorrupt
from .stores.store import ROLL, account_name


def page_name(who: str) -> str:
    """Name the page of the roll that somebody stands on.

    >>> from discreet.ledger.account_tree import page_name
    >>> page_name("ann"), page_name("bob")
    ('roll:49', 'roll:81')
    """
    return f"{ROLL}:{digest(who)[:2]}"


def check_roll(texts: Mapping[str, str], who: str) -> None:
    """Refuse an account that is not the one that the roll vouches for; a ledger without a roll is left alone."""
    if ROLL not in texts:
        return
    name = page_name(who)
    pages, page = _root(texts[ROLL])["pages"], texts.get(name)
    listed = {} if page is None else _page(page)
    account = texts.get(account_name(who))
    right = pages.get(name) == (None if page is None else digest(page))
    if not right or listed.get(who) != (None if account is None else digest(account)):
        raise LedgerCorrupt(
            f"the account of {who} is not the one that the last entry vouches for: it was changed"
        )


def changed_roll(texts: Mapping[str, str], who: str, account: str) -> dict[str, str]:
    """Return the texts of the roll that change with somebody's account."""
    name = page_name(who)
    page = canonical_json(_page(texts.get(name, "{}")) | {who: digest(account)})
    root = _root(texts[ROLL])
    return {
        name: page,
        ROLL: canonical_json(root | {"pages": root["pages"] | {name: digest(page)}}),
    }


def whole_roll(accounts: Mapping[str, str], repair: int = 0, behind: int = 0) -> dict[str, str]:
    """Return the texts of the roll of all people, from the texts of their accounts.

    >>> from discreet.ledger.account_tree import whole_roll
    >>> whole_roll({})
    {'roll': '{"behind":0,"pages":{},"repair":0}'}
    """
    listed: dict[str, dict[str, str]] = {}
    for who, account in accounts.items():
        listed.setdefault(page_name(who), {})[who] = digest(account)
    pages = {name: canonical_json(page) for name, page in listed.items()}
    root = {
        "pages": {name: digest(page) for name, page in pages.items()},
        "repair": repair,
        "behind": behind,
    }
    return {ROLL: canonical_json(root), **pages}


def numbers(texts: Mapping[str, str]) -> tuple[int, int]:
    """Return the numbers of the last repair and of the entry up to which answers stayed behind; 0 if there is none."""
    root = _root(texts[ROLL]) if ROLL in texts else {}
    return root.get("repair", 0), root.get("behind", 0)


@lru_cache(maxsize=256)
def _root(text: str) -> dict[str, Any]:
    root = _page(text)
    if root.keys() != {"pages", "repair", "behind"}:
        raise LedgerCorrupt("the roll of this ledger cannot be read: it was torn or changed")
    return root  # the last entry vouches for what is in it


@lru_cache(maxsize=256)
def _page(text: str) -> dict[str, str]:
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise LedgerCorrupt("the roll of this ledger cannot be read: it was torn or changed")
    return data
