"""Display of answers as tables and plots, imported when one is shown."""

from ...lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__)
