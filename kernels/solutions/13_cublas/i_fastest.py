# Fastest: of proposed algorithms, the one that takes the least time.
def fastest(proposals, workspace_bytes, time_ms):
    best, least = None, float("inf")
    for proposal in proposals:
        if proposal.state or proposal.workspace_bytes > workspace_bytes:
            continue
        time_ms(proposal)
        ms = time_ms(proposal)
        if ms < least:
            best, least = proposal, ms
    return best
