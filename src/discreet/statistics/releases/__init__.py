"""Releases that statistics are made from: noisy totals and private choices, with sensitivities."""
