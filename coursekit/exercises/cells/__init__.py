"""The notebook cells ``%%cuda`` and ``%%host``, and working copies of notebooks."""
