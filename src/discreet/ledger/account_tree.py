"""Account tree: a Merkle tree (hash tree) by which the chain vouches for every person's account.

An entry vouches for a text by holding a digest that covers it. Every entry vouches for the terms,
the allowances, everyone's account and the root of this tree:

    root              digest of each page, and two numbers
    page (256)        digest of the account of each person on it; the page is SHA-256(name)[:2]
    account           text of one person's account

The tree has two levels, so a charge reads and writes little of it however many people there are.
An account that was changed, put back to an earlier state or removed is noticed by the next charge,
not only by a verification.

The root also holds two numbers of entries, 0 if there is none. `repair` is the entry of the last
repair (`life.repair`); times of entries before it may be wrong. `behind` is the entry up to which
answers may be missing, because an export without answers was imported (`life.move`).

Stored texts call the tree `roll`. Ledgers of release 0.1.0 have no tree; it is made before the
first entry that is written into one (`life.upgrade`).

Guarantee: with the tree, a read of one person's account is refused unless the last entry of the
chain vouches for exactly this account.

Refuses: an account, a page or a root that was changed, with LedgerCorrupt.

Law: tests/ledger/test_life.py::TestPersonalAccounts
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from ..arithmetic.canonical import canonical_json, digest
from ..errors import LedgerCorrupt
from .stores.store import ACCOUNT_TREE, account_name

_UNREADABLE = "the account tree of this ledger cannot be read: it was damaged or changed"


def page_name(who: str) -> str:
    """Return the name of the page of the tree that holds a person.

    >>> from discreet.ledger.account_tree import page_name
    >>> page_name("ann"), page_name("bob")
    ('roll:49', 'roll:81')
    """
    # Two hexadecimal digits make 256 pages; the hash spreads people evenly over them.
    return f"{ACCOUNT_TREE}:{digest(who)[:2]}"


def check_account(texts: Mapping[str, str], who: str) -> None:
    """Refuse an account that the tree does not vouch for; a ledger without a tree is not checked.

    The caller has checked the root against the last entry.
    """
    if ACCOUNT_TREE not in texts:
        return
    name = page_name(who)
    root = _read_root(texts[ACCOUNT_TREE])
    page = texts.get(name)
    account = texts.get(account_name(who))
    listed = {} if page is None else _read_page(page)
    # A missing text must be missing one level above too: None on both sides compares equal.
    page_matches = root["pages"].get(name) == _digest_or_none(page)
    account_matches = listed.get(who) == _digest_or_none(account)
    if not page_matches or not account_matches:
        raise LedgerCorrupt(
            f"the account of {who} is not the one that the last entry vouches for: it was changed"
        )


def _digest_or_none(text: str | None) -> str | None:
    if text is None:
        return None
    return digest(text)


def update_tree(texts: Mapping[str, str], who: str, account: str) -> dict[str, str]:
    """Return the texts of the tree that change with one person's account: a page and the root."""
    name = page_name(who)
    # Cached values are shared, so they are copied before they change.
    listed = dict(_read_page(texts.get(name, "{}")))
    listed[who] = digest(account)
    page = canonical_json(listed)
    root = dict(_read_root(texts[ACCOUNT_TREE]))
    root["pages"] = root["pages"] | {name: digest(page)}
    return {name: page, ACCOUNT_TREE: canonical_json(root)}


def build_tree(accounts: Mapping[str, str], repair: int = 0, behind: int = 0) -> dict[str, str]:
    """Return all texts of the tree, from the texts of all people's accounts.

    >>> from discreet.ledger.account_tree import build_tree
    >>> build_tree({})
    {'roll': '{"behind":0,"pages":{},"repair":0}'}
    """
    listed: dict[str, dict[str, str]] = {}
    for who, account in accounts.items():
        page = listed.setdefault(page_name(who), {})
        page[who] = digest(account)
    pages = {name: canonical_json(page) for name, page in listed.items()}
    digests = {name: digest(text) for name, text in pages.items()}
    root = canonical_json({"pages": digests, "repair": repair, "behind": behind})
    return {ACCOUNT_TREE: root, **pages}


def tree_numbers(texts: Mapping[str, str]) -> tuple[int, int]:
    """Return the entry numbers `repair` and `behind` of the root; 0 where there is none."""
    if ACCOUNT_TREE not in texts:
        return 0, 0
    root = _read_root(texts[ACCOUNT_TREE])
    return root["repair"], root["behind"]


@lru_cache(maxsize=256)
def _read_root(text: str) -> dict[str, Any]:
    root = _read_page(text)
    # The types within are not checked: the last entry vouches for the text.
    if root.keys() != {"pages", "repair", "behind"}:
        raise LedgerCorrupt(_UNREADABLE)
    return root


@lru_cache(maxsize=256)
def _read_page(text: str) -> dict[str, str]:
    """Read a page of the tree, a JSON object; refuse other text, with LedgerCorrupt."""
    try:
        data = json.loads(text)
    except ValueError:
        data = None
    if not isinstance(data, dict):
        raise LedgerCorrupt(_UNREADABLE)
    return data
