"""Heavy hitters: rounds of a search for frequent words nobody listed, candidates, evidence."""
