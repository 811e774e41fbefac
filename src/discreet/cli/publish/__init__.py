"""What `discreet release` reads and writes."""
