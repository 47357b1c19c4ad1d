"""Drawings of chapter 27: one training step, fused and overlapped."""

from __future__ import annotations

from drawing import SMALL, Drawing
from shapes import Rectangle


def seven_kernels() -> Drawing:
    """Draw the seven phases of the fused step."""
    phases = (
        ("1 moments", "sums over the pixels:\nwhat bn1 needs"),
        ("2 convolutions", "conv1, bn1, relu, pool,\nconv2, pool; sums for bn2"),
        ("3 hidden", "bn2, relu,\nparts of fc1"),
        ("4 head", "fc1's relu, fc2, loss,\nback to fc1's results"),
        ("5 hidden, back", "back through fc1 and relu;\nsums for bn2"),
        ("6 convolution, back", "back through bn2, conv2;\nsums for bn1, conv1"),
        ("7 update", "all weights;\nsums back to 0"),
    )
    d = Drawing(
        "27_seven_kernels",
        """The fused training step as seven kernels: 1 moments, 2 convolutions forward,
        3 hidden layer, 4 head with the loss, 5 hidden layer backward, 6
        convolution backward, 7 update. Between two of them all blocks wait for
        all others, because the next one needs results of all of them: six
        waits.""",
        330,
    )
    places = []
    for number, (name, does) in enumerate(phases):
        column = number if number < 4 else 7 - number
        place = Rectangle(8 + 188 * column, 20 + 170 * (number // 4), 164, 36)
        fill = "sky" if number < 3 else "amber" if number == 3 else "green"
        fill = "pink" if number == 6 else fill
        places.append(d.box(place, name, fill=fill))
        d.note((place.centre[0], place.bottom + 30), does, anchor="middle")
    for before, after in zip(places, places[1:], strict=False):
        if before.y == after.y:
            forward = after.x > before.x
            ends = (before.right, after.x) if forward else (before.x, after.right)
            d.arrow((ends[0], before.centre[1]), (ends[1], before.centre[1]))
    d.line(
        (places[3].right, 38),
        (754, 38),
        (754, 150),
        (654, 150),
        places[4].top,
        head=True,
    )
    d.note(
        (8, 300),
        "each arrow: all blocks wait for the results of all others",
    )
    return d


def overlapped_copy() -> Drawing:
    """Draw the copy of the next batch beside the step of this one."""
    d = Drawing(
        "27_overlapped_copy",
        """Two ways to feed the training steps. Above, each step first copies its batch
        and then computes. Below, the batch of step 1 is copied while step 0
        computes, into a second buffer. From the second step on no step waits
        for its copy.""",
        300,
    )
    left, copy, compute = 112, 80, 124
    d.head((left + 130, 20), "copy first, then compute")
    d.note((8, 58), "one stream")
    for step in range(3):
        x = left + step * (copy + compute)
        d.box(Rectangle(x, 40, copy, 36), f"copy {step}", fill="amber", font=SMALL)
        d.box(Rectangle(x + copy, 40, compute, 36), f"compute {step}", fill="green")
    d.head((left + 130, 120), "copy the next batch meanwhile")
    d.note((8, 158), "copies")
    d.note((8, 206), "kernels")
    for step in range(3):
        x = left + copy + step * compute
        at = left if step == 0 else x - compute
        d.box(Rectangle(at, 140, copy, 36), f"copy {step}", fill="amber", font=SMALL)
        d.box(Rectangle(x, 188, compute, 36), f"compute {step}", fill="green")
        d.arrow((at + copy, 176), (x + 6, 188)) if step else None
    d.line((left, 248), (744, 248), head=True)
    d.note((8, 248), "time")
    d.note((left, 278), "two buffers in GPU memory: one is read, the other is filled")
    return d


def split_tf32() -> Drawing:
    """Draw a float32 as the sum of two numbers in TF32."""
    d = Drawing(
        "27_split_tf32",
        """A float32 has a significand of 24 bits, a TF32 number one of 11. So x is
        split: high is x rounded to TF32, low is x - high rounded to TF32. A
        product x * y is then three products of tensor cores: high * high, high
        * low and low * high. The fourth, low * low, is too small to matter.""",
        280,
    )
    d.note((8, 34), "x, float32")
    d.box(Rectangle(140, 16, 24 * 22, 36), "24 bits", fill="sky")
    d.note((8, 92), "high, TF32")
    d.box(Rectangle(140, 74, 11 * 22, 36), "the first 11 bits", fill="amber")
    d.note((8, 150), "low, TF32")
    d.box(Rectangle(140 + 11 * 22, 132, 11 * 22, 36), "the next 11 bits", fill="green")
    d.code((140, 200), "high = tf32(x);   low = tf32(x - high);")
    d.code((140, 232), "x * y  =  high * high' + high * low' + low * high'")
    d.note((140, 262), "low * low' is left out: about 2^-22 of the product")
    return d


DRAW = (seven_kernels, overlapped_copy, split_tf32)
