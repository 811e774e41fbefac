"""From a file to the draft of a schema."""
