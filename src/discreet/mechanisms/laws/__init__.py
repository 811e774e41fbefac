"""Probability laws of the noise: pmf, cdf, tails and quantiles, for error bounds and reports."""
