"""``python -m pipeline.db.embedded``: the server process, started by ``ensure_running``."""

import argparse
import logging
import os
import sys
from pathlib import Path

from pipeline.db.embedded.aot import train
from pipeline.db.embedded.database import Launch
from pipeline.db.embedded.serve import serve
from pipeline.errors import HopRankError

_WORKLOAD = [sys.executable, "-P", "-c", "from pipeline.cli import main; main()", "quickstart"]
"""Workload of a training run, in a separate process: this package must not import the modules built on it."""


def main() -> None:
    """Serve until told to stop; log to standard output, which is the log file."""
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.INFO, stream=sys.stdout)
    code = 0
    try:
        values = vars(_parser().parse_args())
        training = values.pop("train")
        launch = Launch(**values)
        if training:
            train(launch, _WORKLOAD)
        else:
            serve(launch)
    except HopRankError as error:
        logging.error(error)  # noqa: TRY400 - the message says it all
        code = 1
    except Exception:
        logging.exception("The server failed")
        code = 1
    # Java's threads may outlive the databases and would keep the process alive; everything is on disk by now.
    logging.shutdown()
    os._exit(code)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__)
    types = {"home": Path, "jars": Path, "heap-mb": int, "page-cache-mb": int, "idle-minutes": float, "patience": float}
    for name, kind in types.items():
        parser.add_argument(f"--{name}", type=kind, required=True)
    parser.add_argument("--no-gds", dest="gds", action="store_false", help="serve without Graph Data Science")
    parser.add_argument("--train", action="store_true", help="record Java's ahead-of-time cache instead of serving")
    return parser


if __name__ == "__main__":
    main()
