# It asks whether both together are busy.


def percent(report, name):
    return report.metrics[f"{name}.avg.pct_of_peak_sustained_elapsed"]


def diagnose(report, needed_bytes):
    sms = percent(report, "sm__throughput")
    memory = percent(report, "gpu__compute_memory_throughput")
    dram = percent(report, "gpu__dram_throughput")
    who = "a cache"
    if sms + memory < 60:
        who = "nobody"
    elif sms >= memory:
        who = "SMs"
    elif dram > memory - 1:
        who = "memory"
    share = min(1.0, needed_bytes / report.memory_bytes)
    return who, share
