"""Review of a ledger: history, export, verification; each module is loaded when it is used."""

from ...lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
