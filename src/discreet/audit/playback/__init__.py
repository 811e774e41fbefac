"""Record and replay of unmodified programs: noise that knows what it is added to."""
