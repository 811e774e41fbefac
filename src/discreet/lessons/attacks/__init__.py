"""Lessons that attack: each attack works where there is no noise, or the wrong one."""
