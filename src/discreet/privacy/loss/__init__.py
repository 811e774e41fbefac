"""Privacy loss of two laws: the interface of a dominating pair, and pairs with finitely many losses."""
