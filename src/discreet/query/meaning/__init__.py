"""What a question means: the reference evaluation, and the arithmetic after the noise."""
