"""The precision that "auto" means: bfloat16 where the hardware computes it natively.

On a processor this is told from its flags, without PyTorch: a sync of a few documents in float32 doesn't load it.
"""

import sys
from pathlib import Path

from pipeline.embedding.cpu import cpu_flags, has_crippled_amx
from pipeline.records import Precision

_GPUS = ("/dev/nvidia0", "/dev/kfd")
"""Device files of NVIDIA's and AMD's drivers."""


def native_precision(device: str, folder: Path | None = None) -> Precision:
    """Return the fastest precision of ``device``; "auto" is a GPU if there is one, else the processor.

    The check of the matrix unit keeps its result in ``folder``, if given.
    """
    if device not in ("auto", "cpu") or (device == "auto" and _may_have_gpu()):
        import torch

        cuda = device.startswith("cuda") or (device == "auto" and torch.cuda.is_available())
        if cuda and torch.cuda.is_available() and torch.cuda.is_bf16_supported(including_emulation=False):
            return Precision.BFLOAT16
        if cuda or device != "auto":
            return Precision.FLOAT32
    flags = cpu_flags()
    # A processor whose matrix unit can't be used is slower in bfloat16 than in float32.
    native = not has_crippled_amx(folder) if "amx_tile" in flags else "avx512_bf16" in flags
    return Precision.BFLOAT16 if native else Precision.FLOAT32


def _may_have_gpu() -> bool:
    return sys.platform != "linux" or any(Path(file).exists() for file in _GPUS)
