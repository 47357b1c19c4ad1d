# It waits at the end only, so that work queued before is timed as well.
def launch_ms(gpu, kernel, x, y):
    start = gpu.clock()
    kernel(x, y)
    gpu.synchronize()
    return 1e3 * (gpu.clock() - start)
