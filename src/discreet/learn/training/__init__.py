"""How models are trained: exact sums of coded rows, discrete Gaussian noise on them, and all else from these."""
