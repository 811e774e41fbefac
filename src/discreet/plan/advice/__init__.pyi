from . import impossible_conditions as impossible_conditions
from . import warnings as warnings
