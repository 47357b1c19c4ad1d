"""Notebook cells that a student writes: ``%%cuda``, ``%%host``, and their copies."""
