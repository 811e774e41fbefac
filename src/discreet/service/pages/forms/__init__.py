"""Forms that ask questions without SQL."""
