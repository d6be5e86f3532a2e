"""``hoprank route propose``, ``used``, ``log`` and ``forget-usage``: what the graph of projects learns."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from typer import Argument, Option

from pipeline.cli.deliver import deliver
from pipeline.cli.options import Run, Yes, confirm
from pipeline.cli.views.output import say, warn
from pipeline.cli.views.progress import show_progress
from pipeline.domains.routing import deferred as domain
from pipeline.domains.routing.cli.projects import Ask, Graph, Reading
from pipeline.domains.routing.views import log_view, proposals_view, weights_view
from pipeline.text.prose import listed

_MOST_NAMED = 5  # to fit a line; chosen by hand


def propose(
    notes: Annotated[
        list[Path] | None,
        Option(
            "--notes", metavar="PATH", help="Notes of sessions, or a shell history: a file or a folder; repeatable."
        ),
    ] = None,
    source: Annotated[str, Option("--from", metavar="PROJECT", help="The project of notes that name none.")] = "",
    accept: Annotated[
        list[str] | None, Option("--accept", metavar="ID", help="Add the relation of this proposal; repeatable.")
    ] = None,
    reject: Annotated[
        list[str] | None, Option("--reject", metavar="ID", help="Never propose this again; repeatable.")
    ] = None,
    auto: Annotated[bool, Option("--auto", help="Accept all that are sure: routing.auto_accept.")] = False,
    rejected: Annotated[bool, Option("--rejected", help="Only those that were rejected.")] = False,
    run: Reading = Ask(),
) -> None:
    """List relations that the projects' imports, manifests, commands, domains, notes and log speak for; add some."""
    with run.projects() as opened, show_progress() as progress:
        decisions = opened.propose(
            notes or (),
            source=source,
            accept=accept or (),
            reject=reject or (),
            auto=auto,
            rejected=rejected,
            progress=progress,
        )
    if decisions.unassigned:
        warn(
            f"{', '.join(listed(decisions.unassigned, _MOST_NAMED))}: these notes name no project; give it with --from."
        )
    for left_out in listed([f"{one.source} {one.reason}" for one in decisions.skipped], _MOST_NAMED):
        warn(f"{left_out}: left out.")
    decided = {"Added": decisions.accepted, "Rejected": decisions.rejected}
    for said, proposals in decided.items():
        for one in () if run.as_json else proposals:
            say(f"{said} {one.edge}.")
    if run.as_json or decisions.open or not any(decided.values()):
        none = "Nothing has been rejected." if rejected else "Nothing more is proposed."
        deliver(decisions.open, run.as_json, proposals_view, none, document=decisions)


def used(
    query: Annotated[str, Argument(metavar="QUERY", help="The question.")],
    project: Annotated[str, Option("--project", metavar="PROJECT", help="The project of the answer.")],
    rank: Annotated[int, Option("--rank", min=1, help="The rank of the answer; 1 is the first.")],
    source: Annotated[
        str | None,
        Option(
            "--from",
            metavar="PROJECT",
            help="The project that asked.",
            show_default="the one that holds the working directory",
        ),
    ] = None,
    useless: Annotated[bool, Option("--not-useful", help="The answer was of no use.")] = False,
    type_: Annotated[
        str | None,
        Option("--type", metavar="TYPE", help="The relation over which it came.", show_default="all there are"),
    ] = None,
    run: Reading = Ask(),
) -> None:
    """Record that an answer of another project was used, which strengthens the relation, or that it was useless."""
    with run.projects() as opened:
        learned = opened.used(query, run.named(opened, source), project, rank, useful=not useless, type=type_)
    deliver(learned, run.as_json, weights_view)


def log(
    delete: Annotated[bool, Option("--delete", help="Delete the log.")] = False,
    yes: Yes = False,
    run: Annotated[Run, "as_json", "settings"] = Run(),
) -> None:
    """Show the log of which projects were opened and asked together: whether and where it is kept, and its lines."""
    kept = domain.log.Log.of(run.read())
    if delete:
        confirm(f"Delete {kept.path}?", yes)
        there = kept.delete()
        deliver(
            there,
            run.as_json,
            lambda _: f"Deleted {kept.path}.",
            f"There is no {kept.path}.",
            document={"deleted": there},
        )
        return
    entries = kept.read(datetime.now(UTC))
    document = {"kept": kept.is_kept, "path": str(kept.path), "entries": entries}
    deliver(entries, run.as_json, lambda it: log_view(kept, it), is_empty=False, document=document)


def forget_usage(
    edge: Annotated[
        tuple[str, str, str] | None, Option("--edge", metavar="A TYPE B", help="Only of this relation.")
    ] = None,
    since: Annotated[
        datetime | None,
        Option("--since", metavar="DATE", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Only since then, UTC."),
    ] = None,
    graph: Graph = None,
    yes: Yes = False,
    run: Annotated[Ask, "as_json", "settings"] = Ask(),
) -> None:
    """Forget which answers were used: the relations get the weights that they would have without."""
    confirm("Forget all judgements on answers?", bool(edge or since or yes))
    with replace(run, graph=graph).projects() as projects:
        key = domain.schema.EdgeKey.parse(run.named(projects, edge[0]), *edge[1:]) if edge else None
        start = since.replace(tzinfo=UTC) if since else None
        learned = domain.usage.forget(projects.graph, datetime.now(UTC), key=key, since=start)
    deliver(learned, run.as_json, weights_view, "There was nothing to forget.")
