from . import answer as answer
from . import caption as caption
from . import display_facts as display_facts
from . import plot as plot
