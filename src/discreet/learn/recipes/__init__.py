"""How each kind of model is trained: which sums are released, with what part of the budget, and what is made of it."""
