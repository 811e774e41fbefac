"""Text that people write on pages: a small part of Markdown, and nothing of HTML."""

from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.show.prose import prose
from support.profile import examples

ALLOWED = {"p", "h2", "ul", "li", "strong"}
WORDS = st.lists(
    st.sampled_from(
        ["<b>", "</p>", "&", '"', "**", "# ", "- ", "\n", "\n\n", "a", "<script>", "'"]
    ),
    max_size=30,
).map("".join)


class Reader(HTMLParser):
    """Collect tags, attributes and words; tags must be closed in their order."""

    def __init__(self):
        super().__init__()
        self.open, self.words = [], ""

    def handle_starttag(self, tag, attrs):
        assert tag in ALLOWED and attrs == []
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words += data


class TestNoTagComesFromText:
    """Every tag of the result is one of ours, and every letter of the text is shown."""

    @settings(max_examples=examples(200))
    @given(WORDS)
    def test_only_our_tags(self, words):
        reader = Reader()
        reader.feed(prose(words))
        reader.close()
        assert reader.open == []
        for mark in ("<b>", "<script>", "&", '"', "a", "'"):
            assert reader.words.count(mark) == words.count(mark)
