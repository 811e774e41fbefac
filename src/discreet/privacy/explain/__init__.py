"""What a curve shows of itself: an attack at its best, who won and why, pictures."""
