"""The local model: nobody is trusted, everyone randomizes their own answer before it leaves the device."""

from .choice import Choice
from .compare import FrequencyQuestion, MeanQuestion, Trust, compare_trust
from .estimate import Estimate
from .histogram import Histogram
from .number import Number
from .randomizer import Randomizer
from .report import Report, pack, pack_block, params_hash, unpack, unpack_block
from .shuffle import Shuffle

__all__ = [
    "Choice",
    "Estimate",
    "FrequencyQuestion",
    "Histogram",
    "MeanQuestion",
    "Number",
    "Randomizer",
    "Report",
    "Shuffle",
    "Trust",
    "compare_trust",
    "pack",
    "pack_block",
    "params_hash",
    "unpack",
    "unpack_block",
]
