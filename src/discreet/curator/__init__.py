"""The curator: answers questions about private tables with noise, a charge and a receipt.

A new question is charged to a ledger before it is run. A question that the asker has paid for
before is answered from the ledger, with nothing charged or run.

Start at `curator`, then `pay` (the order of effects), `receipt` and `receipt_check`.
"""

from .curator import Curator
from .explanation import Explanation
from .receipt import Receipt
from .receipt_check import verify_receipt
from .signing import Signer

__all__ = ["Curator", "Explanation", "Receipt", "Signer", "verify_receipt"]
