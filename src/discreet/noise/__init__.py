"""Samplers of random integers and coins with exact laws; they know nothing of privacy.

Every law is exact for rational parameters; no float decides an output. A float parameter, such as a
scale, means its shortest decimal: 0.1 is 1/10. A float score is the binary number that it stores.
Where a sampler takes `size`, None gives one Python int (a bool for a coin) and n an array of n, at
most 2^33 (InvalidArgument beyond). `bits` is the source of random bytes; None means the secure one.
"""

from .binomial import binomial
from .bits import Bits, CheckedBits, SecureBits, secure_bits
from .choice import choice
from .coin import coin, exponential_coin
from .exponential import exponential_choice
from .gaussian import gaussian
from .geometric import geometric
from .grid import add_on_grid, from_grid, grid_exponent, to_grid
from .laplace import laplace
from .permute import permute_and_flip
from .truncated import truncated_geometric
from .uniform import uniform

__all__ = [
    "Bits",
    "CheckedBits",
    "SecureBits",
    "add_on_grid",
    "binomial",
    "choice",
    "coin",
    "exponential_choice",
    "exponential_coin",
    "from_grid",
    "gaussian",
    "geometric",
    "grid_exponent",
    "laplace",
    "permute_and_flip",
    "secure_bits",
    "to_grid",
    "truncated_geometric",
    "uniform",
]
