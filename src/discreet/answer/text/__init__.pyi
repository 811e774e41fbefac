from . import answer as answer
from . import caption as caption
from . import plot as plot
