# Strides: the distances for an image whose channels are last in memory.
def strides(n, c, h, w):
    return h * w * c, 1, w * c, c
