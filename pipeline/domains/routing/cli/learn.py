"""``hoprank route propose``, ``used``, ``explain`` and ``forget-usage``: what the graph of projects learns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pipeline.cli.confirm import confirm
from pipeline.cli.connection import connected
from pipeline.cli.options import Json, Set, read_settings
from pipeline.cli.views.output import print_json, say, show, warn
from pipeline.cli.views.progress import show_progress
from pipeline.domains.routing import deferred as domain
from pipeline.domains.routing.cli.projects import Graph, open_graph, settings_of
from pipeline.domains.routing.views import explanation_view, proposals_view, weights_view

if TYPE_CHECKING:
    import pipeline
    from pipeline.domains.routing.learn.proposals import Decisions
    from pipeline.domains.routing.learn.usage import LearnedWeight, Learning

_MOST_NAMED = 5


def propose(
    notes: Annotated[
        list[Path] | None,
        typer.Option(
            "--notes",
            metavar="PATH",
            help="Notes of sessions, or a shell history: a file or a folder; repeatable.",
            show_default=False,
        ),
    ] = None,
    source: Annotated[
        str, typer.Option("--from", metavar="PROJECT", help="The project of notes that name none.", show_default=False)
    ] = "",
    accept: Annotated[
        list[str] | None,
        typer.Option(
            "--accept", metavar="ID", help="Add the relation of this proposal; repeatable.", show_default=False
        ),
    ] = None,
    reject: Annotated[
        list[str] | None,
        typer.Option("--reject", metavar="ID", help="Never propose this again; repeatable.", show_default=False),
    ] = None,
    auto: Annotated[bool, typer.Option("--auto", help="Accept all that are sure: routing.auto_accept.")] = False,
    rejected: Annotated[bool, typer.Option("--rejected", help="Only those that were rejected.")] = False,
    graph: Graph = None,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """List relations that the projects' imports, manifests, commands, domains and notes speak for; add some."""
    with connected(read_settings(None, settings)) as hoprank, show_progress() as progress:
        section = settings_of(hoprank)
        projects = open_graph(hoprank, graph)
        nodes = projects.list_nodes()
        sources = domain.notes.read_sources(notes or (), nodes, source)
        with progress.stage("read", len(nodes)) as done:
            found = domain.proposals.propose(projects, sources, least=section.proposed, rejected=rejected, done=done)
        decisions = domain.proposals.decide(
            projects,
            found,
            datetime.now(UTC),
            accepted=accept or (),
            rejected=reject or (),
            sure=section.auto_accept if auto else None,
        )
    if sources.unassigned:
        warn(f"{_listed(sources.unassigned)}: these notes name no project; give it with --from.")
    if as_json:
        print_json(_decisions_json(decisions))
    else:
        _show_decisions(decisions)


def used(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="The question.")],
    source: Annotated[str, typer.Option("--from", metavar="PROJECT", help="The project that asked.")],
    project: Annotated[str, typer.Option("--project", metavar="PROJECT", help="The project of the answer.")],
    rank: Annotated[int, typer.Option("--rank", min=1, help="The rank of the answer; 1 is the first.")],
    useless: Annotated[bool, typer.Option("--not-useful", help="The answer was of no use.")] = False,
    type_: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="The relation over which it came.", show_default="all there are"),
    ] = None,
    graph: Graph = None,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Record that an answer of another project was used, which strengthens the relation, or that it was useless."""
    with connected(read_settings(None, settings)) as hoprank:
        kind = domain.schema.relation_type(type_) if type_ else None
        answer = domain.usage.UsedAnswer(project, rank, not useless, kind)
        projects = open_graph(hoprank, graph)
        learned = domain.usage.record_use(projects, query, source, answer, _learning(hoprank), datetime.now(UTC))
    _show_weights(learned, as_json=as_json)


def explain(
    source: Annotated[str, typer.Argument(metavar="A", help="The project that asks.")],
    type_: Annotated[str, typer.Argument(metavar="TYPE", help="The type of the relation.")],
    target: Annotated[str, typer.Argument(metavar="B", help="The project that answers.")],
    graph: Graph = None,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Show why a relation has its weight: the base weight, the judgements on answers, and what follows."""
    with connected(read_settings(None, settings)) as hoprank:
        key = domain.schema.EdgeKey.parse(source, type_, target)
        projects = open_graph(hoprank, graph)
        learned = domain.usage.explain(projects, key, _learning(hoprank), datetime.now(UTC))
    if as_json:
        print_json(_weight_json(learned))
    else:
        show(explanation_view(learned))


def forget_usage(
    edge: Annotated[
        tuple[str, str, str] | None,
        typer.Option("--edge", metavar="A TYPE B", help="Only of this relation.", show_default=False),
    ] = None,
    since: Annotated[
        datetime | None,
        typer.Option(
            "--since", metavar="DATE", formats=["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"], help="Only since then, UTC."
        ),
    ] = None,
    graph: Graph = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")] = False,
    as_json: Json = False,
    settings: Set = None,
) -> None:
    """Forget which answers were used: the relations get the weights that they would have without."""
    key = domain.schema.EdgeKey.parse(*edge) if edge else None
    if not (key or since or yes):
        confirm("Forget all judgements on answers?")
    with connected(read_settings(None, settings)) as hoprank:
        projects = open_graph(hoprank, graph)
        start = since.replace(tzinfo=UTC) if since else None
        learned = domain.usage.forget(projects, _learning(hoprank), datetime.now(UTC), key=key, since=start)
    _show_weights(learned, as_json=as_json)


def _learning(hoprank: pipeline.HopRank) -> Learning:
    learning: Learning = domain.usage.Learning.of(settings_of(hoprank))
    return learning


def _show_decisions(decisions: Decisions) -> None:
    for name, proposals in (("Added", decisions.accepted), ("Rejected", decisions.rejected)):
        for one in proposals:
            say(f"{name} {domain.schema.EdgeKey.of(one.relation)}.")
    if decisions.open:
        show(proposals_view(decisions.open))
    elif not (decisions.accepted or decisions.rejected):
        warn("Nothing more is proposed.")


def _show_weights(learned: Sequence[LearnedWeight], *, as_json: bool) -> None:
    if as_json:
        print_json([_weight_json(one) for one in learned])
    elif learned:
        show(weights_view(learned))
    else:
        warn("There was nothing to forget.")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join([*names[:_MOST_NAMED], *([f"and {more} more"] if more > 0 else [])])


def _decisions_json(decisions: Decisions) -> list[dict[str, Any]]:
    return [
        {
            "id": one.id,
            "state": state,
            "source": one.relation.source,
            "type": str(one.relation.type),
            "target": one.relation.target,
            "confidence": one.confidence,
            "detector": one.detector,
            "evidence": list(one.evidence),
        }
        for state, proposals in decisions._asdict().items()
        for one in proposals
    ]


def _weight_json(learned: LearnedWeight) -> dict[str, Any]:
    return {
        "source": learned.edge.source,
        "type": str(learned.edge.type),
        "target": learned.edge.target,
        "base": learned.base,
        "useful": learned.useful,
        "useless": learned.useless,
        "share": learned.share,
        "factor": learned.factor,
        "weight": learned.weight,
        "events": [
            {"time": one.time.isoformat(), "query": one.query, "rank": one.rank, "useful": one.useful}
            for one in learned.events
        ],
    }
