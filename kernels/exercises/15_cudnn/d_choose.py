# Choose: the fastest plan that may run here.
def choose(plans, workspace_bytes, deterministic):
    best = None
    for plan in plans:
        # Your code here: leave out what may not run.
        if best is None or plan.ms < best.ms:
            best = plan
    return best
