"""Amplification by shuffling: the dominating pair of shuffled reports, its far tail, its prices."""
