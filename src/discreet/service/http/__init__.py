"""HTTP layer: middleware, authentication, sessions and rate limits of every request."""
