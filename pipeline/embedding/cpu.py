"""What the processor says of itself and no library asks: whether its matrix unit, AMX, can be used.

Source: Intel's Architectures Software Developer's Manual, volume 2A, CPUID, leaf 1DH (Tile Information).
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import sys
from functools import cache
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")

_TILE_PALETTES = bytes.fromhex(
    "53"  # push rbx, which is the caller's and which cpuid writes
    "b81d000000"  # mov eax, 1DH
    "31c9"  # xor ecx, ecx
    "0fa2"  # cpuid: eax is the highest palette that tiles can be configured with
    "5b"  # pop rbx
    "c3"  # ret
)


@cache
def has_crippled_amx() -> bool:
    """Whether AMX is announced without a palette, as some virtual machines do.

    PyTorch's oneDNN believes the announcement, configures its tiles with palette 0, which is none, and the next
    instruction ends the process (SIGILL).
    """
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return False
    return "amx_tile" in _flags() and not _tile_palettes()


def _flags() -> frozenset[str]:
    try:
        lines = _CPUINFO.read_text(encoding="utf-8").splitlines()
    except OSError:
        return frozenset()
    return frozenset(next((line for line in lines if line.startswith("flags")), "").split())


def _tile_palettes() -> int:
    """Return the highest palette; 0, too, where a program may not make code, for then oneDNN can't either."""
    try:
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return 0
    code.write(_TILE_PALETTES)
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    return int(ctypes.CFUNCTYPE(ctypes.c_uint32)(address)())
