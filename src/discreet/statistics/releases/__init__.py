"""What statistics are made from: noisy totals of a question, and cells chosen privately."""
