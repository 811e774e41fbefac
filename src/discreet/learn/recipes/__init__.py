"""Training recipes: the sums that each kind of model releases, and its estimate from them."""
