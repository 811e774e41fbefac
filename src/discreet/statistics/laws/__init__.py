"""Laws of noise: bounds on errors, and confidence intervals, of statistics made from noisy totals."""
