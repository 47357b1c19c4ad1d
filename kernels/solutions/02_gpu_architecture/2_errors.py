# Errors: eight values differ from the data sheets, and four do not.
def table():
    """Return the table."""
    return {
        "V100 SXM2: generation of its tensor cores": 1,
        "A100: KiB of L1 and shared memory together, per SM": 192,
        "A100: KiB of shared memory per SM, at most": 164,
        "A100 SXM4 40GB: kind of memory": "HBM2",
        "A100 SXM4 40GB: GB/s of its memory": 1555,
        "A100: SMs in use": 108,
        "A100: TB/s of the shared memories of all SMs": 19.5,
        "RTX 3070: GB/s of its memory": 448,
        "H100 SXM: GB/s of its memory": 3352,
        "H100 SXM: TFLOP/s in FP16, no sparsity": 989,
        "H100 PCIe: SMs in use": 114,
        "RTX 4090: TFLOP/s in FP32": 82.6,
    }
