# It divides by the sum that the call before has left.
def make_case(gpu, total, divide):
    s = gpu.empty(1)

    def case(x, y):
        divide(x, s, y)
        total(x, s)

    return case
