"""The ``hoprank`` command."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and exit; the entry point of ``hoprank``."""
    try:
        # Imported here, so that Ctrl-C during the first second isn't answered with a traceback.
        from pipeline.cli.run import run

        run()
    except KeyboardInterrupt:
        print("hoprank: Interrupted.", file=sys.stderr)
        sys.exit(130)
