"""Models that chapters teach with: timelines, tilings, data sets, MNIST; page texts."""
