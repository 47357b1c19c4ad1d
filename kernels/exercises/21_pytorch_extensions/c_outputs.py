# Room for the larger of each two neighbours; an odd last one is alone.
import torch


def outputs(x):
    """Return an empty result for x of rows x cols."""
    return torch.empty_like(x)  # Your code here.
