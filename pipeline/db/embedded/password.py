"""The generated password of the embedded server."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

_BYTES = 24


def provide_password(file: Path) -> None:
    """Generate a password into ``file``, readable by its owner only, unless there is one already."""
    if file.exists():
        return
    scratch = file.with_name(f"{file.name}.{os.getpid()}")
    scratch.unlink(missing_ok=True)
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(secrets.token_urlsafe(_BYTES))
    scratch.replace(file)
