"""Page that describes the API, made from its OpenAPI document on this server; no other host is asked."""
