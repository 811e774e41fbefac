"""Deployments as published: RAPPOR, Apple's sketches, Microsoft's telemetry."""
