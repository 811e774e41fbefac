"""The page that describes the API, made from its own description on this server; no other host is asked."""
