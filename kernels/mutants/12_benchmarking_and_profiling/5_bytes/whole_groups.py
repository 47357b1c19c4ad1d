# It forgets the w of the last, shorter group.
def bytes_moved(n):
    return 4 * n + 4 * (n // 4) + n + 2 * n
