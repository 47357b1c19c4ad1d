"""The engine that compiles: PTX becomes machine code of this computer."""
