from . import answer as answer
from . import plot as plot
