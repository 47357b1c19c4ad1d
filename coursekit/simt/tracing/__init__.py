"""Following one warp of a simulated launch, step by step."""
