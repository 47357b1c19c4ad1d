# Errors: this table goes from page to page, and eight values are wrong.
def table():
    """Return the table."""
    return {  # Your code here: correct values, and leave the texts.
        "V100 SXM2: generation of its tensor cores": 2,
        "A100: KiB of L1 and shared memory together, per SM": 292,
        "A100: KiB of shared memory per SM, at most": 128,
        "A100 SXM4 40GB: kind of memory": "HBM2e",
        "A100 SXM4 40GB: GB/s of its memory": 1555,
        "A100: SMs in use": 108,
        "A100: TB/s of the shared memories of all SMs": 19.5,
        "RTX 3070: GB/s of its memory": 100,
        "H100 SXM: GB/s of its memory": 3000,
        "H100 SXM: TFLOP/s in FP16, no sparsity": 1979,
        "H100 PCIe: SMs in use": 132,
        "RTX 4090: TFLOP/s in FP32": 82.6,
    }
