"""The ``hoprank`` command."""

from __future__ import annotations

import io
import os
import sys


def main() -> None:
    """Run the command line, and exit; the entry point of ``hoprank``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A pipe on Windows, or a terminal of another age, may lack an arrow; better a mark than an end.
            stream.reconfigure(errors="replace")
    try:
        _run()
    except KeyboardInterrupt:
        print("hoprank: Interrupted.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # Whoever read the output has had enough; Python would complain once more while it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _run() -> None:
    # Imported here, so that Ctrl-C while the commands are being loaded isn't answered with a traceback.
    from pipeline.cli.app import app

    try:
        app(prog_name="hoprank")
    finally:
        sys.stdout.flush()
