"""Privacy accounting: measures, events, composition, conversion. It draws no noise, reads no data.

| module | names | subject |
|---|---|---|
| measures | PureDP  ApproxDP  ZCDP  GaussianDP  RenyiDP | promises and budgets |
| events | LaplaceNoise  GaussianNoise  …  Parallel | record of one release |
| compose | events → Curve | cost of events together |
| calibrate | fits  least_scale  largest  most_queries  least_budget | least noise |
| convert | to_pure  to_approx  to_zcdp  to_gaussian  to_renyi  implies | one measure to another |
| pricing.group, pricing.group_event | group_privacy  group_event | several people together |
| amplify | amplify  dp_sgd | Poisson samples |
| advise | advise  meaning | interpretation |
| pricing.moments | moments | moments of the privacy loss |
"""

from . import events
from .advise import NOT_PROMISED, Advice, Meaning, advise, meaning
from .amplify import amplify, dp_sgd
from .calibrate import fits, largest, least_budget, least_scale, most_queries
from .compose import compose
from .convert import implies, to_approx, to_gaussian, to_pure, to_renyi, to_zcdp
from .curve import Curve
from .events import *  # noqa: F403 `events` lists their names, once for both packages
from .explain.attack import Attack
from .explain.why import Why
from .measures import (
    ADD_REMOVE,
    REPLACE,
    ZCDP,
    ApproxDP,
    GaussianDP,
    Measure,
    Neighbours,
    PureDP,
    RenyiDP,
)
from .pricing.group import group_privacy
from .pricing.group_event import group_event
from .pricing.moments import moments

__all__ = [
    "ADD_REMOVE",
    "NOT_PROMISED",
    "REPLACE",
    "ZCDP",
    "Advice",
    "ApproxDP",
    "Attack",
    "Curve",
    "GaussianDP",
    "Meaning",
    "Measure",
    "Neighbours",
    "PureDP",
    "RenyiDP",
    "Why",
    "advise",
    "amplify",
    "compose",
    "dp_sgd",
    "fits",
    "group_event",
    "group_privacy",
    "implies",
    "largest",
    "least_budget",
    "least_scale",
    "meaning",
    "moments",
    "most_queries",
    "to_approx",
    "to_gaussian",
    "to_pure",
    "to_renyi",
    "to_zcdp",
]
__all__ += events.__all__
