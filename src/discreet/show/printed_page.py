"""Web page in one file: its style inside, no script, nothing from another host, printed on paper."""

from __future__ import annotations

from .markup import Html, element

RED = "#a40000"
STYLE = f"""
@page {{ size: A4; margin: 12mm }}
body {{ font: 0.85rem/1.35 system-ui, sans-serif; color: #1b1b1b; background: #fff; max-width: 46rem;
  margin: 0 auto; padding: 0.5rem 1rem; color-scheme: light }}
h1 {{ font-size: 1.3rem; margin: 0.3rem 0 }} h2 {{ font-size: 1.05rem; margin: 0.7rem 0 0.2rem }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ text-align: left; vertical-align: top; padding: 0.15rem 0.4rem; border-top: 1px solid #777 }}
ul {{ margin: 0.2rem 0; padding-left: 1.2rem }} .open {{ color: {RED}; font-weight: bold }}
a {{ color: #003e8a }} td, li {{ overflow-wrap: anywhere }}
@media print {{ body {{ font-size: 8.5pt; padding: 0; max-width: none }} }}
"""


def printed_page(title: str, body: Html, style: str = "") -> str:
    """Return a whole HTML document with its style inside; `style` is added to the common one."""
    head = element(
        "head",
        Html('<meta charset="utf-8">'),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        element("title", title),
        element("style", Html(STYLE + style)),
    )
    return f"<!doctype html>\n{element('html', head, element('body', body), lang='en')}\n"
