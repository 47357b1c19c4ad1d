# Leak: sum arrays on the GPU, and give back all memory on every way out.
def totals(gpu, arrays):
    results = []
    for array in arrays:
        d_array = gpu.malloc(array.nbytes)
        try:
            gpu.copy_in(d_array, array)  # raises where a copy fails
            if array.size == 1:
                results.append(float(array[0]))
                continue
            results.append(gpu.total(d_array))
        finally:
            gpu.free(d_array)
    return results
