"""Text that people write on pages, as HTML: headings, lists, paragraphs and bold words; all else is text."""

from __future__ import annotations

from .markup import Html, element, join


def prose(words: str) -> Html:
    r"""Write a text as HTML, with a small part of Markdown; tags in it are shown, never obeyed.

    A blank line ends a paragraph. A line that begins with "# " is a heading, lines that begin with
    "- " are a list, and **bold** is bold.

    >>> from discreet.show.prose import prose
    >>> prose("# Who\nLives **here**\n- <b>one</b>")
    '<h2>Who</h2><p>Lives <strong>here</strong></p><ul><li>&lt;b&gt;one&lt;/b&gt;</li></ul>'
    """
    parts: list[Html] = []
    group: list[str] = []
    kind = ""
    # The blank line at the end closes the last group.
    for line in [*words.splitlines(), ""]:
        line_kind, content = _line(line)
        if group and line_kind != kind:
            parts.append(_group(kind, group))
            group = []
        kind = line_kind
        if line_kind == "h":
            parts.append(element("h2", *bold(content)))
        elif line_kind:
            group.append(content)
    return join(parts)


def bold(words: str) -> list[str]:
    """Return the pieces of a text; those between two marks `**` are bold."""
    pieces: list[str] = words.split("**")
    # A mark without its partner is text.
    last = len(pieces) - 1 if len(pieces) % 2 else len(pieces) - 2
    for place in range(1, last, 2):
        pieces[place] = element("strong", pieces[place])
    if len(pieces) % 2 == 0:
        pieces[-1] = f"**{pieces[-1]}"
    return pieces


def _line(line: str) -> tuple[str, str]:
    """Return what a line is ("h", "li", "p", or "" if it is blank), and its words."""
    stripped = line.strip()
    for mark, kind in (("# ", "h"), ("- ", "li")):
        if stripped.startswith(mark):
            return kind, stripped[2:]
    return ("p" if stripped else ""), stripped


def _group(kind: str, lines: list[str]) -> Html:
    if kind == "li":
        return element("ul", *(element("li", *bold(line)) for line in lines))
    return element("p", *bold("\n".join(lines)))
