"""Parts for tests: fixed bits, the laws any mechanism must satisfy, and a zoo of broken and sound mechanisms.

Never import this where data are private: its bits are not random.
"""

from __future__ import annotations

from .findings import Findings
from .mechanism import check_mechanism

__all__ = ["Findings", "check_mechanism"]
