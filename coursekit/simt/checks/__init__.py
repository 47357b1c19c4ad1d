"""Checkers: observers of a simulated launch that find what results may hide."""
