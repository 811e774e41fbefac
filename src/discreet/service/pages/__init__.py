"""The pages for people: server-rendered, no build step, nothing from another server, each usable without a script."""
