"""From a tally to one SQL text, and from its rows back to exact totals: what all SQL stores share."""
