"""Relations as SQL: frames, owners of rows, joins, and truncation before rows multiply."""
