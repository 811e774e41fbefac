"""The command line: the same verbs and words as the library."""
