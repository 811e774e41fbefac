"""How plans show themselves."""
