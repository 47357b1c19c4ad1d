"""Static analysis of PTX: control flow, data flow, address patterns, alignment."""
