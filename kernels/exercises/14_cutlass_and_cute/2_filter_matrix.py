# Filter matrix: an NHWC picture as the matrix of any convolution.
import coursekit as ck


def filter_matrix(picture, filters, stride, dilation):
    """Return a layout: ((q, p), (c, s, r)) to the offset of an input.

    `picture` is (H, W, C), `filters` is (R, S). Windows lie `stride` pixels
    apart, the values of one window `dilation` pixels. There is no padding.
    """
    (H, W, C), (R, S) = picture, filters
    # Your code here: how many windows fit, and five strides.
    return ck.layout(((W, H), (C, S, R)))
