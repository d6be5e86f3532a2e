"""Settings for people, and for grep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pipeline.settings import Provenance


def setting_lines(settings: Sequence[Provenance]) -> list[str]:
    """Return name, value and origin of each setting, aligned; never wrapped, so that grep finds a setting whole."""
    name_width = max(len(setting.name) for setting in settings)
    value_width = max(len(setting.value or "-") for setting in settings)
    return [
        f"{setting.name:<{name_width}}  {setting.value or '-':<{value_width}}  {setting.origin}" for setting in settings
    ]
