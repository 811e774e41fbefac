"""Type inference and interval arithmetic: domains of expressions, from public facts alone."""
