"""What can be audited: functions, programs, whole questions; and the inputs to try on them."""
