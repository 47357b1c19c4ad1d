# The clock gives seconds, and the answer stays in seconds.
def launch_ms(gpu, kernel, x, y):
    gpu.synchronize()
    start = gpu.clock()
    kernel(x, y)
    gpu.synchronize()
    return gpu.clock() - start
