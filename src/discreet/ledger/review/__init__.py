"""Review of a ledger: history, export, verification; each module is loaded when it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...lazy import lazy_names

if TYPE_CHECKING:
    from . import chain_replay as chain_replay
    from . import export as export
    from . import history as history
    from . import verdict as verdict
    from . import verify as verify

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = lazy_names(
        __name__, {"chain_replay": "", "export": "", "history": "", "verdict": "", "verify": ""}
    )
