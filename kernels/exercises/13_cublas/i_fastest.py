# Fastest: of proposed algorithms, the one that takes the least time.
def fastest(proposals, workspace_bytes, time_ms):
    best, least = None, float("inf")
    for proposal in proposals:
        # Your code here: leave out what cannot run, and warm up.
        ms = time_ms(proposal)
        if ms < least:
            best, least = proposal, ms
    return best
