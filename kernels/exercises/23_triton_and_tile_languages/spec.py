"""Exercises of chapter 23 in Triton; each answer launches its own kernel."""

from coursekit.errors import CheckFailed, DataRaceError, OutOfBoundsError
from coursekit.exercises import HostExercise, Mutant

# Of float32 sums of up to 1000 values near 1, and of half-precision products.
CLOSE, ROUGH = 1e-5, 2e-2


def simulated():
    """Let Triton's launches in a `with` block run on the simulator."""
    import coursekit as ck

    return ck.triton_simulator()


def numbers(*shape, seed=0, dtype=None):
    """Return a tensor of distinct numbers from about -3 to 3, the same each time."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(shape, generator=generator)
    return values if dtype is None else values.to(dtype)


def blank(*shape):
    """Return a float32 tensor of NaN, so that what is never written shows."""
    import torch

    return torch.full(shape, float("nan"))


def wrong(what, cause, cure):
    """Return the error of a wrong answer."""
    return CheckFailed.explained(what, cause, cure)


def compare(array, found, due, tolerance, advice):
    """Demand values; advice is (cause, cure) for the first wrong one of an array."""
    far = ~((found.double() - due.double()).abs() <= tolerance)
    if not far.any():
        return
    index = tuple(far.nonzero()[0].tolist())
    place = ", ".join(map(str, index))
    if found[index].isnan() and not due[index].isnan():
        got = "NaN: never written, or not a number"
    else:
        got = f"{found[index].item():.6g}"
    raise wrong(
        f"{array}[{place}] is {got}; it should be {due[index].item():.6g}. "
        f"{int(far.sum())} of {far.numel()} elements are wrong.",
        *advice,
    )


def added(add_ten, sizes):
    """Demand x + 10 for each size."""
    for n in sizes:
        x, out = numbers(n), blank(n)
        with simulated():
            add_ten(x, out)
        compare(
            f"n = {n}: out",
            out,
            x + 10,
            CLOSE,
            (
                "An element that should have been written was left out by the mask.",
                "The mask is true where there is an element: i < n.",
            ),
        )


def full_blocks(add_ten, show):
    """Demand the sizes that fill their blocks."""
    added(add_ten, (128, 512))


def ragged_blocks(add_ten, show):
    """Demand the sizes that leave a part of the last block empty."""
    added(add_ten, (129, 1000, 1, 127))


def soft(softmax, x):
    """Run a softmax, and return its result and the right one."""
    import torch

    out = blank(*x.shape)
    with simulated():
        softmax(x, out)
    return out, torch.softmax(x.double(), 1)


def soft_rows(softmax, show):
    """Demand rows that fill a block."""
    found, due = soft(softmax, numbers(3, 8))
    compare(
        "3 rows of 8: out",
        found,
        due,
        CLOSE,
        (
            "Softmax is exp of each value, divided by the sum of these in its row.",
            "tl.exp works on the whole row, and tl.sum(powers) is one number.",
        ),
    )


def soft_ragged(softmax, show):
    """Demand rows that leave a part of the block empty, all of them negative."""
    for cols in 5, 33, 100:
        found, due = soft(softmax, numbers(3, cols) - 2)
        compare(
            f"3 rows of {cols}: out",
            found,
            due,
            CLOSE,
            (
                "A block has a power of two of elements. What lies behind the row got "
                "the value of `other`, and takes part in the maximum and in the sum.",
                "Choose an `other` that no row's maximum is below, and whose exp is 0.",
            ),
        )


def soft_large(softmax, show):
    """Demand values whose exp overflows."""
    found, due = soft(softmax, 40 * numbers(3, 33) + 200)
    compare(
        "values near 200: out",
        found,
        due,
        CLOSE,
        (
            "exp(89) is above the largest float32, and infinity / infinity is NaN.",
            "Subtract the largest value of the row before exp.",
        ),
    )


def normalised(layernorm, cols, advice, spread=1.0):
    """Demand the layernorm of three rows."""
    import torch

    x = spread * numbers(3, cols) + 5
    weight, bias = numbers(cols, seed=1), numbers(cols, seed=2)
    out = blank(3, cols)
    with simulated():
        layernorm(x, weight, bias, out)
    due = torch.nn.functional.layer_norm(
        x.double(), (cols,), weight.double(), bias.double()
    )
    compare(f"3 rows of {cols}: out", out, due, 2e-3, advice)


def layer_rows(layernorm, show):
    """Demand rows that fill a block."""
    cause = "Variance is the mean of the squares, after the mean was subtracted."
    normalised(
        layernorm, 64, (cause, "Compute the mean, the centred row, then the variance.")
    )


def layer_ragged(layernorm, show):
    """Demand rows that leave a part of the block empty."""
    advice = (
        "Behind the row the block has zeros. They add nothing to the first sum, but "
        "0 - mean is not 0, and BLOCK is not the number of columns.",
        "Set what is behind the row to 0 again: tl.where(inside, row - mean, 0); and "
        "divide by cols.",
    )
    for cols in 33, 100:
        normalised(layernorm, cols, advice)


def layer_flat(layernorm, show):
    """Demand rows that hardly vary."""
    advice = (
        "Where all values are nearly the same, the variance is nearly 0.",
        "Add eps to the variance before the root.",
    )
    normalised(layernorm, 64, advice, spread=1e-3)


def total(add_up, n):
    """Add up n numbers; a race is named before a wrong sum."""
    x, out = numbers(n), blank(1).fill_(0.5)
    with simulated() as simulator:
        add_up(x, out)
        simulator.findings.raise_first()
    if abs(out[0].item() - x.double().sum().item() - 1) < 1e-3:
        raise wrong(
            f"n = {n}, and out[0] was 0.5 before: out[0] is {out[0].item():.6g}, and "
            "that is 0.5 too much.",
            "An atomic addition reads out[0] itself. What you add has it once more.",
            "Give tl.atomic_add the program's part alone.",
        )
    compare(
        f"n = {n}, and out[0] was 0.5 before: out",
        out,
        x.double().sum() + 0.5 + 0 * out,
        1e-3,
        (
            "out[0] is to grow by the sum of x. A store replaces what was there.",
            "Add to out[0] in one step that no other program can interrupt.",
        ),
    )


def one_program(add_up, show):
    """Demand the sum of what one program has."""
    total(add_up, 1000)


def several_programs(add_up, show):
    """Demand the sum of what several programs have."""
    total(add_up, 5000)


def product(matmul, M, K, N):
    """Demand a product of matrices in half precision."""
    import torch

    a = numbers(M, K, dtype=torch.float16)
    b = numbers(K, N, seed=1, dtype=torch.float16)
    c = blank(M, N)
    with simulated():
        matmul(a, b, c)
    compare(
        f"{M} x {K} times {K} x {N}: c",
        c,
        a.double() @ b.double(),
        ROUGH,
        (
            "An element of c is a sum over k of a[row, k] * b[k, col], and each "
            "iteration adds TILE terms.",
            "b[k, col] lies at b + k * N + col, where k goes down and col across; "
            "tl.dot(a_tile, b_tile, total) adds the product of two tiles to total.",
        ),
    )


def square(matmul, show):
    """Demand a product whose tiles are full."""
    product(matmul, 32, 64, 32)


def uneven(matmul, show):
    """Demand products with tiles that are not full."""
    product(matmul, 33, 40, 70)
    product(matmul, 1, 17, 5)


def dropped(dropout, seed, p=0.25, n=5000):
    """Return what remains of ones."""
    import torch

    out = blank(n)
    with simulated():
        dropout(torch.ones(n), out, p, seed)
    return out


def a_share(dropout, show):
    """Demand that about p of the elements are 0."""
    for p in 0.25, 0.6:
        zeros = (dropped(dropout, 7, p) == 0).double().mean().item()
        # Five standard deviations of the share among 5000.
        if abs(zeros - p) > 5 * (p * (1 - p) / 5000) ** 0.5:
            raise wrong(
                f"With p = {p}, a share of {zeros:.2f} of the elements became 0.",
                "tl.rand returns numbers between 0 and 1: a share of p lies below p.",
                "Keep an element where its number is p or above.",
            )


def a_mean(dropout, show):
    """Demand that the mean stays."""
    out = dropped(dropout, 7)
    kept = out[out != 0]
    compare(
        "ones, with p = 0.25: out",
        kept,
        kept.new_full(kept.shape, 4 / 3),
        CLOSE,
        (
            "With some elements gone, the sum over all is smaller than before.",
            "Divide what stays by 1 - p: then the mean is as before.",
        ),
    )


def a_seed(dropout, show):
    """Demand the same mask for the same seed alone, and no pattern by blocks."""
    import torch

    first, again = dropped(dropout, 7), dropped(dropout, 7)
    other = dropped(dropout, 8)
    if not torch.equal(first, again) or torch.equal(first, other):
        raise wrong(
            "The seed does not decide which elements are dropped.",
            "The backward pass must drop the same elements, and the next step others.",
            "Give the seed to tl.rand.",
        )
    if torch.equal(first[:1024], first[1024:2048]):
        raise wrong(
            "Elements 1024 to 2047 are dropped as elements 0 to 1023 are.",
            "tl.rand(seed, offset) returns the same number for the same offset.",
            "Give it the index in the whole tensor, not the one in the block.",
        )


def attended(attention, n, spread, advice):
    """Demand attention of n queries."""
    import torch

    q, k, v = (
        (numbers(n, 64, seed=seed) * spread).to(torch.float16) for seed in range(3)
    )
    out = blank(n, 64)
    with simulated():
        attention(q, k, v, out)
    scores = q.double() @ k.double().T / 8
    compare(f"n = {n}: out", out, torch.softmax(scores, 1) @ v.double(), ROUGH, advice)


def one_tile(attention, show):
    """Demand a single tile, in which nothing has to be corrected."""
    advice = (
        "Before the first tile largest is minus infinity, and total and result are 0. "
        "A factor that is infinite then makes NaN of them: 0 * inf.",
        "The sums shrink: a factor above 1 is never needed. Leave the other lines as "
        "they were in the starter.",
    )
    attended(attention, 32, 1, advice)


def more_tiles(attention, show):
    """Demand several tiles, in which the largest score grows."""
    advice = (
        "total and result are sums of exp(score - largest). When a new tile has a "
        "larger score, both hold terms that belong to the old one.",
        "By which factor is exp(score - new) smaller than exp(score - largest)? Each "
        "row has its own, and both sums need it.",
    )
    attended(attention, 96, 1, advice)
    attended(attention, 128, 2, advice)


EXERCISES = (
    HostExercise(
        id="23.a",
        name="map",
        title="Map: a program has a block of elements",
        function="add_ten",
        checks=(("full blocks", full_blocks), ("ragged sizes", ragged_blocks)),
        starter=(OutOfBoundsError, "but x has 129 elements"),
        hints=(
            "Which of the indices in i are inside of the array? Write the "
            "comparison, give it a name, and pass it to load and store as mask=...",
        ),
        mutants={
            "store_unmasked": Mutant(
                mistake="The load has a mask, the store has none.",
                edits=[
                    (
                        "tl.store(out + i, values + 10, mask=inside)",
                        "tl.store(out + i, values + 10)",
                    )
                ],
                fails=(OutOfBoundsError, "but out has 129 elements"),
            ),
            "one_too_many": Mutant(
                mistake="The mask lets in one index too many.",
                edits=[("inside = i < n", "inside = i <= n")],
                fails=(OutOfBoundsError, "but x has 129 elements"),
            ),
        },
    ),
    HostExercise(
        id="23.b",
        name="softmax",
        title="Softmax of a row, in one program",
        function="softmax",
        checks=(
            ("full blocks", soft_rows),
            ("ragged rows of negative numbers", soft_ragged),
            ("large numbers", soft_large),
        ),
        starter=(CheckFailed, "3 rows of 8"),
        hints=(
            "tl.max(row) is the largest value of the row, tl.sum the sum; both "
            "work across all threads of the program.",
            "Which `other` changes neither the maximum nor, after exp, the sum? "
            "Python writes it float('inf'), with a sign.",
        ),
        mutants={
            "no_maximum": Mutant(
                mistake="The maximum is not subtracted.",
                edits=[("tl.exp(row - tl.max(row))", "tl.exp(row)")],
                fails=(CheckFailed, "exp(89)"),
            ),
            "zeros_behind": Mutant(
                mistake="What lies behind the row counts as zeros.",
                edits=[('other=-float("inf")', "other=0")],
                fails=(CheckFailed, "`other`"),
            ),
        },
    ),
    HostExercise(
        id="23.1",
        name="layernorm",
        title="Layernorm of a row",
        stars=2,
        function="layernorm",
        checks=(
            ("full blocks", layer_rows),
            ("ragged rows", layer_ragged),
            ("rows that hardly vary", layer_flat),
        ),
        starter=(CheckFailed, "3 rows of 64"),
        hints=(
            "mean = tl.sum(row) / cols is one number. Subtract it from the row.",
            "The variance is the mean of the squares of the centred row. What do "
            "the elements behind the row contribute to it?",
            "centred = tl.where(inside, row - mean, 0), and in the end centred * "
            "tl.rsqrt(variance + eps) * scale + shift.",
        ),
        mutants={
            "block_for_cols": Mutant(
                mistake="The mean is taken over the block, not over the row.",
                edits=[("mean = tl.sum(row) / cols", "mean = tl.sum(row) / BLOCK")],
                fails=(CheckFailed, "BLOCK is not the number of columns"),
            ),
            "padding_counts": Mutant(
                mistake="Elements behind the row count in the variance.",
                edits=[("tl.where(inside, row - mean, 0)", "row - mean")],
                fails=(CheckFailed, "0 - mean is not 0"),
            ),
            "no_eps": Mutant(
                mistake="The variance is not kept away from 0.",
                edits=[("tl.rsqrt(variance + eps)", "tl.rsqrt(variance)")],
                fails=(CheckFailed, "Add eps to the variance"),
            ),
        },
    ),
    HostExercise(
        id="23.c",
        name="sum",
        title="A sum over all programs",
        function="add_up",
        checks=(
            ("one program", one_program),
            ("several programs, and no race", several_programs),
        ),
        starter=(DataRaceError, "this update is not atomic"),
        hints=(
            "CUDA's atomicAdd has a brother in Triton: tl.atomic_add(pointer, value).",
        ),
        mutants={
            "plain_store": Mutant(
                mistake="Each program replaces what was there.",
                edits=[("tl.atomic_add(out, part)", "tl.store(out, part)")],
                fails=(CheckFailed, "A store replaces"),
            ),
            "old_value_twice": Mutant(
                mistake="What is added contains the old value of out[0].",
                edits=[("(out, part)", "(out, tl.load(out) + part)")],
                fails=(CheckFailed, "the program's part alone"),
            ),
            "largest": Mutant(
                mistake="The wrong atomic operation.",
                edits=[("tl.atomic_add", "tl.atomic_max")],
                fails=(CheckFailed, "out[0] is to grow by the sum"),
            ),
        },
    ),
    HostExercise(
        id="23.d",
        name="matmul",
        title="A tile of a product",
        function="matmul",
        checks=(("full tiles", square), ("ragged sizes", uneven)),
        starter=(CheckFailed, "32 x 64 times 64 x 32"),
        hints=(
            "For b, k has to go down the tile: tl.arange(0, TILE)[:, None].",
            "The tile of b is loaded as the one of a, with k in the place of row "
            "and col in the place of k; its rows have N elements.",
        ),
        mutants={
            "row_length": Mutant(
                mistake="Rows of b are taken for as long as those of a.",
                edits=[("b + k * N + col", "b + k * K + col")],
                fails=(OutOfBoundsError, "but b has"),
            ),
            "b_unmasked": Mutant(
                mistake="The tile of b is loaded without a mask.",
                edits=[("(k < K) & (col < N), 0)", "col < N, 0)")],
                fails=(OutOfBoundsError, "but b has"),
            ),
        },
    ),
    HostExercise(
        id="23.e",
        name="dropout",
        title="Dropout with a seed",
        function="dropout",
        checks=(
            ("a share of p is 0", a_share),
            ("the mean stays", a_mean),
            ("the seed decides, and the index", a_seed),
        ),
        starter=(CheckFailed, "became 0"),
        hints=(
            "tl.rand(seed, i) gives a number from 0 to 1 for each index. Compare "
            "it with p, and choose with tl.where(keep, ..., 0).",
        ),
        mutants={
            "not_scaled": Mutant(
                mistake="What stays is not made larger.",
                edits=[("values / (1 - p)", "values")],
                fails=(CheckFailed, "1 - p"),
            ),
            "other_way": Mutant(
                mistake="A share of p is kept.",
                edits=[(">= p", "< p")],
                fails=(CheckFailed, "became 0"),
            ),
            "same_in_blocks": Mutant(
                mistake="Each block drops the same places.",
                edits=[("tl.rand(seed, i)", "tl.rand(seed, tl.arange(0, BLOCK))")],
                fails=(CheckFailed, "index in the whole tensor"),
            ),
        },
    ),
    HostExercise(
        id="23.f",
        name="attention",
        title="Attention without a matrix of scores",
        function="attention",
        checks=(("one tile of keys", one_tile), ("more tiles", more_tiles)),
        starter=(CheckFailed, "n = 96"),
        hints=(
            "exp(a - b) is exp(a) / exp(b). So exp(score - new) is exp(score - "
            "largest) times a factor without the score. Which one?",
            "shrink = tl.exp(largest - new); multiply total by it, and result by "
            "shrink[:, None].",
        ),
        mutants={
            "total_only": Mutant(
                mistake="The result keeps its old scale.",
                edits=[("result * shrink[:, None]", "result")],
                fails=(CheckFailed, "n = 96"),
            ),
            "wrong_sign": Mutant(
                mistake="The factor is upside down.",
                edits=[("tl.exp(largest - new)", "tl.exp(new - largest)")],
                fails=(CheckFailed, "n = 32"),
            ),
        },
    ),
)
