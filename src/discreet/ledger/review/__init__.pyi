from . import chain_replay as chain_replay
from . import export as export
from . import history as history
from . import verdict as verdict
from . import verify as verify
