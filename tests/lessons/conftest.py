"""A service in this process, whose learning pages are visited."""

from service.conftest import client, deployment

__all__ = ["client", "deployment"]
