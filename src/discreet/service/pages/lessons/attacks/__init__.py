"""Lessons that attack: each works where there is no noise, or the wrong one."""
