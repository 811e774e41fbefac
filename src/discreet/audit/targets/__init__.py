"""Targets of an audit: functions, programs, whole questions; and the inputs to try on them."""
