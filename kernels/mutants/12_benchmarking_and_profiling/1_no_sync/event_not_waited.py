# It asks for the time between two events of which one is still to come.
def launch_ms(gpu, kernel, x, y):
    begin = gpu.mark()
    kernel(x, y)
    end = gpu.mark()
    return gpu.elapsed_ms(begin, end)
