"""Prices of privacy events in each measure: pure, (ε, δ), zCDP, Rényi, Gaussian; group privacy."""
