"""Relations as SQL: frames, whose rows they are, and a person cut before rows multiply."""
