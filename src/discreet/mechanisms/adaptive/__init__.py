"""Interactive mechanisms for many adaptive queries: sparse vector, multiplicative weights, MWEM."""
