"""The local model: nobody is trusted, everyone randomizes their own answer before it leaves the device."""

from .choice import Choice
from .estimate import Estimate
from .number import Number
from .randomizer import Randomizer
from .report import Report, pack, pack_block, params_hash, unpack, unpack_block
from .shuffle import Shuffle

__all__ = [
    "Choice",
    "Estimate",
    "Number",
    "Randomizer",
    "Report",
    "Shuffle",
    "pack",
    "pack_block",
    "params_hash",
    "unpack",
    "unpack_block",
]
