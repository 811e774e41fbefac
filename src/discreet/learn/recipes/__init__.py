"""How each kind of model is trained: which sums are released, with which part of the budget, and what is made of them."""
