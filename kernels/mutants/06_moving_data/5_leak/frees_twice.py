# The memory of a single element is given back on both ways.
def totals(gpu, arrays):
    results = []
    for array in arrays:
        d_array = gpu.malloc(array.nbytes)
        try:
            gpu.copy_in(d_array, array)
            if array.size == 1:
                results.append(float(array[0]))
                gpu.free(d_array)
                continue
            results.append(gpu.total(d_array))
        finally:
            gpu.free(d_array)
    return results
