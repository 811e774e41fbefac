"""Privacy filters: budgets that hold under adaptive composition, at any stopping time."""
