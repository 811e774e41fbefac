"""Local model: nobody is trusted; every device randomizes its own answer before sending it."""

from .choice import Choice
from .compare import FrequencyQuestion, MeanQuestion, Trust, compare_trust
from .deployments.alpha_point import AlphaPoint
from .deployments.bit_flip import BitFlip
from .deployments.hadamard_sketch import HadamardCountMeanSketch
from .deployments.one_bit import OneBitMean
from .deployments.rappor import Rappor
from .deployments.sketch import CountMeanSketch
from .estimates.estimate import Estimate
from .histogram import Histogram
from .longitudinal import Device, Lifetime
from .number import Number
from .randomizer import Randomizer
from .reports.catalogue import read_mechanism
from .reports.collector import Collector
from .reports.parameters import device_parameters, to_device
from .reports.report import LocalReport, pack, pack_block, params_hash, unpack, unpack_block
from .search.words import WordRound, Words
from .shuffle import Shuffle

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
    "LocalReport",
    "MeanQuestion",
    "Number",
    "OneBitMean",
    "Randomizer",
    "Rappor",
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
    "to_device",
    "unpack",
    "unpack_block",
]
