# A stream for every second chunk: in waits for out, without need.
def pipeline(line, chunks):
    for chunk in chunks:
        n, x, y = chunk.number, chunk.x, chunk.y
        stream = line.stream(f"chunks {n % 2}")
        stream.copy_in(chunk.nbytes, f"in {n}", buffer=x)
        stream.kernel(chunk.us, f"kernel {n}", reads=x, writes=y)
        stream.copy_out(chunk.nbytes, f"out {n}", buffer=y)
