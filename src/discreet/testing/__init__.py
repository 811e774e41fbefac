"""Fixed randomness and other parts for tests; never import this where data are private."""
