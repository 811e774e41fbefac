"""What an audit found, as text, page and picture."""
