"""Chart of an answer as a file of its own, with the colours that the style sheet gives it on a page."""

from __future__ import annotations

import re

INK, SOFT, LINE, ACCENT, WASH = "#1d2023", "#565c63", "#dedbd3", "#0f5b6d", "#e4eff1"
LOOKS = {
    "grid": f'fill="none" stroke="{LINE}"',
    "axis": f'fill="none" stroke="{SOFT}"',
    "mark": f'fill="none" stroke="{SOFT}"',
    "line": f'fill="none" stroke="{ACCENT}" stroke-width="2" stroke-linejoin="round"',
    "bar": f'fill="none" stroke="{ACCENT}" stroke-width="2.5"',
    "cap": f'fill="none" stroke="{ACCENT}" stroke-width="2"',
    "band": f'fill="{WASH}"',
    "dot": f'fill="{ACCENT}"',
    "tick": f'fill="{SOFT}" font-size="11.5"',
    "name": f'fill="{SOFT}" font-size="11.5"',
    "row-name": f'fill="{INK}"',
}
"""Styles of the parts of an answer's chart, as the style sheet has them in light colours."""

FONT = 'font-family="Segoe UI, Roboto, Helvetica, Arial, sans-serif" font-size="12.5"'


def drawing(picture: str) -> str:
    """Return a chart of an answer as a whole SVG document, with its styles inlined: a file has no style sheet.

    >>> from discreet.service.pages.charts.drawing import drawing
    >>> drawing('<svg class="chart" viewBox="0 0 4 3"><path class="band" d="M0 0"/></svg>').partition(">")[2]
    '<rect width="4" height="3" fill="#ffffff"/><path fill="#e4eff1" d="M0 0"/></svg>'
    """
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)
    width, height = "400", "250"
    if box:
        width, height = box[1], box[2]
    head, _, rest = picture.partition(">")
    size = f'xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {FONT}'
    background = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    return f"{_inline_styles(head)} {size}>{background}{_inline_styles(rest)}"


def _inline_styles(markup: str) -> str:
    def style(found: re.Match[str]) -> str:
        look = LOOKS.get(found[1], "")
        return f" {look}" if look else ""

    return re.sub(r' class="([^"]*)"', style, markup)
