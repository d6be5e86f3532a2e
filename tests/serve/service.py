"""The command ``hoprank serve`` as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, Queue

COMMAND = (sys.executable, "-c", "from pipeline.cli import main; main()", "serve")
START_SECONDS = 60


@dataclass
class Service:
    """A running service: its process, its URL, and the lines that it wrote."""

    process: subprocess.Popen[str]
    url: str = ""
    lines: list[str] = field(default_factory=list)

    def stop(self, number: int = signal.SIGTERM) -> int:
        """Send a signal, wait for the end, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)


@contextmanager
def serving(environment: Mapping[str, str], *options: str, command: str = "serve") -> Iterator[Service]:
    """Start the service on a free port, by ``serve`` or ``demo``, and kill it at the end if it still runs."""
    process = subprocess.Popen(
        [*COMMAND[:-1], command, "--port", "0", *options],
        env={**os.environ, **environment},
        stderr=subprocess.PIPE,
        text=True,
    )
    service = Service(process)
    urls: Queue[str] = Queue()

    def read() -> None:
        assert process.stderr
        for line in process.stderr:
            service.lines.append(line)
            if served := re.search(r"(?:serves|Explore it) at (http://\S+?)\.? ", line):
                urls.put(served[1])

    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    try:
        service.url = urls.get(timeout=START_SECONDS)
        yield service
    except Empty:
        raise AssertionError("".join(service.lines)) from None
    finally:
        process.kill()
        process.wait()
        reader.join(10)
        assert process.stderr
        process.stderr.close()
