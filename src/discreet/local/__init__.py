"""The local model: nobody is trusted, everyone randomizes their own answer before it leaves the device."""

from .alpha_point import AlphaPoint
from .bit_flip import BitFlip
from .catalogue import read_mechanism
from .choice import Choice
from .collector import Collector
from .compare import FrequencyQuestion, MeanQuestion, Trust, compare_trust
from .estimate import Estimate
from .hadamard_sketch import HadamardCountMeanSketch
from .histogram import Histogram
from .number import Number
from .one_bit import OneBitMean
from .over_time import Device, Lifetime
from .parameters import device_parameters
from .randomizer import Randomizer
from .rappor import Rappor
from .report import Report, pack, pack_block, params_hash, unpack, unpack_block
from .shuffle import Shuffle
from .sketch import CountMeanSketch
from .words import WordRound, Words

__all__ = [
    "AlphaPoint",
    "BitFlip",
    "Choice",
    "Collector",
    "CountMeanSketch",
    "Device",
    "Estimate",
    "FrequencyQuestion",
    "HadamardCountMeanSketch",
    "Histogram",
    "Lifetime",
    "MeanQuestion",
    "Number",
    "OneBitMean",
    "Randomizer",
    "Rappor",
    "Report",
    "Shuffle",
    "Trust",
    "WordRound",
    "Words",
    "compare_trust",
    "device_parameters",
    "pack",
    "pack_block",
    "params_hash",
    "read_mechanism",
    "unpack",
    "unpack_block",
]
