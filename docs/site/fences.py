"""Take the second word off code fences (`python peer`, `python script …`): tests read it. A hook of MkDocs."""

from __future__ import annotations

import re
from typing import Any

FENCE = re.compile(r"^```python .+$", re.MULTILINE)


def on_page_markdown(markdown: str, **_: Any) -> str:  # noqa: ANN401 - whatever MkDocs hands over
    """Return the page with plain fences."""
    return FENCE.sub("```python", markdown)
