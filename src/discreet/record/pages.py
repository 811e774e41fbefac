"""Files of a record as text: HTML page, SVG label, registry entry, checklist, pages for data
subjects, and metadata for citations.

Law: tests/record/test_pages.py
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from ..privacy.events.json import Json
from ..show.markup import Html, element, picture
from ..show.printed_page import RED, printed_page
from ..show.prose import bold
from .deployment import Deployment, Sentence
from .derive import Derived, tier_of
from .fields import FIELDS
from .sentences import NOT_ANSWERED, OUTSIDE, sentences_in
from .statements import Answered, LabelRow

_FILES = {
    "registry.yaml": "Entry for the registry of deployments, as a draft",
    "checklist.md": "Checklist after the standard for evaluating such promises",
    "people.md": "For people in the data",
    "people.de.md": "For people in the data, in German",
    "data/datapackage.json": "Tables with their dictionary",
    "evidence.json": "Evidence of every sentence",
    "proof.lines": "Lines that prove the charges",
    "manifest.json": "Hashes of all files",
}
_WIDTH, _LINE, _COLUMNS = 420, 17, 46


def write_json(data: object) -> str:
    """Write JSON for people and machines: indented, with a last line end."""
    return json.dumps(data, indent=1, ensure_ascii=False) + "\n"


def index_page(
    title: str,
    rows: Sequence[LabelRow],
    people: Sequence[Sentence],
    open_points: Sequence[str],
) -> str:
    """Write the page: label, odds, what is open, and links; one sheet, no script, no other host."""
    lines = []
    for row in rows:
        name = element("th", row.name, scope="row")
        lines.append(element("tr", name, _cell(row.text(), row.said.open)))
    items = [element("li", element("span", *bold(sentence.text))) for sentence in people]
    missing = [element("li", point, class_="open") for point in open_points]
    # Said in words: an empty list could be a slip.
    if not missing:
        missing = [element("li", "Nothing is open.")]
    links = [element("li", element("a", text, href=path)) for path, text in _FILES.items()]
    body = element(
        "main",
        element("h1", title),
        element("p", "Differential privacy facts, from a ledger that proves them."),
        element("table", element("tbody", *lines), aria_label="Differential privacy facts"),
        element("h2", sentences_in("en")["title"]),
        element("ul", *items),
        element("h2", "Not answered"),
        element("ul", *missing),
        element("h2", "Files"),
        element("ul", *links),
    )
    return printed_page(title, body)


def _cell(text: str, is_open: bool) -> Html:
    if is_open:
        return element("td", text, class_="open")
    return element("td", text)


def label_picture(rows: Sequence[LabelRow]) -> str:
    """Draw the label alone, as SVG."""
    parts: list[str] = [
        element("text", "Differential privacy facts", x=12, y=26, font_size=18, font_weight="bold"),
    ]
    y = 50
    for row in rows:
        parts.append(element("text", row.name, x=12, y=y, font_weight="bold"))
        colour = "#000"
        if row.said.open or row.mark == OUTSIDE:
            colour = RED
        for line in wrap(row.text(), _COLUMNS) or [""]:
            parts.append(element("text", line, x=124, y=y, fill=colour))
            y += _LINE
    size = (_WIDTH, y)
    # First, below the text, but known only now: the frame is as high as its lines.
    parts.insert(0, element("rect", width=_WIDTH, height=y, fill="#fff", stroke="#000"))
    style: Any = {"xmlns": "http://www.w3.org/2000/svg", "font_family": "sans-serif"}
    style["font_size"] = 12
    return f"{picture('Differential privacy facts', parts, size, **style)}\n"


def registry_entry(fields: Mapping[str, Derived], slug: str) -> str:
    """Write the registry's YAML: block strings, dates as text, no folded text."""
    lines = [
        f"url_slug: {_quoted(slug)}",
        "status: Draft",
        f"tier: {tier_of(fields)}",
        "deployment:",
    ]
    section = ""
    for one in FIELDS:
        value = fields[one.name].value
        if value is None:
            continue
        # Fields of one section stand together in the table.
        if one.section != section:
            section = one.section
            lines.append(f"  {section}:")
        lines += _yaml(one.name, value, "    ")
    return "\n".join(lines) + "\n"


