"""GDS projections of corpora and knowledge graphs: created on first use, within one budget, dropped oldest first.

A projection belongs to an owner (the id of a corpus or graph) and shows one version of it. A new version replaces the
projections of versions before it. The budget is the memory of the server's heap that all projections of
HopRank may take together; projections of other programs are left alone.
"""

import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TypeVar

from neo4j.exceptions import ClientError

from pipeline.db.client import Client

_PREFIX = "hoprank"
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class Projection:
    """A projection. ``kind`` tells projections of one owner for different uses apart, ``variant`` those of one kind.

    No part may hold a hyphen.
    """

    owner: str
    kind: str
    version: int
    variant: str = ""

    @property
    def name(self) -> str:
        """Name in the GDS catalogue."""
        return "-".join([_PREFIX, self.owner, self.kind, str(self.version), *filter(None, [self.variant])])

    @classmethod
    def named(cls, name: str) -> Self | None:
        """Return the projection of that name, or None if the name isn't one of HopRank's."""
        prefix, *parts = name.split("-")
        if prefix != _PREFIX or len(parts) not in (3, 4) or not parts[2].isdecimal():
            return None
        return cls(parts[0], parts[1], int(parts[2]), *parts[3:])


def run_on_projection(
    client: Client,
    projection: Projection,
    megabytes: int,
    project: Callable[[str], object],
    run: Callable[[str], _Result],
) -> _Result:
    """Return the result of ``run`` on a projection, which ``project`` creates if it is missing.

    Both functions take the projection's name. ``megabytes`` is the budget. Safe for concurrent callers.
    """
    for _ in range(2):  # the projection may be missing, then be evicted by another caller
        try:
            # Listing the projections first would take longer than most runs.
            return run(projection.name)
        except ClientError as error:
            if not is_missing(error):
                raise
        ensure_projection(client, projection, megabytes, project)
    return run(projection.name)


def run_once(client: Client, owner: str, project: Callable[[str], object], run: Callable[[str], _Result]) -> _Result:
    """Return the result of ``run`` on a projection that ``project`` creates, by its name, and drop it."""
    name = Projection(owner, "once", 0, uuid.uuid4().hex).name
    try:
        project(name)
        return run(name)
    finally:
        drop_projection(client, name)


def ensure_projection(client: Client, projection: Projection, megabytes: int, project: Callable[[str], object]) -> None:
    """Create a projection with ``project``, which takes its name, unless it exists; safe for concurrent callers.

    Projections that it replaces are dropped, then the oldest until the others are within ``megabytes``.
    """
    existing = {row["name"]: row["bytes"] for row in client.read("projections")}
    if projection.name in existing:
        return
    own = {name: other for name in existing if (other := Projection.named(name))}
    total = sum(existing[name] for name in own)
    for name, other in own.items():
        replaced = (other.owner, other.kind) == (projection.owner, projection.kind)
        if (replaced and other.version != projection.version) or total > megabytes * 2**20:
            drop_projection(client, name)
            total -= existing[name]
    try:
        project(projection.name)
    except ClientError as error:
        # Another caller made it, before this one ("exists") or meanwhile ("loaded").
        if not any(phrase in (error.message or "") for phrase in ("already exists", "already loaded")):
            raise


def drop_projection(client: Client, name: str) -> None:
    """Drop a projection, if it exists; also beside others who drop it, in one of whom GDS fails."""
    try:
        client.read("drop_projection", graph=name)
    except ClientError:
        if any(row["name"] == name for row in client.read("projections")):
            raise


def drop_projections(client: Client, owner: str) -> None:
    """Drop all projections of a corpus or graph, by its id; a server without GDS has none."""
    if not client.has_gds:
        return
    for row in client.read("projections"):
        projection = Projection.named(row["name"])
        if projection and projection.owner == owner:
            drop_projection(client, row["name"])


def is_missing(error: ClientError) -> bool:
    """Return whether the server reports a missing projection, as after a restart or another process's drop."""
    return "does not exist" in (error.message or "") and _PREFIX in (error.message or "")
