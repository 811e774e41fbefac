"""Search for the event of outputs that refutes a claim."""
