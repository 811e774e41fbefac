from .plan import SyntheticPlan as SyntheticPlan
from .quality import SyntheticQuality as SyntheticQuality
from .stored import synthetic_from_json as synthetic_from_json
from .stored import synthetic_to_json as synthetic_to_json
from .synthesizer import Synthesizer as Synthesizer
from .synthetic import ReleasedTable as ReleasedTable
from .synthetic import Synthetic as Synthetic
