"""Records as JSON values."""

from collections.abc import Mapping
from dataclasses import Field, asdict, fields, is_dataclass
from enum import Enum
from typing import Any, ClassVar


def plain(value: Any) -> Any:
    """Return records, and lists and mappings of them, as JSON values: by their ``to_json``, else by their fields."""
    if hasattr(value, "to_json"):
        return plain(value.to_json())
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(plain(key)): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value


class JsonRecord:
    """A dataclass whose JSON form is its fields."""

    __slots__ = ()
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    def to_json(self) -> dict[str, Any]:
        """Return the fields as plain JSON values."""
        return asdict(self)
