"""The generated password of the embedded server."""

import os
import secrets
from pathlib import Path

_BYTES = 24


def provide_password(file: Path) -> None:
    """Write a generated password to ``file``, readable by its owner only, unless the file exists."""
    if file.exists():
        return
    partial = file.with_name(f"{file.name}.{os.getpid()}")
    partial.unlink(missing_ok=True)
    with os.fdopen(os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as stream:
        stream.write(secrets.token_urlsafe(_BYTES))
    partial.replace(file)
