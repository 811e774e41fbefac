from . import bounds as bounds
from . import learn as learn
from . import rehearse as rehearse
from . import stream as stream
from . import synthesize as synthesize
