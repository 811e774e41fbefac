"""Questions as canonical SQL text for people, and as fingerprints for machines."""
