"""Record and replay of unmodified programs: the run on D' gets the noise of the run on D.

Noise is tracked through arithmetic, so the values that it was added to can be compared.
"""
