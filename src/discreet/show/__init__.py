"""How values show themselves: tables, bars, markup and pictures, written in one place for every room."""
