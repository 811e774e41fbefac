"""What follows from counted outputs, exactly: bounds, ceilings, claims."""
