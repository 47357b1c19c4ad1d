"""Recorded times: what is measured, where it is kept, whether it still holds."""
