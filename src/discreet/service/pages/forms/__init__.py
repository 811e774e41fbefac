"""What people fill in: questions without SQL."""
