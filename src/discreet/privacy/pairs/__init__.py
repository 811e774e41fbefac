"""The dominating pair of every event."""
