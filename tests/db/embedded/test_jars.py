"""The jars are the pinned ones or are refused, and an interrupted download leaves nothing half-valid."""

from __future__ import annotations

import hashlib
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path, PurePosixPath

import pooch
import pytest

from pipeline.db.embedded.fetch import provide
from pipeline.db.embedded.jars import Jar, is_plugin, pinned_jars, verified
from pipeline.db.embedded.options import Step, silent
from pipeline.errors import DownloadFailed

NOWHERE = ["http://127.0.0.1:9"]
CONTENTS = {"org/one/1/one-1.jar": b"one" * 1000, "org/two/2/two-2-linux.jar": b"two" * 50_000}


class Repository(SimpleHTTPRequestHandler):
    """A Maven repository of files; it breaks off in the middle of what ends in ``.broken``."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Say nothing."""

    def do_GET(self) -> None:
        """Answer, or promise more bytes than come if a file ``<path>.broken`` lies beside."""
        file = Path(self.translate_path(self.path))
        if not file.with_name(f"{file.name}.broken").exists():
            super().do_GET()
            return
        content = file.read_bytes()
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content[: len(content) // 2])
        self.close_connection = True


@contextmanager
def serving(folder: Path) -> Iterator[list[str]]:
    """Serve ``folder`` as a repository; yields its URLs."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Repository, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield [f"http://127.0.0.1:{server.server_port}"]
        server.shutdown()


def write(folder: Path) -> list[Jar]:
    """Write CONTENTS below ``folder`` and return what pins them."""
    for path, content in CONTENTS.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return [Jar(hashlib.sha256(data).hexdigest(), len(data), PurePosixPath(path)) for path, data in CONTENTS.items()]


def held(folder: Path) -> set[str]:
    """Every jar or piece of one below ``folder``."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix not in {".json", ".lock"})
    return {path.relative_to(folder).as_posix() for path in files}


def test_what_is_missing_is_fetched_and_then_left_alone(tmp_path: Path) -> None:
    jars, folder = write(tmp_path / "remote"), tmp_path / "jars"
    steps: list[Step] = []
    with serving(tmp_path / "remote") as repositories:
        provide(jars, folder, steps.append, repositories)
    provide(jars, folder, silent, NOWHERE)
    assert held(folder) == set(CONTENTS)
    assert all((folder / path).stat().st_mode & 0o044 == 0o044 for path in CONTENTS), "for any user"
    assert (steps[0].done, steps[-1].done) == (0, steps[-1].total)
    assert steps[-1].total == sum(len(content) for content in CONTENTS.values())


def test_pooch_prints_nothing_beside_the_progress(tmp_path: Path) -> None:
    pooch.get_logger().setLevel(logging.NOTSET)
    with serving(tmp_path / "remote") as repositories:
        provide(write(tmp_path / "remote"), tmp_path / "jars", silent, repositories)
    assert not pooch.get_logger().isEnabledFor(logging.INFO)


def test_bytes_of_a_failed_download_are_not_counted(tmp_path: Path) -> None:
    jars, steps = write(tmp_path / "remote"), list[Step]()
    write(tmp_path / "mirror")
    for path in CONTENTS:
        (tmp_path / "mirror" / f"{path}.broken").touch()
    with serving(tmp_path / "mirror") as mirror, serving(tmp_path / "remote") as repositories:
        provide(jars, tmp_path / "jars", steps.append, mirror + repositories)
    assert max(step.done for step in steps) == steps[-1].done == steps[-1].total


def test_a_second_repository_is_asked_when_the_first_does_not_answer(tmp_path: Path) -> None:
    jars, folder = write(tmp_path / "remote"), tmp_path / "jars"
    with serving(tmp_path / "remote") as repositories:
        provide(jars, folder, silent, [*NOWHERE, "no-scheme.example/maven", *repositories])
    assert held(folder) == set(CONTENTS)


def test_a_wrong_checksum_is_refused_by_name(tmp_path: Path) -> None:
    jars, folder = write(tmp_path / "remote"), tmp_path / "jars"
    (tmp_path / "remote/org/one/1/one-1.jar").write_bytes(b"two" * 1000)
    found = hashlib.sha256(b"two" * 1000).hexdigest()
    with (
        serving(tmp_path / "remote") as repositories,
        pytest.raises(DownloadFailed, match=rf"one-1\.jar.*SHA-256 is {found}, expected {jars[0].sha256}") as raised,
    ):
        provide(jars, folder, silent, repositories)
    assert "proxy or mirror" in raised.value.fix
    assert "org/one/1/one-1.jar" not in held(folder)


def test_an_interrupted_download_leaves_nothing_half_valid(tmp_path: Path) -> None:
    jars, folder, remote = write(tmp_path / "remote"), tmp_path / "jars", tmp_path / "remote"
    broken = remote / "org/two/2/two-2-linux.jar.broken"
    broken.touch()
    with serving(remote) as repositories:
        with pytest.raises(DownloadFailed, match="two-2-linux"):
            provide(jars, folder, silent, repositories)
        assert held(folder) <= {"org/one/1/one-1.jar"}
        broken.unlink()
        provide(jars, folder, silent, repositories)
    assert held(folder) == set(CONTENTS)


def test_without_a_network_the_message_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(DownloadFailed, match=r"one-1\.jar could not be fetched") as raised:
        provide(write(tmp_path / "remote")[:1], tmp_path / "jars", silent, NOWHERE)
    assert "NEO4J_URI" in raised.value.fix


def test_a_damaged_jar_is_noticed_and_fetched_again(tmp_path: Path) -> None:
    jars, folder = write(tmp_path / "remote"), tmp_path / "jars"
    write(folder)
    provide(jars, folder, silent, NOWHERE)
    assert verified(jars, folder)
    damaged = folder / "org/one/1/one-1.jar"
    damaged.write_bytes(b"owe" * 1000)
    assert not verified(jars, folder)
    with serving(tmp_path / "remote") as repositories:
        provide(jars, folder, silent, repositories)
    assert damaged.read_bytes() == CONTENTS["org/one/1/one-1.jar"]


def test_every_pinned_jar_has_a_place_of_its_own_and_gds_is_among_the_plugins() -> None:
    jars = pinned_jars()
    plugins = {jar.path.parent.parent.name for jar in jars if is_plugin(jar)}
    assert len({jar.path.name for jar in jars}) == len(jars)
    assert {"proc", "proc-centrality", "proc-catalog", "opengds-extension"} <= plugins
