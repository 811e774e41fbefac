"""The one text of a JSON value: the same bytes as every writer that it took the place of."""

from __future__ import annotations

import hashlib
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.arithmetic.canonical import canonical_json, digest, hash_json

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
LEDGER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True)
"""What wrote the entries and books of 0.1.0."""


def receipts(data):
    """What wrote the receipts, keys, bodies and fingerprints of 0.1.0."""
    return json.dumps(
        data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def events(data):
    """What wrote the events of 0.1.0."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True).encode(
        "ascii"
    )


class TestTheOneText:
    """It is byte for byte what 0.1.0 wrote, in each of its places, and it is read back as it was."""

    @given(data=values)
    def test_is_what_each_writer_of_0_1_0_wrote(self, data):
        text = canonical_json(data)
        assert text == LEDGER.encode(data) == receipts(data) and text.encode() == events(data)
        assert (
            hash_json(data)
            == hashlib.sha256(receipts(data).encode()).hexdigest()
            == digest(LEDGER.encode(data))
        )

    @given(data=values)
    def test_is_a_fixed_point_and_ascii(self, data):
        text = canonical_json(data)
        assert (
            canonical_json(json.loads(text)) == text and text.isascii() and json.loads(text) == data
        )

    @given(texts=st.lists(st.text(alphabet="ab", max_size=3), min_size=2, max_size=4))
    def test_a_digest_of_several_texts_says_where_each_ends(self, texts):
        joined = ["".join(texts[:2]), *texts[2:]]
        assert digest(*texts) != digest(*joined) and digest(*texts) == digest(
            "".join(digest(text) for text in texts)
        )

    @pytest.mark.parametrize(
        "wrong",
        [math.nan, math.inf, -math.inf, {1, 2}, b"x", object()],
        ids=lambda wrong: type(wrong).__name__,
    )
    def test_refuses_what_json_does_not_have(self, wrong):
        for data in (wrong, {"a": [wrong]}):
            with pytest.raises(dp.InvalidArgument, match="no JSON value"):
                canonical_json(data)

    def test_refuses_what_never_ends(self):
        loop: list[object] = []
        loop.append(loop)
        with pytest.raises(dp.InvalidArgument):
            canonical_json(loop)
