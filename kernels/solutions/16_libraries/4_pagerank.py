# PageRank: how often a random surfer comes to each page.
import numpy as np

import coursekit as ck


def ranks(A, dangling, damping=0.85, rounds=30):
    n = A.shape[0]
    spmv = ck.compile("sparse/step_02_warp.cu").spmv_warp
    rank, passed = np.full(n, 1 / n, np.float32), np.zeros(n, np.float32)
    for _ in range(rounds):
        links = A.starts, A.columns, A.values
        spmv[-(-n // 8), 256](*links, rank, passed, n)
        lost = rank[dangling].sum()
        rank = (1 - damping) / n + damping * (passed + lost / n)
    return rank
