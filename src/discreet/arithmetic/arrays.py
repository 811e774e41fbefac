"""Types of NumPy arrays by the kind of number in them, named once for every package.

Arrays whose numbers mean more than that (codes of cells, raw reports) have names of their own where
they are made.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Integers: TypeAlias = NDArray[np.int64]
Flags: TypeAlias = NDArray[np.bool_]
AnyArray: TypeAlias = NDArray[Any]
