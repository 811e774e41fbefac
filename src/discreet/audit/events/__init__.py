"""From outputs to the event that gives a mechanism away."""
