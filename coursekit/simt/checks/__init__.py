"""Checkers: observers of a simulated launch that find hidden defects."""
