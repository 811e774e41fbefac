"""Estimates with confidence intervals, made from counted reports."""
