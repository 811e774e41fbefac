"""Words of the pages: easy to read by Flesch's formula, short captions, no Python."""

from __future__ import annotations

import re
from pathlib import Path

import discreet
from discreet.service.pages.refusal_view import OTHERWISE, TITLES
from support.reading import ease_of, sentences_of

HOME = Path(discreet.__file__).parent
TEMPLATES = sorted(HOME.glob("service/templates/*.html"))
LESSONS = sorted(HOME.glob("lessons/templates/*.html"))
MIN_EASE = 60
MAX_CAPTION = 20
MAX_SENTENCE = 25
PROSE = 8
"""Words that make a text prose: labels of a word or two would make any page look easy."""
JINJA = re.compile(r"{%.*?%}|{#.*?#}", re.DOTALL)
VALUE = re.compile(r"{{.*?}}", re.DOTALL)
SAID = re.compile(r'(?:aria-label|data-sure|placeholder)="([^"]*)"')
CODE = re.compile(r"<(pre|code|textarea)\b.*?</\1>", re.DOTALL)


def texts_of(template: str) -> list[str]:
    """Return the texts of a template, one for each element; a value counts as the word "it"."""
    plain = VALUE.sub("it", JINJA.sub(" ", CODE.sub(" ", template)))
    # Elements of a line are parts of its sentence.
    inline = re.sub(r"</?(?:a|strong|em|span|mark|b|kbd)\b[^>]*>", "", plain)
    found = re.split(r"<[^>]*>", inline) + SAID.findall(plain)
    return [" ".join(text.split()) for text in found if len(text.split()) >= PROSE]


def test_pages_are_easy_to_read():
    every: list[str] = []
    for path in (*TEMPLATES, *LESSONS):
        texts = texts_of(path.read_text(encoding="utf-8"))
        every += texts
        if sum(len(text.split()) for text in texts) > 30:
            print(f"{path.name}: {ease_of(texts):.0f}")  # noqa: T201 - seen with pytest -s
    assert not [one for one in sentences_of(every) if len(one.split()) > MAX_SENTENCE]
    count = sum(len(text.split()) for text in every)
    print(f"all pages: {ease_of(every):.1f} over {count} words")  # noqa: T201
    assert ease_of(every) >= MIN_EASE
    assert ease_of([*TITLES.values(), OTHERWISE]) >= MIN_EASE


def test_the_measure_tells_plain_from_hard():
    assert ease_of(["The cat sat on the mat. It was warm there."]) > 100
    hard = "Contributions are constrained by predetermined sensitivity considerations"
    assert ease_of([hard]) < 0


def test_captions_are_short():
    for path in TEMPLATES:
        text = path.read_text(encoding="utf-8")
        for caption in re.findall(r"<(?:fig)?caption[^>]*>(.*?)</(?:fig)?caption>", text):
            words = VALUE.sub("it", JINJA.sub(" ", caption)).split()
            assert len(words) <= MAX_CAPTION, (path.name, caption)


def test_pages_say_no_python():
    for path in TEMPLATES:
        assert not re.search(r"\bdp\.|PureDP|ApproxDP|ZCDP", path.read_text(encoding="utf-8"))
