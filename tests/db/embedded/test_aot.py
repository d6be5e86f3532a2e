"""Java's ahead-of-time cache: recorded on demand while something uses the server, and what the next one starts with.

The servers of later tests start with it too: each saves seconds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.db.embedded import ServerOptions, ensure_running, log_path, stop
from pipeline.db.embedded.configuration import aot_cache
from pipeline.db.embedded.fetch import provide
from pipeline.db.embedded.jars import pinned_jars
from pipeline.db.embedded.java import find_java
from pipeline.db.embedded.options import silent

pytestmark = pytest.mark.slow

TRAIN = """
import os, sys
from pathlib import Path
from pipeline.db.embedded.aot import train
from pipeline.db.embedded.database import Launch

home, jars, *workload = sys.argv[1:]
train(Launch(Path(home), Path(jars), 512, 64, 30, 60), [sys.executable, "-c", *workload])
os._exit(0)
"""

WORKLOAD = """
import os, sys, neo4j
from pipeline import HopRank

named = {name: os.environ["NEO4J_" + name] for name in ("URI", "USERNAME", "PASSWORD", "DATABASE")}
with neo4j.GraphDatabase.driver(named["URI"], auth=(named["USERNAME"], named["PASSWORD"])) as driver:
    records = driver.execute_query("CREATE (n:Trained) RETURN count(n)", database_=named["DATABASE"]).records
    told = open(sys.argv[1], "w")
    told.write(str(records[0][0]))
with HopRank.connect() as hoprank:
    hoprank.ingest(sys.argv[2], corpus="trained")
    told.write(f" {len(hoprank.search('Who met Charles Babbage?', corpus='trained').items)}")
told.close()
"""


def test_a_training_run_serves_its_workload_and_leaves_a_cache_that_a_server_starts_with(
    jars: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, told = tmp_path / "home", tmp_path / "told"
    provide(pinned_jars(), jars, silent)
    # That of an earlier run of the tests.
    aot_cache(jars, find_java()).unlink(missing_ok=True)
    options = ServerOptions(home, jars=jars, heap_mb=512, page_cache_mb=64)
    (tmp_path / "ada.md").write_text("# Ada Lovelace\n\nAda Lovelace met Charles Babbage in London.\n")

    command = [sys.executable, "-c", TRAIN, str(home), str(jars), WORKLOAD, str(told), str(tmp_path / "ada.md")]
    trained = subprocess.run(command, capture_output=True, text=True, check=False)

    assert trained.returncode == 0, trained.stdout + trained.stderr
    assert told.read_text() == "1 1"
    assert aot_cache(jars, find_java()).stat().st_size > 1e7
    assert not list(jars.glob(".training-*"))
    # Java would start without a cache that doesn't fit.
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", f"{os.environ['JAVA_TOOL_OPTIONS']} -XX:AOTMode=on")
    try:
        ensure_running(options)
    finally:
        stop(options)
    complaints = [line for line in log_path(options).read_text().splitlines() if "AOT" in line]
    assert all(line.startswith("Picked up") for line in complaints), complaints
    assert aot_cache(jars, find_java()).exists(), "a cache that a server crashes on is removed"
