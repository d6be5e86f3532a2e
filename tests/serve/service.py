"""The command ``hoprank serve`` as a process of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from queue import Empty, Queue
from typing import Any

import pytest
import requests

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


def status(service: Service, job: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = requests.get(f"{service.url}/v1/jobs/{job['id']}", timeout=10).json()
    return found


def wait_for(service: Service, job: Mapping[str, Any], *states: str, stage: str = "") -> dict[str, Any]:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        found = status(service, job)
        if found["state"] in states and (not stage or (found["progress"] or {}).get("stage") == stage):
            return found
        time.sleep(0.1)
    pytest.fail(f"the job never came to {states}: {status(service, job)}")
