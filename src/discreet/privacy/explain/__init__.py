"""Explanations of a curve: the best attack it allows, the methods that priced it, pictures."""
