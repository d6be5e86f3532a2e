"""``python -m pipeline.graph.embedded``: the server process; started by ``ensure_running``, not by people."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from pathlib import Path

from pipeline.graph.embedded.serve import Launch, serve


def main() -> None:
    """Serve until told to stop; what happens goes to standard output, which is the log file."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO, stream=sys.stdout)
    logging.captureWarnings(True)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument("--jars", type=Path, required=True)
    parser.add_argument("--heap-mb", type=int, required=True)
    parser.add_argument("--page-cache-mb", type=int, required=True)
    parser.add_argument("--idle-minutes", type=float, required=True)
    code = 0
    try:
        serve(Launch(**vars(parser.parse_args())))
    except Exception:
        logging.exception("The server failed")
        code = 1
    # Java's threads may outlive the databases and would keep the process; everything is on disk by now.
    logging.shutdown()
    os._exit(code)


if __name__ == "__main__":
    main()
