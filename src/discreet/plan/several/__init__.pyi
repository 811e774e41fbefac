from . import shared_table as shared_table
from . import tradeoff as tradeoff
from . import workload as workload
