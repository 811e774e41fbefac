"""The learning corner."""
