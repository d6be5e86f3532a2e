"""Records of jobs: what was asked for, and how far it is."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Self


class Kind(StrEnum):
    """Kind of a job: ``ingest`` adds and updates documents, ``sync`` also removes those that aren't given."""

    INGEST = "ingest"
    SYNC = "sync"


class State(StrEnum):
    """State of a job. A job whose service stopped or died is queued again when a service starts."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_final(self) -> bool:
        """True if nothing more happens unless somebody retries the job."""
        return self in (State.SUCCEEDED, State.FAILED, State.CANCELLED)


@dataclass(frozen=True, slots=True)
class Request:
    """The documents of a job: objects as in a .jsonl file, paths on the machine of the service, or files.

    ``dry_run`` plans a sync and writes nothing. ``files`` are contents in base64 by key, as they wait in the graph:
    no folder of the service holds them, so that none is left over, and any machine may run the job. ``filterable`` are
    the fields that a new corpus declares to filter by.
    """

    documents: tuple[Mapping[str, Any], ...] | None = None
    paths: tuple[str, ...] = ()
    dry_run: bool = False
    files: Mapping[str, str] | None = None
    filterable: tuple[str, ...] | None = None

    @classmethod
    def of(
        cls,
        documents: list[Mapping[str, Any]] | None,
        paths: list[str],
        dry_run: bool,
        files: Mapping[str, str] | None = None,
        filterable: list[str] | None = None,
    ) -> Self:
        """Make a request from the values that JSON has of one."""
        fields = None if filterable is None else tuple(filterable)
        return cls(None if documents is None else tuple(documents), tuple(paths), dry_run, files, fields)


@dataclass(frozen=True, slots=True)
class Advance:
    """Progress of a running job: its stage, and the steps done of ``total``, which is None if unknown."""

    stage: str = ""
    done: int = 0
    total: int | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """An error that ended or defers a job: the name of its class, the message, and what to do about it."""

    type: str
    message: str
    fix: str = ""


_TEXTS = ("id", "corpus", "created_at")


@dataclass(frozen=True, slots=True)
class Job:
    """A job. Times are in ISO 8601 as UTC. ``attempt`` counts its runs, from 1; 0 before the first.

    ``result`` is the summary of the ingest or sync. ``problem`` is what ended the job, or what a queued one waits for.
    ``cancelling``: it runs, and was told to stop. ``host`` is the machine that has its paths, which alone runs it; None
    if any may. ``deaths`` counts the services that died while they ran it.
    """

    id: str
    kind: Kind
    corpus: str
    state: State
    created_at: str
    attempt: int = 0
    started_at: str | None = None
    finished_at: str | None = None
    cancelling: bool = False
    host: str | None = None
    progress: Advance | None = None
    result: Mapping[str, Any] | None = None
    problem: Problem | None = None
    request: Request | None = field(default=None, repr=False)
    deaths: int = 0

    @classmethod
    def of(cls, properties: Mapping[str, Any]) -> Self:
        """Make a job from its node's properties; raises KeyError, TypeError or ValueError if it is none."""
        if not (all(isinstance(properties[name], str) for name in _TEXTS) and isinstance(properties["attempt"], int)):
            raise TypeError("a job's id, corpus and time are strings, and its attempts a number")
        values = {one.name: properties[one.name] for one in fields(cls) if properties.get(one.name) is not None}
        records: dict[str, Callable[..., Any]] = {
            "progress": Advance,
            "problem": Problem,
            "result": dict,
            "request": Request.of,
        }
        for name in records.keys() & values.keys():
            values[name] = records[name](**json.loads(values[name]))
        return cls(**values | {"kind": Kind(values["kind"]), "state": State(values["state"])})
