# Pipeline: chunks are copied in, worked on, and copied out, all at once.
def pipeline(line, chunks):
    """Issue chunks that share buffers x0, x1 for input, y0, y1 for output.

    All is in one stream. Spread it over streams, with events where needed.
    """
    stream = line.stream("all")
    # Your code here.
    for chunk in chunks:
        n, x, y = chunk.number, chunk.x, chunk.y
        stream.copy_in(chunk.nbytes, f"in {n}", buffer=x)
        stream.kernel(chunk.us, f"kernel {n}", reads=x, writes=y)
        stream.copy_out(chunk.nbytes, f"out {n}", buffer=y)
