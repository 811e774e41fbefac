"""Additive-noise mechanisms: Laplace, Gaussian, and their discrete and truncated forms."""
