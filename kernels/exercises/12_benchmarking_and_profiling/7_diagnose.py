# Diagnose: who sets the pace of a launch, and what share was needed.


def percent(report, name):
    return report.metrics[f"{name}.avg.pct_of_peak_sustained_elapsed"]


def diagnose(report, needed_bytes):
    """Return who sets the pace, and what share of the bytes was needed.

    "SMs", "memory", "a cache", or "nobody" where all stay below 60 %;
    the share is at most 1.
    """
    sms = percent(report, "sm__throughput")
    memory = percent(report, "gpu__compute_memory_throughput")
    # Your code here: "gpu__dram_throughput" is one of memory's parts.
    who = "SMs" if sms > memory else "memory"
    share = needed_bytes / report.memory_bytes
    return who, share
