"""An estimate and an interval for each kind of statistic."""
