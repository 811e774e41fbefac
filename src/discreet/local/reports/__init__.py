"""What travels between devices and a server: parameters, reports, and who takes them."""