def _yaml(name: str, value: object, indent: str) -> list[str]:
    """Write a field of the registry as lines of YAML: numbers by name, a list, or text."""
    if isinstance(value, dict):
        lines = [f"{indent}{name}:"]
        for key, one in value.items():
            lines.append(f"{indent}  {key}: {_number(one)}")
        return lines
    if isinstance(value, list):
        lines = [f"{indent}{name}:"]
        for one in value:
            lines.append(f"{indent}  - {_quoted(str(one))}")
        return lines
    text = str(value)
    if "\n" in text:
        # Texts are stripped, so the first line tells how far the block is indented.
        lines = [f"{indent}{name}: |"]
        for line in text.splitlines():
            lines.append(f"{indent}  {line}".rstrip())
        return lines
    return [f"{indent}{name}: {_quoted(text)}"]


def _number(value: float) -> str:
    """Write a number that YAML 1.1 reads as one: with a point, also before an exponent."""
    text = repr(float(value))
    if "e" in text and "." not in text:
        text = text.replace("e", ".0e")
    return text


def _quoted(text: str) -> str:
    """Write text in single quotes, in which only the quote itself is doubled."""
    flat = " ".join(text.splitlines())
    return "'" + flat.replace("'", "''") + "'"


def _markdown(text: str) -> str:
    """Write text as one line of Markdown that opens no tag, no link and no heading; bold stays."""
    flat = " ".join(text.splitlines())
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace("](", "]\\(")


def checklist_page(points: Sequence[Answered]) -> str:
    """Write the checklist: every point with its answers and their evidence; open ones in red."""
    lines = ["# Checklist", ""]
    lines.append("After NIST SP 800-226, in our wording.")
    for answered in points:
        lines += ["", f"## {answered.point.number}. {answered.point.title}", ""]
        for sentence in answered.said or (Sentence(NOT_ANSWERED, ("words.toml",), open=True),):
            text = _markdown(sentence.text)
            if sentence.open:
                text = f'<span style="color:{RED}">{text}</span>'
            lines.append(f"- {text} *({'; '.join(sentence.rests_on)})*")
    return "\n".join(lines) + "\n"


def people_text(title: str, parts: Sequence[tuple[str, Sequence[Sentence]]]) -> str:
    """Write the page for data subjects as Markdown, one sentence a line."""
    lines = [f"# {title}"]
    for heading, sentences in parts:
        lines += ["", f"## {heading}", ""]
        # Two spaces end a line of Markdown, so that each sentence has its own.
        lines += [f"{_markdown(sentence.text)}  " for sentence in sentences]
    return "\n".join(lines) + "\n"


def citation(deployment: Deployment, fields: Mapping[str, Derived], identity: str) -> str:
    """Write CITATION.cff; it names nobody and no address that the words do not give."""
    words = deployment.words
    lines = [
        "cff-version: 1.2.0",
        "message: 'Please cite this record of the published data.'",
        "type: dataset",
        f"title: {_quoted(fields['name'].value)}",
        "authors:",
    ]
    makers: list[str] = fields["data_curators"].value
    # Curators are offices as a rule: CITATION.cff has one name for these.
    for maker in makers:
        lines.append(f"  - name: {_quoted(maker)}")
    lines.append(f"date-released: {_quoted(fields['publication_date'].value)}")
    for key in ("version", "doi", "url"):
        if key in words:
            lines.append(f"{key}: {_quoted(words[key])}")
    lines += ["identifiers:", "  - type: other", f"    value: 'sha256:{identity}'"]
    return "\n".join(lines) + "\n"


def datacite(deployment: Deployment, fields: Mapping[str, Derived], identity: str) -> Json:
    """Return the DataCite metadata of the record."""
    words = deployment.words
    makers = fields["data_curators"].value
    day: str = fields["publication_date"].value
    facts: Json = {
        "types": {
            "resourceTypeGeneral": "Dataset",
            "resourceType": fields["data_product_type"].value,
        },
        "titles": [{"title": fields["name"].value}],
        "creators": [{"name": maker, "nameType": "Organizational"} for maker in makers],
        "publisher": {"name": ", ".join(makers)},
        "publicationYear": day[:4],
        "dates": [{"date": day, "dateType": "Issued"}],
        "alternateIdentifiers": [
            {"alternateIdentifier": identity, "alternateIdentifierType": "SHA-256 of the record"}
        ],
    }
    for key in ("version", "doi", "url"):
        if key in words:
            facts[key] = words[key]
    return facts
