# A stream for each stage; events say when a buffer is free again.
def pipeline(line, chunks):
    arriving, kernels, leaving = (line.stream(name) for name in "abc")
    free = {name: line.event() for c in chunks for name in (c.x, c.y)}
    for chunk in chunks:
        n, x, y = chunk.number, chunk.x, chunk.y
        arriving.wait(free[x])  # at first nobody has recorded it
        arriving.copy_in(chunk.nbytes, f"in {n}", buffer=x)
        kernels.wait(arriving.record())
        kernels.wait(free[y])
        kernels.kernel(chunk.us, f"kernel {n}", reads=x, writes=y)
        kernels.record(free[x])
        leaving.wait(free[x])
        leaving.copy_out(chunk.nbytes, f"out {n}", buffer=y)
        leaving.record(free[y])
