"""Reading what is handed in: values, steps, budgets."""
