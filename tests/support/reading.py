"""Reading ease of prose (Flesch) and length of sentences, for pages of the service and of the documentation."""

from __future__ import annotations

import re

WORD = re.compile(r"[A-Za-z’']+")
END = re.compile(r"[.!?:;]+\s")
"""End of a part that is read in one go: Flesch counts clauses that a semicolon or a colon parts."""
FULL_STOP = re.compile(r"[.!?]+[)’”\"]*\s+")
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
TABLE = re.compile(r"^ *\|.*$", re.MULTILINE)
COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
LINK = re.compile(r"!?\[([^]]*)\]\([^)]*\)")
CODE = re.compile(r"`[^`]*`")
ITEM = re.compile(r"^ *(?:[-*]|\d+\.) +", re.MULTILINE)
HEAD = re.compile(r"^#+ .*$", re.MULTILINE)


def syllables(word: str) -> int:
    """Count groups of vowels; a silent e at the end is none."""
    groups = re.findall(r"[aeiouy]+", word.lower())
    silent = word.lower().endswith("e") and not word.lower().endswith("le")
    return max(1, len(groups) - (silent and len(groups) > 1))


def ease_of(texts: list[str]) -> float:
    """Return Flesch's reading ease: 60 to 70 is plain English, and more is easier."""
    sentences = [part for text in texts for part in END.split(f"{text} ") if part.strip()]
    words = WORD.findall(" ".join(texts))
    total = sum(map(syllables, words))
    return 206.835 - 1.015 * len(words) / len(sentences) - 84.6 * total / len(words)


def paragraphs_of(markdown: str) -> list[str]:
    """Return paragraphs and items of a page: no code, table, head; a piece of code is the word "it"."""
    prose = FENCE.sub("", COMMENT.sub("", markdown))
    prose = HEAD.sub("", TABLE.sub("", prose))
    prose = LINK.sub(r"\1", CODE.sub("it", prose))
    # Each item of a list is a text of its own.
    blocks = re.split(r"\n\s*\n", ITEM.sub("\n\n", prose))
    plain = (" ".join(block.replace("*", "").split()) for block in blocks)
    return [block for block in plain if block]


def sentences_of(texts: list[str]) -> list[str]:
    """Return the sentences of texts; a full stop within a number or a name ends none."""
    return [part for text in texts for part in FULL_STOP.split(text) if part.strip()]
