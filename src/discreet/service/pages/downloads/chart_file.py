"""Chart as an SVG file: the picture of the page with its colours inlined, since a file has no style sheet."""

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
"""What the style sheet says of the parts of an answer's chart, in its light colours."""
FONT = 'font-family="Segoe UI, Roboto, Helvetica, Arial, sans-serif" font-size="12.5"'


def drawing(picture: str) -> str:
    """Return a chart of an answer as a whole SVG document.

    >>> from discreet.service.pages.downloads.chart_file import drawing
    >>> drawing('<svg class="chart" viewBox="0 0 4 3"><path class="band" d="M0 0"/></svg>').partition(">")[2]
    '<rect width="4" height="3" fill="#ffffff"/><path fill="#e4eff1" d="M0 0"/></svg>'
    """
    box = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)
    width, height = (box[1], box[2]) if box else ("400", "250")
    head, _, rest = picture.partition(">")
    size = f'xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" {FONT}'
    ground = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    return f"{_plain(head)} {size}>{ground}{_plain(rest)}"


def _plain(markup: str) -> str:
    return re.sub(
        r' class="([^"]*)"',
        lambda found: f" {LOOKS[found[1]]}" if found[1] in LOOKS else "",
        markup,
    )
