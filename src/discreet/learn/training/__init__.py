"""Training: exact sums of coded rows, discrete Gaussian noise, and post-processing of both."""
