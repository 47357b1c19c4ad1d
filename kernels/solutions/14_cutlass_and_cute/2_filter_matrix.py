# Filter matrix: an NHWC picture as the matrix of any convolution.
import coursekit as ck


def filter_matrix(picture, filters, stride, dilation):
    """Return a layout: ((q, p), (c, s, r)) to the offset of an input.

    `picture` is (H, W, C), `filters` is (R, S). Windows lie `stride` pixels
    apart, the values of one window `dilation` pixels. There is no padding.
    """
    (H, W, C), (R, S) = picture, filters
    P = (H - dilation * (R - 1) - 1) // stride + 1
    Q = (W - dilation * (S - 1) - 1) // stride + 1
    places = (stride * C, stride * W * C)
    inside = (1, dilation * C, dilation * W * C)
    return ck.layout(((Q, P), (C, S, R)), (places, inside))
