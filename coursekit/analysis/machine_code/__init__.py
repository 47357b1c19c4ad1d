"""Shared-memory counts compared with the machine code of the same source."""
