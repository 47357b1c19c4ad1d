# It waits before the launch only, so that it times the call.
def launch_ms(gpu, kernel, x, y):
    gpu.synchronize()
    start = gpu.clock()
    kernel(x, y)
    return 1e3 * (gpu.clock() - start)
