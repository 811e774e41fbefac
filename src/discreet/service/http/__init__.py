"""What every request passes: host, size, person, session, rate."""
