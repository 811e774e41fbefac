from .caps import Days as Days
from .plan import StreamPlan as StreamPlan
from .report import StreamReport as StreamReport
from .seal import Seal as Seal
from .views import StreamTable as StreamTable
