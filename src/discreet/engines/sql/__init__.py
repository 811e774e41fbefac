"""SQL stores: write a tally as one SQL text, and read its rows back as exact totals."""
