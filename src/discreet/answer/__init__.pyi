from . import derived_views as derived_views
from . import measurements as measurements
from . import population as population
from . import workload_run as workload_run
from .answer import Answer as Answer
from .ask import answer_question as answer_question
from .ask import run_plan as run_plan
from .suggest import suggest_bounds as suggest_bounds
