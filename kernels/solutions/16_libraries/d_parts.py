# Parts: process `rank` of several draws its n values of one long sequence.
import coursekit as ck


def part(rank, n, seed):
    generator = ck.curand.Generator(seed=seed, offset=rank * n)
    return generator.uniform(n)
