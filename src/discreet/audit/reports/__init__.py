"""Report of an audit as text, page and pictures."""
