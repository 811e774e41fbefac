"""Test support: fixed bits, laws of mechanisms and engines, broken and sound example mechanisms.

Never import this where data are private: its bits are not random.
"""

from .engine_laws import engine_suite
from .findings import Findings
from .mechanism_laws import check_mechanism
from .typed_rows import TypedRows

__all__ = ["Findings", "TypedRows", "check_mechanism", "engine_suite"]
