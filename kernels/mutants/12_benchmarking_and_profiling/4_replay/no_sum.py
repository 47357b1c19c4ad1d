# It divides by what lies in s, and nobody has put the sum there.
def make_case(gpu, total, divide):
    s = gpu.empty(1)

    def case(x, y):
        divide(x, s, y)

    return case
