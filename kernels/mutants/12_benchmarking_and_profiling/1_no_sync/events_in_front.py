# Both events stand in front of the kernel.
def launch_ms(gpu, kernel, x, y):
    begin = gpu.mark()
    end = gpu.mark()
    kernel(x, y)
    gpu.synchronize()
    return gpu.elapsed_ms(begin, end)
