"""The cells ``%%cuda``, ``%%host`` and ``%%cpp``; working copies of notebooks."""
