# All arrays stay on the device until the last one is done.
def totals(gpu, arrays):
    held, results = [], []
    try:
        for array in arrays:
            held.append(gpu.malloc(array.nbytes))
            gpu.copy_in(held[-1], array)
            results.append(gpu.total(held[-1]))
    finally:
        for d_array in held:
            gpu.free(d_array)
    return results
