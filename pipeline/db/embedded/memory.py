"""The server's share of the memory of the machine or container."""

from pathlib import Path

import psutil

from pipeline.db.embedded.options import ServerOptions

_MB = 1024 * 1024
_CGROUP_LIMITS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))


def heap_mb(options: ServerOptions) -> int:
    """Return the Java heap's limit in MB: the option's value, else a sixth of memory, at least 512 MB, at most 4 GB."""
    return options.heap_mb or min(max(memory_mb() // 6, 512), 4096)


def page_cache_mb(options: ServerOptions) -> int:
    """Return the page cache in MB: the option's value, else an eighth of memory, at least 128 MB, at most 4 GB."""
    return options.page_cache_mb or min(max(memory_mb() // 8, 128), 4096)


def memory_mb() -> int:
    """Return the memory in MB that this process may use: the machine's, or the container's limit if that is lower."""
    limits = [psutil.virtual_memory().total, *(limit for path in _CGROUP_LIMITS if (limit := _read_limit(path)))]
    return min(limits) // _MB


def _read_limit(path: Path) -> int | None:
    try:
        return int(path.read_text())
    except (OSError, ValueError):  # no cgroup, or "max"
        return None
