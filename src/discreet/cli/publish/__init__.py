"""Release files and their README for `discreet release`."""
