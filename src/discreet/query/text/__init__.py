"""A question as canonical text: what people read, and what fingerprints are made from."""
