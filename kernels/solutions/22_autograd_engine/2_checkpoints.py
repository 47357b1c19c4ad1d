# Checkpoints: dy/dx through a chain of steps, with few values kept.
def checkpointed(steps, x, every, kept):
    for place, step in enumerate(steps):
        if place % every == 0:
            kept[place] = x
        x = step.forward(x)
    dy = 1.0
    for start in reversed(range(0, len(steps), every)):
        end = min(start + every, len(steps))
        for place in range(start, end - 1):
            kept[place + 1] = steps[place].forward(kept[place])
        for place in reversed(range(start, end)):
            dy = steps[place].back(kept.pop(place), dy)
    return dy
