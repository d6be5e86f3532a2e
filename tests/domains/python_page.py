"""The code of a section of the page ``python``."""

from __future__ import annotations

import re
from pathlib import Path

import pipeline

_PAGE = Path(pipeline.__file__).parent / "docs" / "python.md"
_MOST_LINES = 4
"""The commonest jobs are short: none takes more lines after the connection."""


def section(title: str) -> str:
    """The text of a section."""
    (found,) = (part for part in _PAGE.read_text(encoding="utf-8").split("\n## ") if part.startswith(f"{title}\n"))
    return found


def run_section(title: str, **names: object) -> dict[str, object]:
    """Run the blocks of code of a section one after the other with some names; return the names at the end."""
    blocks = re.findall(r"^```python\n(.*?)^```", section(title), flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == 5
    for block in blocks:
        assert len(block.splitlines()) <= _MOST_LINES, block
        exec(compile(block, str(_PAGE), "exec"), names)  # noqa: S102 - the page's own code
    return names
