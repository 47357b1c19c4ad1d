"""The arguments of a launch, from Python values to bytes that a kernel reads."""
