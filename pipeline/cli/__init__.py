"""The ``hoprank`` command: commands parse arguments, call a flow and show a view.

Nothing else in the package imports it.
"""

import gc
import io
import os
import sys
from importlib import import_module


def main() -> None:
    """Run the command line and exit; the entry point of ``hoprank``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # An encoding may lack the arrows: print a replacement instead of failing.
            stream.reconfigure(errors="replace")
    try:
        _run()
    except KeyboardInterrupt:
        print("hoprank: Interrupted.", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:
        # The reader of the output is gone. Python flushes stdout once more on exit, which must not fail as well.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _run() -> None:
    # A command keeps most of what it makes: looking for cycles after every 700 objects takes a seventh of a long scan.
    gc.set_threshold(50_000)
    try:
        # Imported only now, so that Ctrl-C during the import prints no traceback.
        import_module("pipeline.cli.app").app(prog_name="hoprank")
    finally:
        sys.stdout.flush()
