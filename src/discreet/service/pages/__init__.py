"""Pages of the service: server-rendered HTML, no build step, no other host, each usable without a script."""
