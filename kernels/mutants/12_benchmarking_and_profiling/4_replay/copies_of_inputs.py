# It computes from a copy that the first call has made of x.
import coursekit as ck


def make_case(gpu, total, divide):
    s, copies = gpu.empty(1), {}

    def case(x, y):
        if x.address not in copies:
            copies[x.address] = gpu.array(ck.to_host(x))
        total(copies[x.address], s)
        divide(copies[x.address], s, y)

    return case
