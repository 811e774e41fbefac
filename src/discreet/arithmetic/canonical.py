"""Canonical JSON and its SHA-256 digest: each JSON value has exactly one text.

Keys are sorted, there are no spaces, and all characters are ASCII. Entries of a ledger, keys,
fingerprints, receipts and events are hashed in this form. The form never changes, so that stored
hashes can be checked for ever, with a JSON reader and SHA-256 alone.
"""

from __future__ import annotations

import hashlib
import json

from ..errors import InvalidArgument

_ENCODER = json.JSONEncoder(
    sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
)


def canonical_json(data: object) -> str:
    r"""Return the canonical text of a JSON value.

    >>> from discreet.arithmetic.canonical import canonical_json
    >>> canonical_json({"b": 1, "a": [None, "é"]})
    '{"a":[null,"\\u00e9"],"b":1}'

    Refuses: InvalidArgument for NaN and infinities, which JSON does not have, and for objects that
        the `json` module does not write. It writes a tuple as a list, and a numeric key as text.

    Law: tests/laws/test_canonical.py::TestTheOneText
    """
    try:
        return _ENCODER.encode(data)
    except (ValueError, TypeError, RecursionError):
        raise InvalidArgument(
            "this is no JSON value: NaN, an infinity, or a type that JSON does not have"
        ) from None


def digest(*texts: str) -> str:
    """Return a SHA-256 in hexadecimal, of one text in UTF-8 or of a sequence of texts.

    The digest of several texts is that of their own digests, one after the other. So it depends on
    the boundaries between the texts.

    >>> from discreet.arithmetic.canonical import digest
    >>> digest("ab", "c") == digest("a", "bc")
    False
    """
    if len(texts) == 1:
        return hashlib.sha256(texts[0].encode("utf-8")).hexdigest()
    # Digests have one length, so their concatenation keeps the boundaries.
    return digest("".join(map(digest, texts)))


def hash_json(data: object) -> str:
    """Return the SHA-256 of a JSON value in its canonical form.

    >>> from discreet.arithmetic.canonical import hash_json
    >>> hash_json({"b": 1, "a": 2}) == hash_json({"a": 2, "b": 1})
    True
    """
    return digest(canonical_json(data))
