"""The kinds of columns, and how one stored value of each is read."""
