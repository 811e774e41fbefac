"""Downloads of an answer: files, pictures, and code that asks the question again."""
