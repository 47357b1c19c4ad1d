"""Reading PTX: the text becomes the instructions of `ir`."""
