"""Which values an expression can take, from public facts alone."""
