"""Exact random integers; this room knows nothing of privacy."""

from .bits import Bits, SecureBits, secure_bits
from .gaussian import gaussian
from .geometric import geometric
from .laplace import laplace

__all__ = ["Bits", "SecureBits", "gaussian", "geometric", "laplace", "secure_bits"]
