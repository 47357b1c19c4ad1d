"""The compiled engine: it translates PTX to machine code of this computer by LLVM."""
