# It leaves out what is written.
def bytes_moved(n):
    return 4 * n + 4 * -(-n // 4) + n
