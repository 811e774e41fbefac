"""What public facts say against a question before anybody pays for it."""
