# Copies in come first, and wait for events recorded only later.
def pipeline(line, chunks):
    arriving, kernels, leaving = (line.stream(name) for name in "abc")
    free = {name: line.event() for c in chunks for name in (c.x, c.y)}
    ready = {}
    for chunk in chunks:
        arriving.wait(free[chunk.x])
        arriving.copy_in(chunk.nbytes, f"in {chunk.number}", buffer=chunk.x)
        ready[chunk.number] = arriving.record()
    for chunk in chunks:
        n, x, y = chunk.number, chunk.x, chunk.y
        kernels.wait(ready[n])
        kernels.wait(free[y])
        kernels.kernel(chunk.us, f"kernel {n}", reads=x, writes=y)
        kernels.record(free[x])
        leaving.wait(free[x])
        leaving.copy_out(chunk.nbytes, f"out {n}", buffer=y)
        leaving.record(free[y])
