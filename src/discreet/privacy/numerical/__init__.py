"""The distribution of the summed privacy loss, with certified bounds."""
