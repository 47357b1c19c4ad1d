# The way of the single element is mended; a copy that fails still leaks.
def totals(gpu, arrays):
    results = []
    for array in arrays:
        d_array = gpu.malloc(array.nbytes)
        gpu.copy_in(d_array, array)
        if array.size == 1:
            results.append(float(array[0]))
        else:
            results.append(gpu.total(d_array))
        gpu.free(d_array)
    return results
