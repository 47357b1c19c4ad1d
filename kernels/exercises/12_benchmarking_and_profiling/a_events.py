# Events: the time of one kernel as its stream sees it, in milliseconds.
def kernel_ms(gpu, kernel, *arguments):
    """Return the time from an event before the kernel to one after it."""
    begin = gpu.mark()  # records an event, as cudaEventRecord does
    kernel(*arguments)
    end = gpu.mark()
    # Your code here: may the host read the time already?
    return gpu.elapsed_ms(begin, end)
