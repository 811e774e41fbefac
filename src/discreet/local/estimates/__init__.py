"""From counted reports to estimates with intervals."""
