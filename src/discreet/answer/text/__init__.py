"""How answers show themselves: tables and pictures."""
