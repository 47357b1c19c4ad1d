# Choose: the fastest plan that may run here.
def choose(plans, workspace_bytes, deterministic):
    best = None
    for plan in plans:
        if plan.workspace_bytes > workspace_bytes:
            continue
        if deterministic and "NONDETERMINISTIC" in plan.notes:
            continue
        if best is None or plan.ms < best.ms:
            best = plan
    return best
