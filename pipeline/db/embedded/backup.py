"""Backups of a home's database: Neo4j's own dump in a zip file, with the versions that made it; and the way back.

Neo4j Community dumps and loads a closed database alone. A backup closes it for as long as the dump takes. A restore
loads into a new folder beside the database and closes it only for the exchange of the two.
"""

import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from filelock import FileLock

from pipeline.db.embedded import options as server
from pipeline.db.embedded.fetch import provide
from pipeline.db.embedded.jars import pinned_jars
from pipeline.db.embedded.launch import administer
from pipeline.db.embedded.lifecycle import closed, finish_restore, located, log_end, make_home
from pipeline.errors import Fault, InputError
from pipeline.temporary import temporary_folder

_DUMP = f"{server.DATABASE}.dump"  # the name by which neo4j-admin finds the dump of a database in a folder
_ABOUT = "backup.json"
_MOST_ABOUT = 10_000  # bytes of it; chosen by hand: it has a hundred


@dataclass(frozen=True, slots=True)
class Backup:
    """The versions that made a backup, and when, in ISO 8601; as it says itself."""

    hoprank: str
    neo4j: str
    made: str


def back_up(options: server.ServerOptions, file: Path, report: server.Report) -> Backup:
    """Write a backup of the home's database to ``file``, which appears complete or not at all; replace what is there.

    A server that runs is closed for as long as the dump takes. Raises InputError if there is no database, or no folder
    for the file; Fault if the dump fails, as on a full disk.
    """
    files, file = server.layout(options), file.absolute()
    if not file.parent.is_dir():
        raise InputError(f"There is no folder {file.parent}.", "Make it, or name another file.")
    if not (files.data.exists() or files.restored.exists()):
        raise InputError(f"{files.home} has no database yet.", "Ingest something first, or set HOPRANK_HOME.")
    with _prepared(options, file.parent, file.name, report) as (folder, run):
        with closed(options, report):
            run("Dumping the database", files.home, f"--dump={folder}")
        backup = Backup(metadata.version("hoprank"), server.NEO4J_VERSION, f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}")
        part = folder / "part"
        part.touch(0o600)  # for its owner only, as the database is
        with part.open("wb") as stream:
            with ZipFile(stream, "w") as archive:
                archive.writestr(_ABOUT, json.dumps(asdict(backup)))
                archive.write(folder / _DUMP, _DUMP)
            os.fsync(stream.fileno())
        part.replace(file)
    return backup


def read_backup(file: Path) -> Backup:
    """Return what a backup says of itself; raise InputError if ``file`` is none, or of a newer Neo4j than this."""
    try:
        with ZipFile(file) as archive, archive.open(_ABOUT) as stream:
            backup = Backup(**json.loads(stream.read(_MOST_ABOUT)))
            archive.getinfo(_DUMP)
            theirs, ours = ([*map(int, re.findall(r"\d+", text))] for text in (backup.neo4j, server.NEO4J_VERSION))
    except (OSError, BadZipFile, KeyError, ValueError, TypeError, RuntimeError) as error:
        fix = "Name a file that `hoprank db backup` wrote."
        raise InputError(f"{file} is no backup of HopRank ({error}).", fix) from error
    if theirs > ours:
        raise InputError(
            f"{file} is of Neo4j {backup.neo4j}, which this HopRank's {server.NEO4J_VERSION} can't read.",
            f"Restore it with HopRank {backup.hoprank}, which made it, or a newer one.",
        )
    return backup


def restore(options: server.ServerOptions, file: Path, report: server.Report) -> Backup:
    """Replace the home's database by that of a backup; the password stays that of the home.

    An interruption at any moment leaves the old database or the new one, whole. Raises InputError as
    :func:`read_backup` does, or if the file is damaged; Fault if it can't be loaded.
    """
    backup, files = read_backup(file), server.layout(options)
    with located(options):
        make_home(files)
    with _prepared(options, files.neo4j, "restore", report) as (folder, run):
        loaded = server.Layout(folder / "home")
        loaded.neo4j.mkdir(parents=True)
        try:
            with ZipFile(file) as archive, archive.open(_DUMP) as dump, (folder / _DUMP).open("wb") as stream:
                shutil.copyfileobj(dump, stream)
        except (BadZipFile, zlib.error, EOFError, RuntimeError) as error:
            raise InputError(f"{file} is damaged: {error}.", "Restore another; the database is as it was.") from error
        run("Loading the backup", loaded.home, f"--load={folder}")
        with closed(options, report):
            # The next start makes a new system database, with this home's password: the present one may be of a newer
            # Neo4j than this, which is why somebody goes back.
            loaded.data.replace(files.restored)
            finish_restore(files)
    return backup


@contextmanager
def _prepared(
    options: server.ServerOptions, beside: Path, name: str, report: server.Report
) -> Iterator[tuple[Path, Callable[[str, Path, str], None]]]:
    """Yield a temporary folder and what runs a task of neo4j-admin, while no other process backs up or restores."""
    files = server.layout(options)
    log = files.logs / "admin.log"

    def run(step: str, home: Path, task: str) -> None:
        report(server.Step(step))
        if not administer(home, options, task, log):
            raise Fault(f"{step} failed. The end of the log:\n{log_end(log)}", f"The whole log is {log}.")

    provide(pinned_jars(options.pins), server.jars_folder(options), report)
    try:
        with FileLock(files.neo4j / "backup.lock"), temporary_folder(beside, name) as folder:
            yield folder, run
    except OSError as error:
        fix = "Make room, or choose another place; `hoprank db start` goes on with a whole database."
        raise Fault(f"{error}.", fix) from error
