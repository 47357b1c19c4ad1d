# Events: the second one must have been reached before the time is read.
def kernel_ms(gpu, kernel, *arguments):
    """Return the time from an event before the kernel to one after it."""
    begin = gpu.mark()  # records an event, as cudaEventRecord does
    kernel(*arguments)
    end = gpu.mark()
    gpu.wait(end)
    return gpu.elapsed_ms(begin, end)
