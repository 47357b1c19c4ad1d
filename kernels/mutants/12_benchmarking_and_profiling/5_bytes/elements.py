# It counts elements, and of y only.
def bytes_moved(n):
    return n
