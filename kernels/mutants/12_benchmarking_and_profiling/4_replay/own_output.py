# The result goes into an array of its own, where nobody looks.
def make_case(gpu, total, divide):
    s = gpu.empty(1)

    def case(x, y):
        total(x, s)
        divide(x, s, gpu.empty(y.shape))

    return case
