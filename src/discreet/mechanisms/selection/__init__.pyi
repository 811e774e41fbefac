from . import quantile_interval as quantile_interval
from . import quantile_pair as quantile_pair
from . import quantiles as quantiles
from . import ranks as ranks
