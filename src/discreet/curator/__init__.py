"""The curator: questions in, private answers with receipts out, every one charged before it is run.

Start at `curator`, then `pay` (the order of effects), `receipt` and `verify`.
"""

from .curator import Curator
from .explanation import Explanation
from .receipt import Receipt
from .receipt_check import verify_receipt
from .signing import Signer

__all__ = ["Curator", "Explanation", "Receipt", "Signer", "verify_receipt"]
