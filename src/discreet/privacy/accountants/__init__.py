"""The ways to price a composition, from above and from below, and who wins."""
