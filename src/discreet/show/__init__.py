"""Display of values: tables, bars, markup and charts, shared by all packages."""
