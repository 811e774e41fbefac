from . import quantile_interval as quantile_interval
from . import quantiles as quantiles
from . import ranks as ranks
