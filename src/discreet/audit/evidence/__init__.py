"""Statistical tests of a privacy claim: confidence bounds on counts, and what a claim allows."""
