"""The instruction set: which opcodes there are and what each one computes."""
