"""Running a launch: its configuration, its blocks, and which engine executes them."""
