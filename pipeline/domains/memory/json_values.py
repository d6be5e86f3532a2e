"""Records of a memory as plain JSON values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

from pipeline.domains.memory.records import Fact


def plain(value: Any) -> Any:
    """Return records, lists and mappings of them as plain JSON values; a fact has its id besides."""
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        values = {one.name: plain(getattr(value, one.name)) for one in fields(value)}
        return {"id": value.id, **values} if isinstance(value, Fact) else values
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value
