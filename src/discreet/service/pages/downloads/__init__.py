"""What is taken home from an answer: files, pictures, and code that asks again."""
